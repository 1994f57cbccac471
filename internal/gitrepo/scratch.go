package gitrepo

import (
	"github.com/go-git/go-git/v5/plumbing"
)

// scratch keeps new objects in memory, above a mirror's. A proposal's reach
// the disk only when it is pushed, those of a trial merge never. It is written by
// one goroutine before others read it.
type scratch struct {
	*storage
	added map[plumbing.Hash]plumbing.EncodedObject
}

func newScratch(objects *storage) *scratch {
	return &scratch{storage: objects, added: map[plumbing.Hash]plumbing.EncodedObject{}}
}

// SetEncodedObject implements storer.EncodedObjectStorer.
func (s *scratch) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	hash := o.Hash()
	s.added[hash] = o
	return hash, nil
}

// EncodedObject implements storer.EncodedObjectStorer.
func (s *scratch) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	if o, there := s.added[h]; there {
		return o, nil
	}
	return s.storage.EncodedObject(t, h)
}

// HasEncodedObject implements storer.EncodedObjectStorer.
func (s *scratch) HasEncodedObject(h plumbing.Hash) error {
	if _, there := s.added[h]; there {
		return nil
	}
	return s.storage.HasEncodedObject(h)
}

// EncodedObjectSize implements storer.EncodedObjectStorer.
func (s *scratch) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	if o, there := s.added[h]; there {
		return o.Size(), nil
	}
	return s.storage.EncodedObjectSize(h)
}

// keep stores what was added among the mirror's objects.
func (s *scratch) keep() error {
	for _, o := range s.added {
		if _, err := s.storage.SetEncodedObject(o); err != nil {
			return err
		}
	}
	return nil
}
