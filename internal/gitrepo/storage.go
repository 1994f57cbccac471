package gitrepo

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

const (
	cacheSize   = 32 * cache.MiByte
	streamedAll = int64(cache.MiByte) // larger objects are streamed, never held
)

// storage is a mirror's objects on disk: go-git's own storage, which keeps its
// index of packs without a lock, made safe for reads while a fetch goes on.
type storage struct {
	dir     string
	damaged atomic.Bool // something that must be there could not be read

	mu    sync.Mutex
	files *filesystem.ObjectStorage
}

var _ storer.EncodedObjectStorer = (*storage)(nil)

func openStorage(dir string) *storage {
	s := &storage{dir: dir}
	s.files = filesystem.NewObjectStorageWithOptions(
		dotgit.NewWithOptions(osfs.New(dir), dotgit.Options{KeepDescriptors: true}),
		cache.NewObjectLRU(cacheSize), filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: streamedAll})
	return s
}

// initStorage makes a bare repository whose HEAD is the base branch.
func initStorage(dir string, base plumbing.ReferenceName) (*storage, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRU(0))
	if _, err := git.InitWithOptions(files, nil, git.InitOptions{DefaultBranch: base}); err != nil {
		return nil, err
	}
	return openStorage(dir), nil
}

// Close closes the packs.
func (s *storage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.Close()
}

// noting takes down that the mirror is damaged. A commit that is not there may
// never have been; trees and blobs are only asked for by what names them.
func (s *storage) noting(t plumbing.ObjectType, err error) {
	notThere := errors.Is(err, plumbing.ErrObjectNotFound)
	if err != nil && (!notThere || t == plumbing.TreeObject || t == plumbing.BlobObject) {
		s.damaged.Store(true)
	}
}

// EncodedObject implements storer.EncodedObjectStorer.
func (s *storage) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.files.EncodedObject(t, h)
	s.noting(t, err)
	if err == nil {
		o.Hash() // computed at the first call, and the object is shared from here on
	}
	return o, err
}

// HasEncodedObject implements storer.EncodedObjectStorer.
func (s *storage) HasEncodedObject(h plumbing.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.HasEncodedObject(h)
}

// EncodedObjectSize implements storer.EncodedObjectStorer.
func (s *storage) EncodedObjectSize(h plumbing.Hash) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.EncodedObjectSize(h)
}

// SetEncodedObject implements storer.EncodedObjectStorer.
func (s *storage) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.SetEncodedObject(o)
}

// NewEncodedObject implements storer.EncodedObjectStorer.
func (s *storage) NewEncodedObject() plumbing.EncodedObject { return &plumbing.MemoryObject{} }

// IterEncodedObjects implements storer.EncodedObjectStorer.
func (s *storage) IterEncodedObjects(t plumbing.ObjectType) (storer.EncodedObjectIter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.IterEncodedObjects(t)
}

// AddAlternate implements storer.EncodedObjectStorer: a mirror has none.
func (s *storage) AddAlternate(string) error { return errors.ErrUnsupported }

// sweep removes what an interrupted fetch left.
func (s *storage) sweep() error {
	left, err := filepath.Glob(filepath.Join(s.dir, "objects", "pack", "tmp_pack_*"))
	for _, file := range left {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}
