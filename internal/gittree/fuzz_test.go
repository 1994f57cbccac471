package gittree_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/sluicehq/sluice/internal/gittree"
)

// FuzzTree reads and rewrites arbitrary bytes as a tree: refused, or every
// other line stays as it is.
func FuzzTree(f *testing.F) {
	hash := strings.Repeat("h", 20)
	f.Add("100644 a\x00" + hash + "40000 b\x00" + hash)
	f.Add("120000 a\x00" + hash + "160000 b\x00" + hash + "100664 \xff\x00" + hash)
	f.Add("100644 a\x00" + hash[:19])
	f.Add("99 a\x00" + hash)
	f.Fuzz(func(t *testing.T, content string) {
		objects := memory.NewStorage()
		base := put(t, objects, plumbing.TreeObject, content)
		fsys := gittree.New(objects, base)
		if _, err := fs.ReadDir(fsys, "."); err != nil {
			return
		}
		const name = "sluice.yaml"
		if _, err := fsys.Stat(name); err == nil {
			return
		}
		tree, _, err := gittree.Write(objects, base, map[string][]byte{name: []byte("new")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		after := raw(t, objects, tree)
		added := lineOf(after, "100644 "+name)
		if added == "" || strings.Replace(after, added, "", 1) != content {
			t.Fatalf("%q became %q", content, after)
		}
		if paths, err := gittree.Changed(objects, base, tree); err != nil || len(paths) != 1 || paths[0] != name {
			t.Fatalf("Changed() = %q, %v", paths, err)
		}
	})
}
