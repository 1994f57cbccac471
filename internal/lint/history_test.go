package lint_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/lint"
)

// history makes commits of trees, named c0, c1, …
func history(trees ...fstest.MapFS) iter.Seq2[lint.Change, error] {
	return func(yield func(lint.Change, error) bool) {
		before := fstest.MapFS{}
		for i, tree := range trees {
			change := lint.Change{
				Commit: lint.Commit{Hash: fmt.Sprintf("c%d", i), Author: "Ada", When: time.Unix(int64(i), 0)},
				Before: before, After: tree,
			}
			for _, name := range slices.Sorted(maps.Keys(union(before, tree))) {
				if b, a := before[name], tree[name]; b == nil || a == nil || string(b.Data) != string(a.Data) {
					change.Files = append(change.Files, name)
				}
			}
			before = tree
			if !yield(change, nil) {
				return
			}
		}
	}
}

func union(a, b fstest.MapFS) fstest.MapFS {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

func files(pairs ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		tree[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return tree
}

func secret(name, password string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData: {password: " + password + "}\n"
}

func TestHistory(t *testing.T) {
	t.Parallel()
	const generator = "secretGenerator:\n- name: s\n  envs: [s.env]\n"
	tests := map[string]struct {
		trees []fstest.MapFS
		want  []string // file, commit and message, shortened
	}{
		"removed since": {
			[]fstest.MapFS{files("s.yaml", secret("a", "one")), files()},
			[]string{"s.yaml c0 gone"},
		},
		"still there": {
			[]fstest.MapFS{files(), files("s.yaml", secret("a", "one")), files("s.yaml", secret("a", "one"), "README", "x")},
			[]string{"s.yaml c1"},
		},
		"rotated within Git": {
			[]fstest.MapFS{files("s.yaml", secret("a", "one")), files("s.yaml", secret("a", "two"))},
			[]string{"s.yaml c1", "s.yaml c0 gone"},
		},
		"moved, removed and brought back": {
			[]fstest.MapFS{files("s.yaml", secret("a", "one")), files("t.yaml", secret("a", "one")), files(), files("u.yaml", secret("a", "one")), files()},
			[]string{"s.yaml c0 gone"},
		},
		"touched, not added": {
			[]fstest.MapFS{files("s.yaml", secret("a", "one")), files("s.yaml", secret("a", "one")+"# b\n"), files("s.yaml", secret("a", "one")+"# c\n")},
			[]string{"s.yaml c0"},
		},
		"a file that a generator comes to use": {
			[]fstest.MapFS{files("x/s.env", "A=one"), files("x/s.env", "A=one", "x/kustomization.yaml", generator), files("x/s.env", "A=one")},
			[]string{"x/s.env c1 gone"},
		},
		"a file that a generator uses already": {
			[]fstest.MapFS{files("x/kustomization.yaml", generator), files("x/kustomization.yaml", generator, "x/s.env", "A=one"), files()},
			[]string{"x/s.env c1 gone"},
		},
		"a token": {
			[]fstest.MapFS{files("deploy.sh", credentials.Replace("T=%GITHUB%")), files()},
			[]string{"deploy.sh c0 gone"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findings, err := lint.Run(t.Context(), lint.Input{Tree: tt.trees[len(tt.trees)-1], Now: now, History: history(tt.trees...)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				line := f.File + " " + f.Commit.Hash
				if strings.Contains(f.Message, "is gone from the tree") {
					line += " gone"
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAHistoryThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	broken := func(yield func(lint.Change, error) bool) { yield(lint.Change{}, fmt.Errorf("no such commit")) }
	if _, err := lint.Run(t.Context(), lint.Input{Tree: files(), Now: now, History: broken}); err == nil || !strings.Contains(err.Error(), "no such commit") {
		t.Errorf("error %v", err)
	}
}
