package gittree

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

func byName(entries []fs.DirEntry) []fs.DirEntry {
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// entries reads a tree by name; the zero hash is an empty tree.
func entries(objects storer.EncodedObjectStorer, tree plumbing.Hash) (map[string]object.TreeEntry, error) {
	all := map[string]object.TreeEntry{}
	if tree.IsZero() {
		return all, nil
	}
	t, err := object.GetTree(objects, tree)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", tree, err)
	}
	for _, e := range t.Entries {
		all[e.Name] = e
	}
	return all, nil
}

// Changed lists the paths of files that differ between two trees, sorted. Only
// folders whose hashes differ are read.
func Changed(objects storer.EncodedObjectStorer, a, b plumbing.Hash) ([]string, error) {
	var paths []string
	err := changed(objects, a, b, "", &paths)
	slices.Sort(paths)
	return paths, err
}

func changed(objects storer.EncodedObjectStorer, a, b plumbing.Hash, at string, paths *[]string) error {
	if a == b {
		return nil
	}
	left, err := entries(objects, a)
	if err != nil {
		return err
	}
	right, err := entries(objects, b)
	if err != nil {
		return err
	}
	for name := range names(left, right) {
		old, now := left[name], right[name]
		if old.Hash == now.Hash && old.Mode == now.Mode {
			continue
		}
		child := path.Join(at, name)
		if old.Mode == filemode.Dir || now.Mode == filemode.Dir {
			if err := changed(objects, folderOf(old), folderOf(now), child, paths); err != nil {
				return err
			}
		}
		if isLeaf(old) || isLeaf(now) {
			*paths = append(*paths, child)
		}
	}
	return nil
}

func names(maps ...map[string]object.TreeEntry) map[string]bool {
	all := map[string]bool{}
	for _, m := range maps {
		for name := range m {
			all[name] = true
		}
	}
	return all
}

// folderOf is the tree of an entry that is a folder, zero for all else.
func folderOf(e object.TreeEntry) plumbing.Hash {
	if e.Mode == filemode.Dir {
		return e.Hash
	}
	return plumbing.ZeroHash
}

func isLeaf(e object.TreeEntry) bool { return e.Mode != filemode.Empty && e.Mode != filemode.Dir }

// Merge merges two trees that come from base, file by file. Files changed on both sides in different ways are
// returned as conflicts, and tree is then zero. Only folders that differ are read.
func Merge(objects storer.EncodedObjectStorer, base, ours, theirs plumbing.Hash) (tree plumbing.Hash, conflicts []string, err error) {
	m := &merger{writer: writer{objects: objects}}
	tree, err = m.tree(base, ours, theirs, "")
	if len(m.conflicts) > 0 {
		slices.Sort(m.conflicts)
		return plumbing.ZeroHash, m.conflicts, err
	}
	return tree, nil, err
}

type merger struct {
	writer
	conflicts []string
}

func (m *merger) tree(base, ours, theirs plumbing.Hash, at string) (plumbing.Hash, error) {
	switch {
	case ours == theirs || base == theirs:
		return ours, nil
	case base == ours:
		return theirs, nil
	}
	var sides [3]map[string]object.TreeEntry
	for i, hash := range []plumbing.Hash{base, ours, theirs} {
		var err error
		if sides[i], err = entries(m.objects, hash); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	result := map[string]object.TreeEntry{}
	for name := range names(sides[:]...) {
		e, err := m.entry(sides[0][name], sides[1][name], sides[2][name], path.Join(at, name))
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if e.Mode != filemode.Empty {
			e.Name = name
			result[name] = e
		}
	}
	if len(result) == 0 && at != "" {
		return plumbing.ZeroHash, nil
	}
	return m.storeTree(slices.Collect(maps.Values(result)))
}

// entry merges one name. The zero entry stands for absence.
func (m *merger) entry(base, ours, theirs object.TreeEntry, at string) (object.TreeEntry, error) {
	same := func(a, b object.TreeEntry) bool { return a.Hash == b.Hash && a.Mode == b.Mode }
	switch {
	case same(ours, theirs) || same(base, theirs):
		return ours, nil
	case same(base, ours):
		return theirs, nil
	}
	if isLeaf(ours) || isLeaf(theirs) || isLeaf(base) {
		m.conflicts = append(m.conflicts, at)
		return ours, nil
	}
	tree, err := m.tree(folderOf(base), folderOf(ours), folderOf(theirs), at)
	if err != nil || tree.IsZero() {
		return object.TreeEntry{}, err
	}
	return object.TreeEntry{Mode: filemode.Dir, Hash: tree}, nil
}
