package lint_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/manifest"
)

var update = flag.Bool("update", false, "write testdata and docs/lint.md anew")

// now is the clock of all cases.
func now() time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC) }

// credentials are what the cases say instead of anything that a scanner of
// this repository would take for real.
var credentials = strings.NewReplacer(
	"%AWS%", "AKIA"+strings.Repeat("Q7", 8),
	"%GITHUB%", "ghp_"+strings.Repeat("aB3", 12),
	"%GITLAB%", "glpat-"+strings.Repeat("xY9_", 5),
	"%SLACK%", "xoxb"+"-123456789012-abcdefABCDEF",
	"%JWT%", "eyJhbGciOiJIUzI1NiJ9."+"eyJzdWIiOiJzaG9wIn0.c2lnbmF0dXJlLW9m",
	"%KEY%", "-----BEGIN RSA "+"PRIVATE KEY-----",
)

// tree gives the files of a case without its expected findings.
func (a archive) tree() fstest.MapFS {
	tree := fstest.MapFS{}
	for _, f := range a.files {
		if f.name != "want" {
			tree[f.name] = &fstest.MapFile{Data: []byte(credentials.Replace(f.content))}
		}
	}
	return tree
}

// run lints a tree as the command does without policy or history.
func run(t testing.TB, tree fstest.MapFS) []lint.Finding {
	t.Helper()
	targets, err := manifest.Discover(tree, "apps")
	if err != nil {
		t.Fatal(err)
	}
	found, err := argocd.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	expanded, err := argocd.Expand(tree, found.ApplicationSets, argocd.Known{RepositoryURL: "https://git.example.com/config.git"})
	if err != nil {
		t.Fatal(err)
	}
	findings, err := lint.Run(t.Context(), lint.Input{
		Tree: tree, Targets: targets, Applications: append(found.Applications, expanded.Applications...), Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// golden writes the findings of one rule as the cases expect them.
func golden(findings []lint.Finding, code string) string {
	var lines strings.Builder
	for _, f := range findings {
		if f.Code == code {
			fmt.Fprintf(&lines, "%s | %s | %s\n", f, f.Object, strings.Join(f.Targets, " "))
		}
	}
	return lines.String()
}

// TestCases runs every rule over its cases.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, rule := range lint.Rules() {
		files, err := filepath.Glob(filepath.Join("testdata", rule.Code, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(rule.Code+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				a := readArchive(t, file)
				got := golden(run(t, a.tree()), rule.Code)
				if *update {
					a.write(t, file, got)
					return
				}
				want, said := a.want()
				if !said {
					t.Fatal("the case does not say what it wants")
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("findings (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestEveryRuleHasCases wants one case with findings and one without.
func TestEveryRuleHasCases(t *testing.T) {
	t.Parallel()
	for _, rule := range lint.Rules() {
		files, err := filepath.Glob(filepath.Join("testdata", rule.Code, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		positive, negative := false, false
		for _, file := range files {
			want, said := readArchive(t, file).want()
			positive, negative = positive || want != "" && said, negative || want == "" && said
		}
		if !positive || !negative {
			t.Errorf("the rule %s has a case with findings: %t, and one without: %t", rule.Code, positive, negative)
		}
	}
}

func TestFindingsSayWhyAndHowToMend(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range lint.Rules() {
		if rule.Code == "" || rule.Level == "" || rule.What == "" || rule.Why == "" || rule.Mend == "" || seen[rule.Code] {
			t.Errorf("the rule %+v is incomplete, or there twice", rule)
		}
		seen[rule.Code] = true
	}
}
