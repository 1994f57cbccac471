package gitrepo_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/peers/realkustomize"
)

// way is one way from a digest to a pushed branch with it; n is new each time.
type way struct {
	name string
	on   *remote
	run  func(digest string, n int)
}

const rounds = 9

// medians runs ways in turn, so that whatever else the machine does meets all of
// them, each after somebody else's commit on main. It returns milliseconds.
func medians(ways []way) []float64 {
	taken := make([][]float64, len(ways))
	for range rounds {
		for i, w := range ways {
			n := w.on.others()
			begin := time.Now()
			w.run(fmt.Sprintf("sha256:%064x", n), n)
			taken[i] = append(taken[i], time.Since(begin).Seconds()*1000)
		}
	}
	middle := make([]float64, len(ways))
	for i := range ways {
		slices.Sort(taken[i])
		middle[i] = taken[i][rounds/2]
	}
	return middle
}

// BenchmarkEditToPushedBranch compares the mirror with what pipelines do: kustomize
// in a fresh shallow clone, or in a clone that was kept.
func BenchmarkEditToPushedBranch(b *testing.B) {
	edit, tool := editor(b)
	for _, history := range []int{edits, manyEdits} {
		b.Run(fmt.Sprintf("files=%d/history=%d", 3*applications, history), func(b *testing.B) {
			r := newLarge(b, applications, history)
			ways := []way{throughMirror(b, r), inShallowClone(b, r, edit), inWarmClone(b, r, edit)}
			for b.Loop() {
				ms := medians(ways)
				b.ReportMetric(ms[0], "ms-mirror")
				for i, w := range ways[1:] {
					b.ReportMetric(ms[i+1], "ms-"+w.name+"-"+tool)
					b.ReportMetric(ms[i+1]/ms[0], "x-"+w.name+"-"+tool)
				}
			}
		})
	}
}

// BenchmarkGrowth compares the mirror with itself in a repository that has a
// hundred times as many overlays.
func BenchmarkGrowth(b *testing.B) {
	var ways []way
	sizes := []int{100, 10_000}
	for _, applications := range sizes {
		r := newLarge(b, applications, edits)
		ways = append(ways, throughMirror(b, r))
	}
	for b.Loop() {
		ms := medians(ways)
		b.ReportMetric(ms[1]-ms[0], "ms-more")
		for i, w := range ways {
			b.ReportMetric(ms[i], fmt.Sprint("ms-of-", sizes[i]))
			objects := w.on.run(w.on.bare, "rev-list", "--objects", fmt.Sprint("sluice/mirror/", w.on.commits), "^main")
			b.ReportMetric(float64(strings.Count(objects, "\n")+1), fmt.Sprint("objects-of-", sizes[i]))
		}
	}
}

var digestLine = regexp.MustCompile(`sha256:[0-9a-f]{64}`)

// throughMirror is what Sluice does.
func throughMirror(b *testing.B, r *remote) way {
	m, ctx := open(b, r.options()), context.Background()
	return way{"mirror", r, func(digest string, n int) {
		base := fetch(b, m)
		tree, err := m.Tree(ctx, base)
		if err != nil {
			b.Fatal(err)
		}
		content, err := fs.ReadFile(tree, overlay(1))
		if err != nil {
			b.Fatal(err)
		}
		p := proposal(base, fmt.Sprint("sluice/mirror/", n), "")
		p.Files = map[string][]byte{overlay(1): digestLine.ReplaceAll(content, []byte(digest))}
		propose(b, m, p)
	}}
}

// edit changes the image of the overlay in a folder.
type edit func(dir, digest string)

func inShallowClone(b *testing.B, r *remote, change edit) way {
	dir := filepath.Join(b.TempDir(), "clone")
	return way{"shallow-clone", r, func(digest string, n int) {
		if err := os.RemoveAll(dir); err != nil {
			b.Fatal(err)
		}
		r.run(r.bare, "clone", "--quiet", "--depth", "1", r.url, dir)
		commitAndPush(r, dir, change, digest, n)
	}}
}

func inWarmClone(b *testing.B, r *remote, change edit) way {
	dir := filepath.Join(b.TempDir(), "warm")
	r.run(r.bare, "clone", "--quiet", r.url, dir)
	return way{"warm-clone", r, func(digest string, n int) {
		r.run(dir, "fetch", "--quiet", "origin", "main")
		r.run(dir, "checkout", "--quiet", "--detach", "FETCH_HEAD")
		commitAndPush(r, dir, change, digest, n)
	}}
}

func commitAndPush(r *remote, dir string, change edit, digest string, n int) {
	change(filepath.Dir(filepath.Join(dir, overlay(1))), digest)
	r.run(dir, "commit", "--quiet", "-a", "-m", "edit")
	r.run(dir, "push", "--quiet", "origin", fmt.Sprint("HEAD:refs/heads/sluice/git/", n))
}

// editor is kustomize, or where it cannot be built a plain change of the bytes, and
// its name.
func editor(b *testing.B) (edit, string) {
	program, err := realkustomize.Program()
	if err != nil {
		b.Logf("without kustomize: %v", err)
		return func(dir, digest string) {
			name := filepath.Join(dir, "kustomization.yaml")
			content, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, digestLine.ReplaceAll(content, []byte(digest)), 0o644)
			}
			if err != nil {
				b.Fatal(err)
			}
		}, "without-kustomize"
	}
	return func(dir, digest string) {
		cmd := exec.Command(program, "edit", "set", "image", "app-0001=registry.example.com/app-0001@"+digest)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("kustomize: %v\n%s", err, out)
		}
	}, "kustomize"
}
