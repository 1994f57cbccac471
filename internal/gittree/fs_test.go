package gittree_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/sluicehq/sluice/internal/gittree"
)

// line is one line of a raw tree object.
type line struct {
	mode, name string
	hash       plumbing.Hash
}

// put stores an object as it is given, sound or not.
func put(t testing.TB, objects storer.EncodedObjectStorer, kind plumbing.ObjectType, content string) plumbing.Hash {
	t.Helper()
	o := objects.NewEncodedObject()
	o.SetType(kind)
	w, err := o.Writer()
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err != nil {
		t.Fatal(err)
	}
	hash, err := objects.SetEncodedObject(o)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func rawTree(lines ...line) string {
	var content strings.Builder
	for _, l := range lines {
		content.WriteString(l.mode + " " + l.name + "\x00" + string(l.hash[:]))
	}
	return content.String()
}

// odd is a tree with everything that Git knows: odd modes, links, a submodule and names that are no UTF-8.
func odd(t testing.TB, objects storer.EncodedObjectStorer) plumbing.Hash {
	blob := put(t, objects, plumbing.BlobObject, "content")
	target := put(t, objects, plumbing.BlobObject, "../README.md")
	below := put(t, objects, plumbing.TreeObject, rawTree(line{"100644", "\xff.yaml", blob}, line{"120000", "up", target}))
	return put(t, objects, plumbing.TreeObject, rawTree(
		line{"100644", "README.md", blob},
		line{"40000", "caf\xe9", below},
		line{"100664", "group", blob},
		line{"160000", "module", plumbing.NewHash("1111111111111111111111111111111111111111")},
		line{"100755", "run", blob}))
}

func TestFileSystem(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	m := model{"a/b/c.yaml": "one", "a/b.yaml": "two", "a.yaml": "", "README": "three"}
	fsys := gittree.New(objects, m.write(t, objects))
	if err := fstest.TestFS(fsys, "a/b/c.yaml", "a/b.yaml", "a.yaml", "README"); err != nil {
		t.Error(err)
	}
	if matches, err := fs.Glob(fsys, "a/*/*.yaml"); err != nil || len(matches) != 1 {
		t.Errorf("Glob() = %q, %v", matches, err)
	}
	for name, want := range map[string]error{
		"missing": fs.ErrNotExist, "README/below": fs.ErrNotExist, "a/missing/b": fs.ErrNotExist,
		"/a": fs.ErrInvalid, "a/../README": fs.ErrInvalid, "": fs.ErrInvalid, "a/": fs.ErrInvalid,
	} {
		if _, err := fs.ReadFile(fsys, name); !errors.Is(err, want) {
			t.Errorf("reading %q: %v, want %v", name, err, want)
		}
	}
	for _, name := range []string{".", "a"} {
		if _, err := fs.ReadFile(fsys, name); err == nil {
			t.Errorf("%q was read as a file", name)
		}
	}
	if _, err := fs.ReadDir(fsys, "README"); err == nil {
		t.Error("a file was listed as a folder")
	}
	if listed, err := fs.ReadDir(gittree.New(objects, plumbing.ZeroHash), "."); err != nil || len(listed) != 0 {
		t.Errorf("the empty tree lists %v, %v", listed, err)
	}
}

func TestOddEntriesAreShownAndNeverFollowed(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	fsys := gittree.New(objects, odd(t, objects))
	for name, want := range map[string]fs.FileMode{
		"README.md": 0o644, "group": 0o644, "run": 0o755, "module": fs.ModeDir | 0o755,
		"caf\xe9": fs.ModeDir | 0o755, "caf\xe9/up": fs.ModeSymlink | 0o777, "caf\xe9/\xff.yaml": 0o644,
	} {
		if got, err := fs.Stat(fsys, name); err != nil || got.Mode() != want {
			t.Errorf("Stat(%q) = %v, %v; want mode %v", name, got, err, want)
		}
	}
	if content, err := fs.ReadFile(fsys, "caf\xe9/\xff.yaml"); err != nil || string(content) != "content" {
		t.Errorf("a file whose name is no UTF-8: %q, %v", content, err)
	}
	if listed, err := fs.ReadDir(fsys, "module"); err != nil || len(listed) != 0 {
		t.Errorf("a submodule lists %v, %v; want nothing", listed, err)
	}
	if target, err := fs.ReadLink(fsys, "caf\xe9/up"); err != nil || target != "../README.md" {
		t.Errorf("the link points to %q, %v", target, err)
	}
	if _, err := fs.ReadLink(fsys, "run"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadLink of a file: %v", err)
	}
	if _, err := fs.ReadFile(fsys, "caf\xe9/up"); err == nil {
		t.Error("a link was read through")
	}
	if _, err := fsys.Open("caf\xe9/up"); err == nil {
		t.Error("a link was opened")
	}
	if info, err := fs.Stat(fsys, "caf\xe9/up"); err != nil || info.Size() != int64(len("../README.md")) {
		t.Errorf("the link's size: %v, %v", info, err)
	}
}

func TestMalformedTreesAreRefused(t *testing.T) {
	t.Parallel()
	objects := memory.NewStorage()
	blob := put(t, objects, plumbing.BlobObject, "content")
	for name, content := range map[string]string{
		"twice the same name": rawTree(line{"100644", "a", blob}, line{"100644", "a", blob}),
		"file and folder":     rawTree(line{"100644", "a", blob}, line{"100644", "a-", blob}, line{"40000", "a", blob}),
		"cut off":             rawTree(line{"100644", "a", blob})[:20],
		"no name":             rawTree(line{"100644", "", blob}),
		"no mode":             "a\x00" + string(blob[:]),
	} {
		if _, err := fs.ReadDir(gittree.New(objects, put(t, objects, plumbing.TreeObject, content)), "."); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	missing := plumbing.NewHash("2222222222222222222222222222222222222222")
	if _, err := fs.ReadDir(gittree.New(objects, missing), "."); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a tree that is not there: %v", err)
	}
	gone := put(t, objects, plumbing.TreeObject, rawTree(line{"100644", "a", missing}))
	if _, err := fs.ReadFile(gittree.New(objects, gone), "a"); !errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file whose content is not there: %v, which must not read as if there were no such file", err)
	}
}
