package gitrepo

import (
	"io"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// storage is go-git's file storage made safe for reads while a fetch goes on:
// the library keeps its index of packs without a lock.
type storage struct {
	*filesystem.Storage
	mu sync.Mutex
}

func openStorage(dir string) *storage {
	return &storage{Storage: filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRUDefault(),
		filesystem.Options{ExclusiveAccess: true, KeepDescriptors: true})}
}

func (s *storage) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Storage.EncodedObject(t, h)
}

func (s *storage) DeltaObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Storage.DeltaObject(t, h)
}

func (s *storage) HasEncodedObject(h plumbing.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Storage.HasEncodedObject(h)
}

func (s *storage) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Storage.EncodedObjectSize(h)
}

func (s *storage) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Storage.SetEncodedObject(o)
}

func (s *storage) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Storage.IterEncodedObjects(t)
}

// PackfileWriter takes a fetched pack; the index of packs changes only when it is closed.
func (s *storage) PackfileWriter() (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.Storage.PackfileWriter()
	return &packWriter{w, &s.mu}, err
}

type packWriter struct {
	io.WriteCloser
	mu *sync.Mutex
}

func (w *packWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Close()
}
