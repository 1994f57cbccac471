package gitrepo_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
)

// The repository of the benchmarks: three files for each application, and a
// history of single edits.
const (
	applications = 3000
	edits        = 200
	manyEdits    = 5200
)

func overlay(application int) string {
	return fmt.Sprintf("apps/app-%04d/overlays/prod/kustomization.yaml", application)
}

func overlayContent(application, version int) string {
	return fmt.Sprintf("resources: [../../base]\nimages:\n- name: app-%04d\n  newName: registry.example.com/app-%04d\n  digest: sha256:%064x\n",
		application, application, application*1000+version)
}

// newLarge is a remote with applications×3 files and some history, made with git fast-import.
func newLarge(t testing.TB, applications, history int) *remote {
	t.Helper()
	r := newRemote(t, nil)
	var in bytes.Buffer
	data := func(content string) { fmt.Fprintf(&in, "data %d\n%s\n", len(content), content) }
	commit := func(n int) {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0000\n", 1700000000+n*60)
		data(fmt.Sprintf("change %d", n))
	}
	commit(0)
	for a := range applications {
		fmt.Fprintf(&in, "M 100644 inline apps/app-%04d/base/deployment.yaml\n", a)
		data(fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-%04d\nspec:\n  replicas: %d\n", a, a%7))
		fmt.Fprintf(&in, "M 100644 inline apps/app-%04d/base/kustomization.yaml\n", a)
		data("resources: [deployment.yaml]\n")
		fmt.Fprintf(&in, "M 100644 inline %s\n", overlay(a))
		data(overlayContent(a, 0))
	}
	for n := 1; n <= history; n++ {
		commit(n)
		fmt.Fprintf(&in, "M 100644 inline %s\n", overlay(n%applications))
		data(overlayContent(n%applications, n))
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = r.bare, &in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v\n%s", err, out)
	}
	r.run(r.bare, "repack", "-adq")
	return r
}

// BenchmarkEditToPushedBranch compares the ways from one changed digest to a
// pushed branch, each after somebody else's commit on main.
func BenchmarkEditToPushedBranch(b *testing.B) {
	for _, history := range []int{edits, manyEdits} {
		r := newLarge(b, applications, history)
		r.run(filepath.Dir(r.bare), "clone", "--quiet", r.bare, r.worktree)
		b.Run(fmt.Sprintf("history=%d/mirror", history), func(b *testing.B) { benchmarkMirror(b, r) })
		b.Run(fmt.Sprintf("history=%d/git-shallow-clone", history), func(b *testing.B) { benchmarkShallowClone(b, r) })
		b.Run(fmt.Sprintf("history=%d/git-warm-clone", history), func(b *testing.B) { benchmarkWarmClone(b, r) })
	}
}

func others(b *testing.B, r *remote) (number int) {
	b.StopTimer()
	defer b.StartTimer()
	r.commits++
	r.commit(fmt.Sprint("others ", r.commits), map[string]string{overlay(0): overlayContent(0, 10_000+r.commits)})
	return r.commits
}

func benchmarkMirror(b *testing.B, r *remote) {
	m, ctx := open(b, r.options()), context.Background()
	for b.Loop() {
		n := others(b, r)
		base, err := m.Fetch(ctx)
		if err != nil {
			b.Fatal(err)
		}
		p := proposal(base, fmt.Sprint("sluice/bench/", n), "")
		p.Files = map[string][]byte{overlay(1): []byte(overlayContent(1, n))}
		if _, err := m.Propose(ctx, p); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkShallowClone(b *testing.B, r *remote) {
	for b.Loop() {
		n := others(b, r)
		dir := filepath.Join(b.TempDir(), fmt.Sprint(n))
		r.run(r.bare, "clone", "--quiet", "--depth", "1", r.url, dir)
		editAndPush(b, r, dir, n)
	}
}

func benchmarkWarmClone(b *testing.B, r *remote) {
	dir := filepath.Join(b.TempDir(), "warm")
	r.run(r.bare, "clone", "--quiet", r.url, dir)
	for b.Loop() {
		n := others(b, r)
		r.run(dir, "fetch", "--quiet", "origin", "main")
		r.run(dir, "checkout", "--quiet", "--detach", "FETCH_HEAD")
		editAndPush(b, r, dir, n)
	}
}

func editAndPush(b *testing.B, r *remote, dir string, n int) {
	if err := os.WriteFile(filepath.Join(dir, overlay(1)), []byte(overlayContent(1, n)), 0o644); err != nil {
		b.Fatal(err)
	}
	r.run(dir, "commit", "--quiet", "-a", "-m", "edit")
	r.run(dir, "push", "--quiet", "origin", fmt.Sprint("HEAD:refs/heads/sluice/git/", n))
}

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
