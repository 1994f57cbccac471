package gittree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Write makes a tree that differs from base in whole files: files are written,
// deletes (files or links) are removed, and a folder that becomes empty goes
// with them. A file that exists keeps its mode, a new one is not executable;
// every other entry stays byte for byte. The zero base is an empty tree.
//
// It stores blobs and the trees on the way to them, and returns those that base
// does not have at that place, each once: what a remote that has base may lack. Refused are paths that
// are none, lead into .git, lead through a file, link or submodule, would
// write over anything but a file, or delete what is not there.
func Write(objects storer.EncodedObjectStorer, base plumbing.Hash, files map[string][]byte, deletes []string) (tree plumbing.Hash, written []Written, err error) {
	root := changes{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := root.add(name, change{content: files[name]}); err != nil {
			return tree, nil, err
		}
	}
	for _, name := range deletes {
		if err := root.add(name, change{remove: true}); err != nil {
			return tree, nil, err
		}
	}
	w := &writer{objects: objects}
	tree, err = w.folder(base, root, "")
	if err == nil && tree.IsZero() {
		tree, err = w.store(plumbing.TreeObject, nil, base)
	}
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	return tree, w.written, nil
}

// Written is a new object, and the one of base whose place it takes: zero for none.
type Written struct {
	Hash, Instead plumbing.Hash
}

// changes are those below one folder, by name.
type changes map[string]change

type change struct {
	content []byte
	remove  bool
	below   changes // not nil: the entry is a folder
}

func (c changes) add(name string, leaf change) error {
	if err := writable(name); err != nil {
		return err
	}
	at := c
	parts := strings.Split(name, "/")
	for _, part := range parts[:len(parts)-1] {
		next, taken := at[part]
		if taken && next.below == nil {
			return fmt.Errorf("%q: a path above it is changed as a file in the same change", name)
		}
		if !taken {
			next = change{below: changes{}}
			at[part] = next
		}
		at = next.below
	}
	last := parts[len(parts)-1]
	if _, taken := at[last]; taken {
		return fmt.Errorf("%q is changed twice, or as a file and as a folder", name)
	}
	at[last] = leaf
	return nil
}

func writable(name string) error {
	if !validPath(name) || name == "." || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%q is no path of a file", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("%q leads into .git, which Git refuses", name)
		}
	}
	return nil
}

type writer struct {
	objects storer.EncodedObjectStorer
	written []Written
}

// folder rewrites one tree; zero when nothing is left in it.
func (w *writer) folder(base plumbing.Hash, c changes, at string) (plumbing.Hash, error) {
	all, err := entries(w.objects, base)
	if err != nil {
		return base, err
	}
	var edited bool
	for _, name := range slices.Sorted(maps.Keys(c)) {
		i := indexOf(all, name)
		old := entry{}
		if i >= 0 {
			old = all[i]
		}
		now, err := w.entry(old, c[name], name, at+name)
		if err != nil {
			return base, err
		}
		switch {
		case now == old:
			continue
		case i < 0:
			i, _ = slices.BinarySearchFunc(all, now, compareSortNames)
			all = slices.Insert(all, i, now)
		case now.kind() == absent:
			all = slices.Delete(all, i, i+1)
		default:
			all[i] = now
		}
		edited = true
	}
	switch {
	case !edited:
		return base, nil
	case len(all) == 0:
		return plumbing.ZeroHash, nil
	}
	return w.store(plumbing.TreeObject, encode(all), base)
}

// entry changes one entry of a tree; the zero entry stands for absence.
func (w *writer) entry(old entry, c change, name, at string) (entry, error) {
	kind := old.kind()
	switch {
	case c.below != nil && kind != absent && kind != folder:
		return old, fmt.Errorf("%s is no folder, so nothing can be changed below it", at)
	case c.below != nil:
		tree, err := w.folder(old.below(), c.below, at+"/")
		if err != nil || tree.IsZero() {
			return entry{}, err
		}
		return with(old, modeFolder, name, tree), nil
	case c.remove && kind == absent:
		return old, &fs.PathError{Op: "remove", Path: at, Err: fs.ErrNotExist}
	case c.remove && (kind == folder || kind == submodule):
		return old, fmt.Errorf("%s is no file, so it is not removed", at)
	case c.remove:
		return entry{}, nil
	case kind == folder || kind == link || kind == submodule:
		return old, fmt.Errorf("%s is no file, so it is not written over", at)
	}
	hash := plumbing.ComputeHash(plumbing.BlobObject, c.content)
	if hash == old.hash {
		return old, nil
	}
	_, err := w.store(plumbing.BlobObject, c.content, old.hash)
	return with(old, modeFile, name, hash), err
}

// with keeps the mode of an entry that was there before.
func with(old entry, mode, name string, hash plumbing.Hash) entry {
	if old.mode != "" {
		mode = old.mode
	}
	return entry{mode: mode, name: name, hash: hash}
}

func (w *writer) store(kind plumbing.ObjectType, content []byte, instead plumbing.Hash) (plumbing.Hash, error) {
	o := w.objects.NewEncodedObject()
	o.SetType(kind)
	out, err := o.Writer()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	_, err = out.Write(content)
	if err := errors.Join(err, out.Close()); err != nil {
		return plumbing.ZeroHash, err
	}
	hash, err := w.objects.SetEncodedObject(o)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("store a %s: %w", kind, err)
	}
	same := func(o Written) bool { return o.Hash == hash } // the same content in two places is one object, and git refuses a pack that has it twice
	if !slices.ContainsFunc(w.written, same) {
		w.written = append(w.written, Written{Hash: hash, Instead: instead})
	}
	return hash, nil
}

// Commit stores a commit object.
func Commit(objects storer.EncodedObjectStorer, c *object.Commit) (plumbing.Hash, error) {
	o := objects.NewEncodedObject()
	if err := c.Encode(o); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("encode a commit: %w", err)
	}
	return objects.SetEncodedObject(o)
}
