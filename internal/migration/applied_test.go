package migration_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/migration"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestCompareWithWhatWasApplied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tool, files      string
		applied          promotion.AppliedMigrations
		pending, strange string
	}{
		"goose, all":                     {"goose", "00001_a.sql sub/00002_b.sql", promotion.AppliedMigrations{Versions: []string{"1", "2"}}, "", ""},
		"goose, none":                    {"goose", "00001_a.sql", promotion.AppliedMigrations{}, "00001_a.sql", ""},
		"goose, one left out":            {"goose", "00001_a.sql 00002_b.sql 00003_c.sql", promotion.AppliedMigrations{Versions: []string{"1", "3"}}, "00002_b.sql", ""},
		"goose, one nobody knows":        {"goose", "00001_a.sql", promotion.AppliedMigrations{Versions: []string{"1", "7"}}, "", "7"},
		"goose, larger than numbers are": {"goose", "99999999999999999999_a.sql", promotion.AppliedMigrations{Versions: []string{"9"}}, "99999999999999999999_a.sql", "9"},
		"golang-migrate, in between":     {"golang-migrate", "1_a.up.sql 1_a.down.sql 2_b.up.sql 10_c.up.sql", promotion.AppliedMigrations{Versions: []string{"2"}, UpTo: "2"}, "10_c.up.sql", ""},
		"golang-migrate, ahead":          {"golang-migrate", "1_a.up.sql", promotion.AppliedMigrations{Versions: []string{"4"}, UpTo: "4"}, "", "4"},
		"flyway, versions written otherwise": {"flyway", "V1_1__a.sql V2.0__b.sql R__view.sql U2__b.sql B2__all.sql",
			promotion.AppliedMigrations{Versions: []string{"1.1", "2"}}, "", ""},
		"flyway, from a baseline": {"flyway", "V1__a.sql V2__b.sql V3__c.sql", promotion.AppliedMigrations{UpTo: "2", Versions: []string{}}, "V3__c.sql", ""},
		"flyway, a baseline of no file": {"flyway", "V3__c.sql", promotion.AppliedMigrations{UpTo: "2", Versions: []string{"3"}},
			"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pending, strange := migration.Reader{}.Compare(test.tool, strings.Fields(test.files), test.applied)
			if got := strings.Join(pending, " "); got != test.pending {
				t.Errorf("not applied are %q, want %q", got, test.pending)
			}
			if got := strings.Join(strange, " "); got != test.strange {
				t.Errorf("of no file are %q, want %q", got, test.strange)
			}
		})
	}
}
