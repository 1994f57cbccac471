package lint_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/lint"
)

func TestNew(t *testing.T) {
	t.Parallel()
	finding := func(line int, message string) lint.Finding {
		return lint.Finding{Code: "moving-tag", File: "a.yaml", Line: line, Object: "Pod p", Message: message}
	}
	suppressed := finding(1, "one")
	suppressed.Suppressed = true
	shared := finding(9, "one")
	shared.Targets = []string{"apps/a/overlays/prod", "apps/a/overlays/dev"}
	tests := map[string]struct{ before, after, want []lint.Finding }{
		"nothing changed":       {[]lint.Finding{finding(1, "one")}, []lint.Finding{finding(1, "one")}, nil},
		"the line moved":        {[]lint.Finding{finding(1, "one")}, []lint.Finding{shared}, nil},
		"another one":           {[]lint.Finding{finding(1, "one")}, []lint.Finding{finding(1, "one"), finding(2, "two")}, []lint.Finding{finding(2, "two")}},
		"a second of its kind":  {[]lint.Finding{finding(1, "one")}, []lint.Finding{finding(1, "one"), finding(2, "one")}, []lint.Finding{finding(2, "one")}},
		"mended":                {[]lint.Finding{finding(1, "one")}, nil, nil},
		"suppressed":            {nil, []lint.Finding{suppressed}, nil},
		"no longer suppressed":  {[]lint.Finding{suppressed}, []lint.Finding{finding(1, "one")}, []lint.Finding{finding(1, "one")}},
		"suppressed by the way": {[]lint.Finding{finding(1, "one")}, []lint.Finding{suppressed}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lint.New(tt.before, tt.after)); diff != "" {
				t.Errorf("new findings (-want +got):\n%s", diff)
			}
		})
	}
}

// secretValues are all that the cases hold; they must never come out.
func secretValues() []string {
	values := []string{"hunter2", "correct-horse", "aHVudGVyMg", "c2hvcA==", "0123456789", "MIIEpAIBAAKCAQEA", "p673w"}
	for _, name := range []string{"%AWS%", "%GITHUB%", "%GITLAB%", "%SLACK%", "%JWT%"} {
		values = append(values, credentials.Replace(name))
	}
	return values
}

func TestNoSecretComesOut(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	held := false
	for _, file := range files {
		a := readArchive(t, file)
		for _, f := range a.tree() {
			held = held || strings.Contains(string(f.Data), "hunter2")
		}
		data, err := json.Marshal(run(t, a.tree()))
		if err != nil {
			t.Fatal(err)
		}
		for i, value := range secretValues() {
			if strings.Contains(string(data), value) {
				t.Errorf("%s: a finding shows secret number %d", file, i)
			}
		}
	}
	if !held {
		t.Error("no case holds a secret")
	}
}

func TestTheSameTreeGivesTheSameFindings(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		for name, f := range readArchive(t, file).tree() {
			if rest, found := strings.CutPrefix(name, "apps/"); found {
				name = "apps/" + strings.Repeat("x", i) + rest
			}
			tree[name] = f
		}
	}
	first := run(t, tree)
	if len(first) < 50 {
		t.Fatalf("only %d findings", len(first))
	}
	for range 3 {
		if diff := cmp.Diff(first, run(t, tree)); diff != "" {
			t.Fatalf("findings differ from one run to the next (-first +next):\n%s", diff)
		}
	}
	for _, f := range first {
		if f.File == "" || f.Line < 1 || f.Why == "" || f.Mend == "" || f.Level == "" {
			t.Errorf("the finding %s is incomplete: %+v", f, f)
		}
		if !slices.IsSorted(f.Targets) {
			t.Errorf("targets %v", f.Targets)
		}
	}
}

func TestACancelledRunStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lint.Run(ctx, lint.Input{Tree: fstest.MapFS{"a.yaml": {}}, Now: now}); err == nil {
		t.Error("no error")
	}
}
