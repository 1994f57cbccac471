package gittree_test

import (
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/sluicehq/sluice/internal/gittree"
)

func TestWriteLeavesEveryOtherByte(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	base := odd(t, objects)
	tree, written, err := gittree.Write(objects, base, map[string][]byte{"run": []byte("new"), "caf\xe9/new": []byte("x")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before, after := raw(t, objects, base), raw(t, objects, tree)
	run, folder := lineOf(before, "100755 run"), lineOf(before, "40000 caf\xe9")
	if run == "" || lineOf(after, "100755 run") == run || lineOf(after, "40000 caf\xe9") == folder {
		t.Errorf("the changed entries are\n%q\nwant their modes kept and their hashes new", after)
	}
	rest := strings.NewReplacer(lineOf(after, "100755 run"), run, lineOf(after, "40000 caf\xe9"), folder).Replace(after)
	if rest != before {
		t.Errorf("apart from two hashes the tree became\n%q\nwant\n%q", rest, before)
	}
	if len(written) != 4 { // two blobs, two trees
		t.Errorf("%d objects are new, want 4", len(written))
	}
}

func raw(t *testing.T, objects *memory.Storage, hash plumbing.Hash) string {
	t.Helper()
	blob, err := objects.EncodedObject(plumbing.TreeObject, hash)
	if err != nil {
		t.Fatal(err)
	}
	r, err := blob.Reader()
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, blob.Size())
	if _, err := r.Read(content); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// lineOf cuts one line out of a raw tree.
func lineOf(content, start string) string {
	i := strings.Index(content, start+"\x00")
	if i < 0 {
		return ""
	}
	return content[i : i+len(start)+1+20]
}

func TestOnlyWhatIsNewIsReturned(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	base := model{"a/b/one": "1", "a/two": "2", "c/three": "3"}.write(t, objects)
	for name, tt := range map[string]struct {
		files   map[string][]byte
		deletes []string
		want    int
	}{
		"nothing":               {nil, nil, 0},
		"same content":          {map[string][]byte{"a/b/one": []byte("1")}, nil, 0},
		"one file":              {map[string][]byte{"a/b/one": []byte("new")}, nil, 4},
		"a new folder":          {map[string][]byte{"d/e": []byte("new")}, nil, 3},
		"an emptied folder":     {nil, []string{"a/b/one"}, 2},
		"everything is emptied": {nil, []string{"a/b/one", "a/two", "c/three"}, 1},
	} {
		tree, written, err := gittree.Write(objects, base, tt.files, tt.deletes)
		if err != nil || len(written) != tt.want || (tt.want == 0) != (tree == base) {
			t.Errorf("%s: %d new objects, tree %s, %v; want %d", name, len(written), tree, err, tt.want)
		}
	}
}

func TestTheSameContentInTwoPlacesIsOneObject(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	_, written, err := gittree.Write(objects, odd(t, objects), map[string][]byte{"eu/a": []byte("x"), "us/a": []byte("x"), "us/b": []byte("x")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[plumbing.Hash]bool{}
	for _, o := range written {
		if seen[o.Hash] {
			t.Errorf("%s is returned twice", o.Hash)
		}
		seen[o.Hash] = true
	}
	if len(seen) != 4 { // one blob, three trees
		t.Errorf("%d objects are new, want 4", len(seen))
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	base := odd(t, objects)
	for _, name := range []string{
		"README.md/below", "module/file", "caf\xe9/up/file", "caf\xe9/up", "caf\xe9", "module",
		"", ".", "/a", "a/", "../a", "a//b", "a/./b", "a\x00b", ".git/config", "a/.GIT/config",
	} {
		if tree, written, err := gittree.Write(objects, base, map[string][]byte{"ok": nil, name: []byte("x")}, nil); err == nil || len(written) > 0 || !tree.IsZero() {
			t.Errorf("writing %q: tree %s, %d objects, %v", name, tree, len(written), err)
		}
	}
	for _, name := range []string{"missing", "caf\xe9", "module", "README.md/below", "missing/below", "../README.md", "."} {
		if _, _, err := gittree.Write(objects, base, nil, []string{name}); err == nil {
			t.Errorf("deleting %q was no error", name)
		}
	}
	for name, files := range map[string][]string{"a file and below it": {"new", "new/below"}, "below it and a file": {"new/below", "new"}} {
		if _, _, err := gittree.Write(objects, base, map[string][]byte{files[0]: nil}, files[1:]); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, _, err := gittree.Write(objects, base, map[string][]byte{files[0]: nil, files[1]: nil}, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, _, err := gittree.Write(objects, base, map[string][]byte{"run": nil}, []string{"run"}); err == nil {
		t.Error("written and deleted at once: no error")
	}
	if tree, _, err := gittree.Write(objects, base, nil, []string{"caf\xe9/up", "caf\xe9/\xff.yaml"}); err != nil || modelHas(t, objects, tree, "caf\xe9") {
		t.Errorf("a link and the last file of a folder: %v", err)
	}
}

func modelHas(t *testing.T, objects *memory.Storage, tree plumbing.Hash, name string) bool {
	t.Helper()
	_, err := gittree.New(objects, tree).Stat(name)
	return err == nil
}

func TestOneChangeInThousandsOfFolders(t *testing.T) {
	t.Parallel()
	objects := counting{Storage: memory.NewStorage()}
	base, _, err := gittree.Write(&objects, plumbing.ZeroHash, manyOverlays(), nil)
	if err != nil {
		t.Fatal(err)
	}
	objects.read = 0
	name := "apps/app-04321/overlays/prod/kustomization.yaml"
	tree, written, err := gittree.Write(&objects, base, map[string][]byte{name: []byte("new")}, nil)
	if err != nil || len(written) != 6 || objects.read != 5 {
		t.Errorf("one edit read %d trees and wrote %d objects (%v), want 5 and 6", objects.read, len(written), err)
	}
	objects.read = 0
	if paths, err := gittree.Changed(&objects, base, tree); err != nil || len(paths) != 1 || paths[0] != name || objects.read != 10 {
		t.Errorf("Changed() = %v, %v after %d reads, want one path and 10", paths, err, objects.read)
	}
}

// counting counts what is read.
type counting struct {
	*memory.Storage
	read int
}

func (c *counting) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	c.read++
	return c.Storage.EncodedObject(t, h)
}
