package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

const (
	deltaMost = 512 << 20 // bytes of an object that is or has a delta: Git makes none of larger ones (core.bigFileThreshold)
	heldMost  = 1 << 30   // bytes of all objects that are held while deltas of them are resolved
)

var (
	errPackTooLarge = errors.New("the pack needs more memory than it is given: an object that is sent as a delta is too large")
	errPackNotWhole = errors.New("the pack has deltas of objects that it lacks")
)

// indexer finds out which objects a pack holds and where. Objects are streamed, and
// only those that are deltas or have some are ever held. go-git's own holds each
// in turn, so that one huge file, or a pack made for it, could use up the memory.
type indexer struct {
	scan    *packfile.Scanner
	index   idxfile.Writer
	objects map[int64]*packed           // by offset
	waiting map[plumbing.Hash][]*packed // deltas by the object that they change
	left    int                         // objects whose hash is not known yet
	held    int                         // bytes
}

// packed is an object in a pack.
type packed struct {
	offset int64
	crc    uint32
	kind   plumbing.ObjectType
	hash   plumbing.Hash
	deltas []*packed // that name it by its offset
}

// indexPack reads a pack and returns its checksum and its index.
func indexPack(pack *os.File) (plumbing.Hash, *idxfile.MemoryIndex, error) {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return plumbing.ZeroHash, nil, err
	}
	x := &indexer{scan: packfile.NewScanner(pack), objects: map[int64]*packed{}, waiting: map[plumbing.Hash][]*packed{}}
	bases, err := x.pass()
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	sum, err := x.scan.Checksum()
	if err != nil {
		return sum, nil, err
	}
	for _, base := range bases {
		if err := x.start(base); err != nil {
			return sum, nil, err
		}
	}
	if x.left > 0 {
		return sum, nil, errPackNotWhole
	}
	if err := x.index.OnFooter(sum); err != nil {
		return sum, nil, err
	}
	index, err := x.index.Index()
	return sum, index, err
}

// pass goes over the pack once and returns the objects that are no deltas.
func (x *indexer) pass() (bases []*packed, err error) {
	_, count, err := x.scan.Header()
	if err != nil {
		return nil, err
	}
	for range count {
		head, err := x.scan.NextObjectHeader()
		if err != nil {
			return nil, err
		}
		o := &packed{offset: head.Offset, kind: head.Type}
		x.objects[o.offset] = o
		x.left++
		switch head.Type {
		case plumbing.OFSDeltaObject:
			base := x.objects[head.OffsetReference]
			if base == nil {
				return nil, errPackNotWhole
			}
			base.deltas = append(base.deltas, o)
		case plumbing.REFDeltaObject:
			x.waiting[head.Reference] = append(x.waiting[head.Reference], o)
		default:
			bases = append(bases, o)
		}
		hasher := plumbing.NewHasher(head.Type, head.Length)
		if _, o.crc, err = x.scan.NextObject(hasher); err != nil {
			return nil, err
		}
		if !head.Type.IsDelta() {
			x.found(o, hasher.Sum())
		}
	}
	return bases, nil
}

func (x *indexer) found(o *packed, hash plumbing.Hash) {
	o.hash = hash
	x.left--
	x.index.Add(hash, uint64(o.offset), o.crc)
}

// deltasOf lists the deltas of an object whose hash is known, once.
func (x *indexer) deltasOf(o *packed) []*packed {
	all := slices.Concat(o.deltas, x.waiting[o.hash])
	o.deltas = nil
	delete(x.waiting, o.hash)
	return all
}

func (x *indexer) start(base *packed) error {
	if len(base.deltas) == 0 && len(x.waiting[base.hash]) == 0 {
		return nil
	}
	content, err := x.content(base)
	if err != nil {
		return err
	}
	return x.resolve(base, content)
}

// resolve finds the hashes of all that are deltas of base, and of deltas of them.
// Of a chain it holds two objects at a time, and none that has no deltas.
func (x *indexer) resolve(base *packed, content []byte) error {
	for deltas := x.deltasOf(base); len(deltas) > 0; deltas = x.deltasOf(base) {
		var next []byte
		for i, d := range deltas {
			var err error
			if next, err = x.apply(d, base.kind, content); err != nil {
				return fmt.Errorf("object at %d: %w", d.offset, err)
			}
			if i == len(deltas)-1 {
				base = d
				break
			}
			if x.held += len(content); x.held > heldMost {
				return errPackTooLarge
			}
			if err := x.resolve(d, next); err != nil {
				return err
			}
			x.held -= len(content)
		}
		content = next
	}
	return nil
}

// apply finds the hash of a delta's result, and returns the result if others may
// be deltas of it.
func (x *indexer) apply(d *packed, kind plumbing.ObjectType, base []byte) ([]byte, error) {
	delta, err := x.content(d)
	if err != nil {
		return nil, err
	}
	size, err := resultSize(delta)
	if err != nil {
		return nil, err
	}
	if size > deltaMost {
		return nil, errPackTooLarge
	}
	d.kind = kind
	hasher := plumbing.NewHasher(kind, size)
	if len(d.deltas) == 0 && len(x.waiting) == 0 {
		err = patch(hasher, base, delta)
		x.found(d, hasher.Sum())
		return nil, err
	}
	result := bytes.NewBuffer(make([]byte, 0, size))
	err = patch(io.MultiWriter(hasher, result), base, delta)
	x.found(d, hasher.Sum())
	return result.Bytes(), err
}

// content is an object as it is in the pack.
func (x *indexer) content(o *packed) ([]byte, error) {
	head, err := x.scan.SeekObjectHeader(o.offset)
	if err != nil {
		return nil, err
	}
	if head.Length > deltaMost {
		return nil, errPackTooLarge
	}
	content := bytes.NewBuffer(make([]byte, 0, head.Length))
	_, _, err = x.scan.NextObject(content)
	return content.Bytes(), err
}
