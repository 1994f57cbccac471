package policy_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

var update = flag.Bool("update", false, "write testdata anew")

// archive reads policy files from an archive.
func archive(t testing.TB, name string) (*txtar.Archive, promotion.PolicyFiles) {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	files := promotion.PolicyFiles{}
	for _, f := range a.Files {
		if f.Name != "faults" {
			files[f.Name] = string(f.Data)
		}
	}
	return a, files
}

// TestFaults holds all that is said of broken files against the archives that have them.
func TestFaults(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/faults/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			a, files := archive(t, name)
			rules, err := policy.Reader{}.Parse(files)
			var faults promotion.PolicyFaults
			if !errors.As(err, &faults) || rules != nil {
				t.Fatalf("got %v, %v", rules, err)
			}
			var text strings.Builder
			for _, f := range faults {
				text.WriteString(promotion.PolicyFaults{f}.Error() + " (" + f.Code + ")\n")
			}
			i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "faults" })
			if *update {
				if i >= 0 {
					a.Files = slices.Delete(a.Files, i, i+1)
				}
				a.Files = append(a.Files, txtar.File{Name: "faults", Data: []byte(text.String())})
				if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if i < 0 {
				t.Fatal("the archive has no faults: run with -update")
			}
			if diff := cmp.Diff(string(a.Files[i].Data), text.String()); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func parse(t testing.TB, files promotion.PolicyFiles) promotion.Rules {
	t.Helper()
	rules, err := policy.Reader{}.Parse(files)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestEveryKey(t *testing.T) {
	t.Parallel()
	_, files := archive(t, "testdata/example.txtar")
	parse(t, files)
}

// places are file, line and code of faults.
func places(err error) []string {
	var faults promotion.PolicyFaults
	errors.As(err, &faults)
	var texts []string
	for _, f := range faults {
		texts = append(texts, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Code))
	}
	return texts
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		strings.Repeat("[", 100):                                 "sluice.yaml:1 not-yaml",
		"roots: [apps]\nx: " + strings.Repeat("{a: ", 10_000):    "sluice.yaml:2 not-yaml",
		"a: &a [x, x]\nb: &b [*a, *a]\nroots: [*b, *b]\n":        "sluice.yaml:1 unknown-key",
		"version: 1\nenvironments: {prod: {soak: 1s\x00}}\n":     "sluice.yaml:0 not-yaml",
		"version: 1\nenvironments: {prod: {reason: \"\xff\"}}\n": "sluice.yaml:0 not-yaml",
	} {
		_, err := policy.Reader{}.Parse(promotion.PolicyFiles{"sluice.yaml": text})
		if got := places(err); len(got) == 0 || got[0] != want {
			t.Errorf("%.40q: got %v", text, err)
		}
	}
}
