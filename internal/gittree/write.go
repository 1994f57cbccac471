package gittree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Write makes a tree that differs from base in whole files: files are written, deletes
// are removed. Modes of existing files stay; every other entry is taken over as it is. It returns
// the objects it stored, blobs and trees, for pushing. A path that leads through a file, link or submodule
// is refused. The zero base is an empty tree.
func Write(objects storer.EncodedObjectStorer, base plumbing.Hash, files map[string][]byte, deletes []string) (tree plumbing.Hash, written []plumbing.Hash, err error) {
	w := &writer{objects: objects}
	root := folder{}
	for name, content := range files {
		if !fs.ValidPath(name) || name == "." {
			return tree, nil, fmt.Errorf("%q is no path of a file", name)
		}
		root.set(strings.Split(name, "/"), change{content: content})
	}
	for _, name := range deletes {
		root.set(strings.Split(name, "/"), change{remove: true})
	}
	tree, err = w.tree(base, root, "")
	return tree, w.written, err
}

// folder is what changes below one tree.
type folder map[string]change

type change struct {
	content []byte
	remove  bool
	below   folder // not nil: the entry is a folder
}

func (f folder) set(parts []string, c change) {
	if len(parts) == 1 {
		f[parts[0]] = c
		return
	}
	next := f[parts[0]]
	if next.below == nil {
		next = change{below: folder{}}
		f[parts[0]] = next
	}
	next.below.set(parts[1:], c)
}

type writer struct {
	objects storer.EncodedObjectStorer
	written []plumbing.Hash
}

func (w *writer) tree(base plumbing.Hash, changes folder, at string) (plumbing.Hash, error) {
	entries := map[string]object.TreeEntry{}
	if !base.IsZero() {
		t, err := object.GetTree(w.objects, base)
		if err != nil {
			return base, fmt.Errorf("read tree of /%s: %w", at, err)
		}
		for _, e := range t.Entries {
			entries[e.Name] = e
		}
	}
	for name, c := range changes {
		old, exists := entries[name]
		e, keep, err := w.entry(old, exists, name, c, at+name)
		if err != nil {
			return base, err
		}
		if keep {
			entries[name] = e
		} else {
			delete(entries, name)
		}
	}
	return w.storeTree(slices.Collect(maps.Values(entries)))
}

func (w *writer) entry(old object.TreeEntry, exists bool, name string, c change, at string) (object.TreeEntry, bool, error) {
	switch {
	case c.below != nil && exists && old.Mode != filemode.Dir:
		return old, false, fmt.Errorf("%s is no folder: nothing can be written below it", at)
	case c.below != nil:
		tree, err := w.tree(old.Hash, c.below, at+"/")
		e := object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: tree}
		return e, tree != emptyTree, err
	case c.remove && !exists:
		return old, false, &fs.PathError{Op: "remove", Path: at, Err: fs.ErrNotExist}
	case c.remove:
		return old, false, nil
	case exists && !isFile(old.Mode):
		return old, false, fmt.Errorf("%s is no file: it is not written over", at)
	}
	hash, err := w.store(plumbing.BlobObject, c.content)
	mode := filemode.Regular
	if exists {
		mode = old.Mode
	}
	return object.TreeEntry{Name: name, Mode: mode, Hash: hash}, true, err
}

func isFile(m filemode.FileMode) bool {
	return m == filemode.Regular || m == filemode.Executable || m == filemode.Deprecated
}

// emptyTree is the hash of a tree without entries, which Git does not keep inside another tree.
var emptyTree = plumbing.NewHash("4b825dc642cb6eb9a060e54bf8d69288fbee4904")

// storeTree stores entries in Git's order: folders sort as if their name ended in a slash.
func (w *writer) storeTree(entries []object.TreeEntry) (plumbing.Hash, error) {
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	var content bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&content, "%o %s\x00", uint32(e.Mode), e.Name)
		content.Write(e.Hash[:])
	}
	return w.store(plumbing.TreeObject, content.Bytes())
}

func sortName(e object.TreeEntry) string {
	if e.Mode == filemode.Dir {
		return e.Name + "/"
	}
	return e.Name
}

func (w *writer) store(kind plumbing.ObjectType, content []byte) (plumbing.Hash, error) {
	o := w.objects.NewEncodedObject()
	o.SetType(kind)
	o.SetSize(int64(len(content)))
	out, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	_, err = out.Write(content)
	if err := errors.Join(err, out.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	if w.objects.HasEncodedObject(o.Hash()) != nil {
		if _, err := w.objects.SetEncodedObject(o); err != nil {
			return plumbing.ZeroHash, fmt.Errorf("store a %s: %w", kind, err)
		}
	}
	w.written = append(w.written, o.Hash())
	return o.Hash(), nil
}

// Commit stores a commit object.
func Commit(objects storer.EncodedObjectStorer, c *object.Commit) (plumbing.Hash, error) {
	o := objects.NewEncodedObject()
	if err := c.Encode(o); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode a commit: %w", err)
	}
	return objects.SetEncodedObject(o)
}
