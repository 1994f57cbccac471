package web_test

import (
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

func sampleMigrations() promotion.ReleaseMigrations {
	hash := func(digit string) string { return strings.Repeat(digit, 64) }
	return promotion.ReleaseMigrations{Tool: "goose", Since: "1.4.1",
		Files: []promotion.MigrationFile{{Name: "00045_tracking.sql", SHA256: hash("4")}, {Name: "00046_city.sql", SHA256: hash("5")},
			{Name: "00047_<note>.sql", SHA256: hash("6")}},
		New: []promotion.JudgedMigration{
			{File: "00045_tracking.sql", Verdict: "compatible", Reversible: "yes", Statements: []promotion.JudgedStatement{
				{Line: 2, Kind: "ALTER TABLE", Verdict: "compatible", Reversible: "yes", Reason: "add-nullable-column", Text: "adds a column that may be empty"}}},
			{File: "00046_city.sql", Verdict: "unknown", Reversible: "yes", Statements: []promotion.JudgedStatement{
				{Line: 2, Kind: "ALTER TABLE", Verdict: "unknown", Reversible: "yes", Reason: "set-not-null", Text: "forbids empty values: the old version may write them"}}},
			{File: "00047_<note>.sql", Verdict: "breaking", Reversible: "no", Statements: []promotion.JudgedStatement{
				{Line: 3, Kind: "ALTER TABLE", Verdict: "breaking", Reversible: "no", Reason: "drop-column", Text: "drops a column that the old version uses"}}},
		}}
}
