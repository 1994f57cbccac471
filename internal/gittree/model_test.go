package gittree_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/sluicehq/sluice/internal/gittree"
)

// model is a tree as a plain map from path to content.
type model map[string]string

func (m model) files() map[string][]byte {
	files := map[string][]byte{}
	for name, content := range m {
		files[name] = []byte(content)
	}
	return files
}

// write stores a model as a tree of its own.
func (m model) write(t testing.TB, objects storer.EncodedObjectStorer) plumbing.Hash {
	t.Helper()
	tree, _, err := gittree.Write(objects, plumbing.ZeroHash, m.files(), nil)
	if err != nil {
		t.Fatalf("write %v: %v", m, err)
	}
	return tree
}

// modelOf reads a tree back through its file system.
func modelOf(t testing.TB, objects storer.EncodedObjectStorer, tree plumbing.Hash) model {
	t.Helper()
	m, fsys := model{}, gittree.New(objects, tree)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		m[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// random is a small tree whose names are chosen to sort differently as files and as folders.
func random(r *rand.Rand) model {
	names := []string{"a", "a.b", "a-", "a0", "b"}
	m := model{}
	for range r.IntN(12) {
		parts := []string{names[r.IntN(len(names))]}
		for range r.IntN(3) {
			parts = append(parts, names[r.IntN(len(names))])
		}
		m.put(strings.Join(parts, "/"), fmt.Sprint(r.IntN(3)))
	}
	return m
}

// put adds a file unless a file is in the way of its folders or a folder in its own.
func (m model) put(name, content string) {
	for other := range m {
		if strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return
		}
	}
	m[name] = content
}

// edited is a model with some files changed, removed and added.
func edited(r *rand.Rand, m model) model {
	e := maps.Clone(m)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch r.IntN(5) {
		case 0:
			delete(e, name)
		case 1:
			e[name] = fmt.Sprint(r.IntN(3))
		}
	}
	extra := random(r)
	for _, name := range slices.Sorted(maps.Keys(extra))[:min(2, len(extra))] {
		e.put(name, extra[name])
	}
	return e
}

// differing are the paths that differ between two models.
func differing(a, b model) []string {
	var paths []string
	for name := range a {
		if content, there := b[name]; !there || content != a[name] {
			paths = append(paths, name)
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return paths
}

// merged is the three-way merge of models, file by file; false for a conflict.
func merged(base, ours, theirs model) (model, bool) {
	result := model{}
	all := map[string]bool{}
	for _, m := range []model{base, ours, theirs} {
		for name := range m {
			all[name] = true
		}
	}
	get := func(m model, name string) string {
		if content, there := m[name]; there {
			return "has " + content
		}
		return ""
	}
	for name := range all {
		b, o, t := get(base, name), get(ours, name), get(theirs, name)
		pick := o
		switch {
		case o == t || b == t:
		case b == o:
			pick = t
		default:
			return nil, false
		}
		if pick != "" {
			result[name] = strings.TrimPrefix(pick, "has ")
		}
	}
	for name := range result {
		for other := range result {
			if strings.HasPrefix(other, name+"/") {
				return nil, false
			}
		}
	}
	return result, true
}

func TestAgainstTheModel(t *testing.T) {
	t.Parallel()
	conflicts := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		objects := memory.NewStorage()
		base := random(r)
		ours, theirs := edited(r, base), edited(r, base)
		from, left, right := base.write(t, objects), ours.write(t, objects), theirs.write(t, objects)

		if got := modelOf(t, objects, left); !maps.Equal(got, ours) {
			t.Fatalf("seed %d: wrote %v and read %v", seed, ours, got)
		}
		changed, err := gittree.Changed(objects, from, left)
		if err != nil || !slices.Equal(changed, differing(base, ours)) {
			t.Fatalf("seed %d: Changed(%v, %v) = %v, %v", seed, base, ours, changed, err)
		}
		checkEdit(t, seed, objects, from, base, ours, left)
		want, clean := merged(base, ours, theirs)
		tree, clashes, err := gittree.Merge(objects, from, left, right)
		switch {
		case err != nil:
			t.Fatalf("seed %d: %v", seed, err)
		case clean != (len(clashes) == 0), !clean && !tree.IsZero():
			t.Fatalf("seed %d: Merge(%v, %v, %v) has conflicts %v", seed, base, ours, theirs, clashes)
		case clean && tree != want.write(t, objects):
			t.Fatalf("seed %d: Merge(%v, %v, %v) = %v, want %v", seed, base, ours, theirs, modelOf(t, objects, tree), want)
		case !clean:
			conflicts++
		}
	}
	if conflicts < 100 || conflicts > 2900 {
		t.Errorf("%d of 3000 merges had conflicts: the trees are no good test", conflicts)
	}
}

// checkEdit turns one tree into the other and expects the very same hash.
func checkEdit(t *testing.T, seed uint64, objects storer.EncodedObjectStorer, from plumbing.Hash, base, want model, wanted plumbing.Hash) {
	t.Helper()
	files, deletes := map[string][]byte{}, []string{}
	for _, name := range differing(base, want) {
		if content, there := want[name]; there {
			files[name] = []byte(content)
		} else {
			deletes = append(deletes, name)
		}
	}
	for name := range files {
		for _, deleted := range deletes {
			if strings.HasPrefix(name, deleted+"/") || strings.HasPrefix(deleted, name+"/") {
				return // a file becomes a folder or the other way round: refused
			}
		}
	}
	tree, _, err := gittree.Write(objects, from, files, deletes)
	if err != nil || tree != wanted {
		t.Fatalf("seed %d: from %v with %q and without %q: %v, %v; want %v", seed, base, files, deletes, tree, err, want)
	}
}

func TestGitAgrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	objects := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
	if _, err := git.Init(objects, nil); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		m := random(rand.New(rand.NewPCG(seed, 2)))
		tree := m.write(t, objects)
		out, err := exec.Command("git", "--git-dir", dir, "ls-tree", "-r", "--name-only", tree.String()).Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(string(out))
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(maps.Keys(m))) {
			t.Errorf("git lists %q of %v", got, m)
		}
	}
	if out, err := exec.Command("git", "--git-dir", filepath.Clean(dir), "fsck", "--strict", "--no-dangling").CombinedOutput(); err != nil {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// manyOverlays are 10,000 of them.
func manyOverlays() map[string][]byte {
	files := map[string][]byte{}
	for app := range 10_000 {
		files[fmt.Sprintf("apps/app-%05d/overlays/prod/kustomization.yaml", app)] = fmt.Appendf(nil, "digest: %d\n", app)
	}
	return files
}

func BenchmarkReadTenThousandOverlays(b *testing.B) {
	objects := memory.NewStorage()
	tree, _, err := gittree.Write(objects, plumbing.ZeroHash, manyOverlays(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		fsys := gittree.New(objects, tree)
		apps, err := fs.ReadDir(fsys, "apps")
		if err != nil {
			b.Fatal(err)
		}
		for _, app := range apps {
			if _, err := fs.ReadFile(fsys, "apps/"+app.Name()+"/overlays/prod/kustomization.yaml"); err != nil {
				b.Fatal(err)
			}
		}
	}
}
