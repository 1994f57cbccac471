package gitrepo_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

func BenchmarkOpenAnew(b *testing.B) {
	r := newLarge(b, applications, edits)
	for b.Loop() {
		m, err := gitrepo.Open(context.Background(), gitrepo.Options{Name: "config", URL: r.url, Branch: "main", Dir: filepath.Join(b.TempDir(), "mirror")})
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadEveryOverlay(b *testing.B) {
	m, ctx := open(b, newLarge(b, applications, edits).options()), context.Background()
	head := fetch(b, m)
	for b.Loop() {
		tree, err := m.Tree(ctx, head)
		if err != nil {
			b.Fatal(err)
		}
		for a := range applications {
			if _, err := fs.ReadFile(tree, overlay(a)); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkContains asks for a commit that is not there, the longest way.
func BenchmarkContains(b *testing.B) {
	r := newLarge(b, 50, manyEdits)
	o := r.options()
	m, ctx := open(b, o), context.Background()
	head := fetch(b, m)
	side := propose(b, m, proposal(r.run(r.bare, "rev-list", "--max-parents=0", "main"), branch, "on the root"))
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			if holds, err := open(b, o).Contains(ctx, head, side); err != nil || holds {
				b.Fatal(holds, err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			if holds, err := m.Contains(ctx, head, side); err != nil || holds {
				b.Fatal(holds, err)
			}
		}
	})
}

// BenchmarkTouching reads the past of every application.
func BenchmarkTouching(b *testing.B) {
	m, ctx := open(b, newLarge(b, applications, manyEdits).options()), context.Background()
	head, places := fetch(b, m), map[string][]string{}
	for a := range applications {
		dir := fmt.Sprintf("apps/app-%04d", a)
		places[dir] = []string{dir + "/overlays/prod", dir + "/base", "components"}
	}
	for b.Loop() {
		if past, err := m.Touching(ctx, head, places, 50, manyEdits+1); err != nil || len(past) != applications {
			b.Fatal(len(past), err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms")
}
