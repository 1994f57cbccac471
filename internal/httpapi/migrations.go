package httpapi

import (
	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

// migrationsAnswer is nil when there are none.
func migrationsAnswer(m promotion.ReleaseMigrations) *api.ReleaseMigrations {
	if m.Tool == "" {
		return nil
	}
	judged := map[string]promotion.JudgedMigration{}
	for _, j := range m.New {
		judged[j.File] = j
	}
	return &api.ReleaseMigrations{Tool: m.Tool, Since: m.Since, Problem: m.Problem,
		Files: each(m.Files, func(f promotion.MigrationFile) api.ReleaseMigration {
			answer := api.ReleaseMigration{Name: f.Name, SHA256: f.SHA256}
			if j, isNew := judged[f.Name]; isNew {
				answer.Verdict, answer.Reversible = api.ReleaseMigrationVerdict(j.Verdict), api.ReleaseMigrationReversible(j.Reversible)
				answer.Statements = each(j.Statements, func(s promotion.JudgedStatement) api.MigrationStatement {
					return api.MigrationStatement{Line: s.Line, Kind: s.Kind, Verdict: s.Verdict, Reversible: s.Reversible, Reason: s.Reason, Text: s.Text}
				})
			}
			return answer
		})}
}
