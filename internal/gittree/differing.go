package gittree

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// pair is one name in a folder of two trees.
type pair struct {
	name          string
	before, after entry
}

// differing lists by name what differs directly in two folders. Lines that are
// the same in both are passed over as bytes: of thousands few differ.
func differing(objects storer.EncodedObjectStorer, a, b plumbing.Hash) ([]pair, error) {
	before, err := stored(objects, a)
	if err != nil {
		return nil, err
	}
	after, err := stored(objects, b)
	if err != nil {
		return nil, err
	}
	named := map[string]pair{}
	for len(before)+len(after) > 0 {
		left, right, err := step(before, after, named)
		if err != nil {
			return nil, fmt.Errorf("compare trees %s and %s: %w", a, b, err)
		}
		before, after = before[left:], after[right:]
	}
	var pairs []pair
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if p := named[name]; !p.before.same(p.after) {
			pairs = append(pairs, p)
		}
	}
	return pairs, nil
}

// step takes the line that sorts first of two trees, or the one they share, and tells
// how many bytes of each it took. That trees are sorted makes it quick, not right:
// what it takes is matched by name.
func step(before, after []byte, named map[string]pair) (left, right int, err error) {
	l, err := firstLine(before)
	if err != nil {
		return 0, 0, err
	}
	r, err := firstLine(after)
	if err != nil {
		return 0, 0, err
	}
	if bytes.Equal(l, r) {
		return len(l), len(r), nil
	}
	var from, to entry
	if l != nil {
		if from, err = parse(l); err != nil {
			return 0, 0, err
		}
	}
	if r != nil {
		if to, err = parse(r); err != nil {
			return 0, 0, err
		}
	}
	order := compareSortNames(from, to)
	if l != nil && (r == nil || order <= 0) {
		p := named[from.name]
		p.name, p.before = from.name, from
		named[from.name], left = p, len(l)
	}
	if r != nil && (l == nil || order >= 0) {
		p := named[to.name]
		p.name, p.after = to.name, to
		named[to.name], right = p, len(r)
	}
	return left, right, nil
}
