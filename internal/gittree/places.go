package gittree

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Places are paths of folders and files, each of interest to some keys.
type Places struct {
	root place
}

type place struct {
	keys  []string
	below map[string]*place
}

// NewPlaces takes the paths of each key; "." is the whole tree.
func NewPlaces(paths map[string][]string) *Places {
	p := &Places{}
	for key, all := range paths {
		for _, name := range all {
			p.root.at(name).add(key)
		}
	}
	return p
}

// at is the place with this path, made if need be.
func (p *place) at(name string) *place {
	if name == "." {
		return p
	}
	first, rest, more := strings.Cut(name, "/")
	if p.below == nil {
		p.below = map[string]*place{}
	}
	next := p.below[first]
	if next == nil {
		next = &place{}
		p.below[first] = next
	}
	if !more {
		return next
	}
	return next.at(rest)
}

func (p *place) add(key string) {
	if !slices.Contains(p.keys, key) {
		p.keys = append(p.keys, key)
	}
}

// Touched lists the keys, sorted, of which a path differs between two trees in
// itself or in anything below it. Only folders that differ and lead to a place are
// read, so the cost is bound by the places, however much changed.
func (p *Places) Touched(objects storer.EncodedObjectStorer, a, b plumbing.Hash) ([]string, error) {
	var keys []string
	before, after := entry{}, entry{}
	if !a.IsZero() {
		before = entry{mode: modeFolder, hash: a}
	}
	if !b.IsZero() {
		after = entry{mode: modeFolder, hash: b}
	}
	if err := p.root.touched(objects, before, after, &keys); err != nil {
		return nil, err
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

func (p *place) touched(objects storer.EncodedObjectStorer, a, b entry, keys *[]string) error {
	if a.same(b) {
		return nil
	}
	*keys = append(*keys, p.keys...)
	if len(p.below) == 0 || a.below() == b.below() {
		return nil
	}
	pairs, err := differing(objects, a.below(), b.below())
	if err != nil {
		return err
	}
	for _, pair := range pairs {
		next := p.below[pair.name]
		if next == nil {
			continue
		}
		if err := next.touched(objects, pair.before, pair.after, keys); err != nil {
			return err
		}
	}
	return nil
}
