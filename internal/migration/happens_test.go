package migration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/migration"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
)

// happening is one case on a real PostgreSQL. The files in check play an old version.
type happening struct {
	*testing.T
	testCase
	dir string
}

// TestWhatTheVerdictSaysHappens runs an old version's statements before and after the migrations of each case. Compatible: the
// answers are the same. Breaking: one fails or is another. Unknown: there is an old version that goes on and one that does not.
func TestWhatTheVerdictSaysHappens(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/cases/*/check")
	if err != nil || len(cases) < 60 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, check := range cases {
		h := happening{dir: filepath.Dir(check)}
		t.Run(filepath.Base(h.dir), func(t *testing.T) {
			t.Parallel()
			h.T = t
			data, err := os.ReadFile(filepath.Join(h.dir, "case.yaml"))
			h.must(err)
			h.must(yaml.Unmarshal(data, &h.testCase))
			result, err := migration.Check(h.Tool, readFiles(t, h.dir, h.Files), readFiles(t, h.dir, h.History))
			h.must(err)
			h.happens(result.Verdict)
		})
	}
}

func (h happening) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h happening) happens(verdict migration.Verdict) {
	h.Helper()
	goesOn := h.goesOn("old_app.sql")
	switch verdict {
	case migration.Compatible:
		if !goesOn {
			h.Error("compatible, but the old version does not go on as before")
		}
	case migration.Breaking:
		if goesOn {
			h.Error("breaking, but the old version goes on as before")
		}
	default:
		if !goesOn {
			h.Error("unknown, but the old version that is not hurt does not go on as before")
		}
		if h.goesOn("old_app_hurt.sql") {
			h.Error("unknown, but the old version that is hurt goes on as before")
		}
	}
}

// goesOn tells whether an old version's statements have the same answers after the migrations as before.
func (h happening) goesOn(app string) bool {
	h.Helper()
	before := h.answers(app, false)
	if i := slices.IndexFunc(before, func(answer string) bool { return strings.HasPrefix(answer, "error") }); i >= 0 {
		h.Fatalf("%s fails before the migrations: %s", app, before[i])
	}
	return slices.Equal(before, h.answers(app, true))
}

// answers runs an old version on a database of its own, each script in a session of its own.
func (h happening) answers(app string, migrated bool) []string {
	h.Helper()
	url := postgrestest.NewDatabase(h.T, nil)
	h.mustRun(url, h.forward(h.History))
	h.mustRun(url, h.script("base.sql"))
	if migrated {
		h.mustRun(url, h.forward(h.Files))
		h.mustRun(url, h.script("new_app.sql"))
	}
	return h.run(url, h.script(app))
}

func (h happening) forward(names []string) []string {
	h.Helper()
	statements, err := migration.Forward(h.Tool, readFiles(h.T, h.dir, names))
	h.must(err)
	return statements
}

// script reads a file of the case that it may lack.
func (h happening) script(name string) []string {
	h.Helper()
	text, err := os.ReadFile(filepath.Join(h.dir, "check", name))
	if os.IsNotExist(err) && name != "old_app.sql" && name != "old_app_hurt.sql" {
		return nil
	}
	h.must(err)
	return migration.Pieces(string(text))
}

func (h happening) mustRun(url string, statements []string) {
	h.Helper()
	for i, answer := range h.run(url, statements) {
		if strings.HasPrefix(answer, "error") {
			h.Fatalf("%s\n%s", statements[i], answer)
		}
	}
}

// run has one answer for each statement: its rows, or the error.
func (h happening) run(url string, statements []string) []string {
	h.Helper()
	ctx := h.Context()
	conn, err := pgx.Connect(ctx, url)
	h.must(err)
	defer conn.Close(ctx) //nolint:errcheck // nothing is lost
	_, err = conn.Exec(ctx, "SET timezone = 'UTC'")
	h.must(err)
	answers := make([]string, len(statements))
	for i, statement := range statements {
		results, err := conn.PgConn().Exec(ctx, statement).ReadAll()
		if err != nil {
			answers[i] = "error: " + err.Error()
			continue
		}
		for _, result := range results {
			for _, row := range result.Rows {
				answers[i] += fmt.Sprintf("%q\n", row)
			}
		}
	}
	return answers
}
