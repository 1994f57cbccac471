package migration

import (
	"path"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Reader reads the migrations that builds post.
type Reader struct{}

var _ promotion.MigrationReader = Reader{}

// Refuse implements promotion.MigrationReader.
func (Reader) Refuse(m promotion.Migrations) error {
	files := fromDomain(m.Files)
	if err := Credential(files); err != nil {
		return &promotion.Error{Kind: promotion.Invalid, Code: "credential-in-migration", Field: "migrations.files", Message: err.Error()}
	}
	if err := Order(Tool(m.Tool), files); err != nil {
		return &promotion.Error{Kind: promotion.Invalid, Code: "unordered-migrations", Field: "migrations.files", Message: err.Error()}
	}
	return nil
}

// Runs implements promotion.MigrationReader.
func (Reader) Runs(tool, name string) promotion.MigrationRuns {
	base := path.Base(name)
	var p place
	switch Tool(tool) {
	case GolangMigrate:
		p, _ = readMigrateName(base) // a name that cannot be read was refused with its build
	case Flyway:
		p, _ = readFlywayName(base)
	}
	switch {
	case p.last:
		return promotion.RunsOnChange
	case p.down || p.skipped:
		return promotion.RunsNotForward
	}
	return promotion.RunsOnce
}

// Judge implements promotion.MigrationReader.
func (Reader) Judge(tool string, files, before []promotion.MigrationFile) ([]promotion.JudgedMigration, error) {
	result, err := Check(Tool(tool), fromDomain(files), fromDomain(before))
	if err != nil {
		return nil, err
	}
	judged := make([]promotion.JudgedMigration, len(result.Files))
	place := map[string]int{}
	for i, f := range result.Files {
		judged[i] = promotion.JudgedMigration{File: f.File, Verdict: string(f.Verdict), Reversible: string(f.Reversible)}
		place[f.File] = i
	}
	for _, s := range result.Statements {
		of := &judged[place[s.File]]
		of.Statements = append(of.Statements, promotion.JudgedStatement{Line: s.Line, Kind: s.Kind,
			Verdict: string(s.Verdict), Reversible: string(s.Reversible), Reason: s.Reason, Text: Explain(s.Reason)})
	}
	return judged, nil
}

func fromDomain(files []promotion.MigrationFile) []File {
	all := make([]File, len(files))
	for i, f := range files {
		all[i] = File{Name: f.Name, Content: f.SQL}
	}
	return all
}
