package gittree

import (
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Merge merges two trees that come from base, file by file: a file takes the
// side that changed it, whole. Lines are not mixed and renames not guessed, so
// that what is merged is what was looked at. Paths that the sides changed
// differently (also deleted here and modified there, or a file here and a
// folder there) are returned as conflicts, and tree is zero then. Only folders
// that differ are read; the trees of the result are stored.
func Merge(objects storer.EncodedObjectStorer, base, ours, theirs plumbing.Hash) (tree plumbing.Hash, conflicts []string, err error) {
	m := &merger{writer: writer{objects: objects}}
	tree, err = m.folder(base, ours, theirs, "")
	if err == nil && tree.IsZero() {
		tree, err = m.store(plumbing.TreeObject, nil, base)
	}
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	if len(m.conflicts) > 0 {
		slices.Sort(m.conflicts)
		return plumbing.ZeroHash, slices.Compact(m.conflicts), nil
	}
	return tree, nil, nil
}

type merger struct {
	writer
	conflicts []string
}

// folder merges one folder; zero when nothing is left in it.
func (m *merger) folder(base, ours, theirs plumbing.Hash, at string) (plumbing.Hash, error) {
	switch {
	case ours == theirs || base == theirs:
		return ours, nil
	case base == ours:
		return theirs, nil
	}
	sides, err := readSides(m.objects, base, ours, theirs)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var merged []entry
	for _, name := range sides.names() {
		e, err := m.entry(sides[0][name], sides[1][name], sides[2][name], path.Join(at, name))
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if e.kind() != absent {
			e.name = name
			merged = append(merged, e)
		}
	}
	if len(merged) == 0 {
		return plumbing.ZeroHash, nil
	}
	slices.SortFunc(merged, compareSortNames)
	return m.store(plumbing.TreeObject, encode(merged), base)
}

// entry merges one name. What is a leaf and what is a folder of that name are
// merged apart, so that only what both sides really keep can clash.
func (m *merger) entry(base, ours, theirs entry, at string) (entry, error) {
	leaf := m.leaf(leafOf(base), leafOf(ours), leafOf(theirs), at)
	tree, err := m.folder(base.below(), ours.below(), theirs.below(), at)
	if err != nil || tree.IsZero() {
		return leaf, err
	}
	if leaf.kind() != absent {
		m.conflicts = append(m.conflicts, at)
	}
	return entry{mode: modeFolder, hash: tree}, nil
}

func (m *merger) leaf(base, ours, theirs entry, at string) entry {
	switch {
	case ours.same(theirs) || base.same(theirs):
		return ours
	case base.same(ours):
		return theirs
	}
	m.conflicts = append(m.conflicts, at)
	return ours
}

func leafOf(e entry) entry {
	if e.isLeaf() {
		return e
	}
	return entry{}
}
