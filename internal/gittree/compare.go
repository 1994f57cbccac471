package gittree

import (
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Changed lists the paths that differ between two trees, sorted: files, links
// and submodules added, removed or changed in content or kind. Only folders
// whose hashes differ are read; the zero hash is an empty tree.
func Changed(objects storer.EncodedObjectStorer, a, b plumbing.Hash) ([]string, error) {
	c := comparison{objects: objects}
	if err := c.compare(a, b, ""); err != nil {
		return nil, err
	}
	slices.Sort(c.paths)
	return c.paths, nil
}

type comparison struct {
	objects storer.EncodedObjectStorer
	paths   []string
}

func (c *comparison) compare(a, b plumbing.Hash, at string) error {
	if a == b {
		return nil
	}
	pairs, err := differing(c.objects, a, b)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		child := path.Join(at, p.name)
		if err := c.compare(p.before.below(), p.after.below(), child); err != nil {
			return err
		}
		if p.before.isLeaf() || p.after.isLeaf() {
			c.paths = append(c.paths, child)
		}
	}
	return nil
}

// sides are the entries of one folder in several trees.
type sides []map[string]entry

func readSides(objects storer.EncodedObjectStorer, trees ...plumbing.Hash) (sides, error) {
	read := make(sides, len(trees))
	for i, tree := range trees {
		all, err := entries(objects, tree)
		if err != nil {
			return nil, err
		}
		read[i] = byName(all)
	}
	return read, nil
}

func (s sides) names() []string {
	var names []string
	for _, side := range s {
		for name := range side {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
