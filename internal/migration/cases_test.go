package migration_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/migration"
)

type expected struct {
	Verdict    migration.Verdict    `json:"verdict"`
	Reversible migration.Reversible `json:"reversible"`
	Statements []map[string]any     `json:"statements"`
}

type testCase struct {
	ID      string         `json:"id"`
	Tool    migration.Tool `json:"tool"`
	Files   []string       `json:"files"`
	History []string       `json:"history"`
	Expect  expected       `json:"expect"`
}

func readFiles(t *testing.T, dir string, names []string) []migration.File {
	t.Helper()
	var files []migration.File
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, migration.File{Name: name, Content: string(content)})
	}
	return files
}

// TestCases runs the cases whose verdicts were shown on a real PostgreSQL.
func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/cases/*/case.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range cases {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var c testCase
			if err := yaml.Unmarshal(data, &c); err != nil {
				t.Fatal(err)
			}
			got, err := migration.Check(c.Tool, readFiles(t, dir, c.Files), readFiles(t, dir, c.History))
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.Expect.Verdict || got.Reversible != c.Expect.Reversible {
				t.Errorf("set is %s, reversible %s; want %s, reversible %s", got.Verdict, got.Reversible, c.Expect.Verdict, c.Expect.Reversible)
			}
			for _, want := range c.Expect.Statements {
				want["n"] = want["false"] // in YAML 1.1 the key n is a truth value
				delete(want, "false")
			}
			var statements []map[string]any
			for i, s := range got.Statements {
				all := map[string]any{"file": s.File, "n": float64(s.N), "kind": s.Kind,
					"verdict": string(s.Verdict), "reversible": string(s.Reversible), "reason": s.Reason}
				if i < len(c.Expect.Statements) {
					for key := range all {
						if _, wanted := c.Expect.Statements[i][key]; !wanted {
							delete(all, key)
						}
					}
				}
				statements = append(statements, all)
			}
			if diff := cmp.Diff(c.Expect.Statements, statements); diff != "" {
				t.Errorf("statements (-want +got):\n%s", diff)
			}
			for _, s := range got.Statements {
				if s.Line < 1 || s.File == "" {
					t.Errorf("statement %s has no place: %+v", strconv.Itoa(s.N), s)
				}
			}
		})
	}
}
