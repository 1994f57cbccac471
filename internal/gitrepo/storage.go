package gitrepo

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	dir    string
	damage atomic.Pointer[error] // what must be there and could not be read

	deflaters sync.Pool // of *zlib.Writer, a megabyte each

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

// note takes down damage: the next fetch makes the mirror anew.
func (s *storage) note(damage error) { s.damage.CompareAndSwap(nil, &damage) }

// noting tells damage from other failures to read an object. A commit that is not
// there may never have been; trees and blobs are only asked for by what names
// them, which may be wrong about what they are.
func (s *storage) noting(t plumbing.ObjectType, h plumbing.Hash, err error) {
	if errors.Is(err, plumbing.ErrObjectNotFound) &&
		(t != plumbing.TreeObject && t != plumbing.BlobObject || s.files.HasEncodedObject(h) == nil) {
		return
	}
	if err != nil {
		s.note(fmt.Errorf("read %s %s: %w", t, h, err))
	}
}

// EncodedObject implements storer.EncodedObjectStorer.
func (s *storage) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.files.EncodedObject(t, h)
	s.noting(t, h, err)
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

// SetEncodedObject implements storer.EncodedObjectStorer. go-git's own compresses
// with care, which takes most of the time of a change in a large folder.
func (s *storage) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	hash := o.Hash()
	if err := s.writeLoose(hash.String(), o); err != nil {
		return hash, fmt.Errorf("store %s %s: %w", o.Type(), hash, err)
	}
	return hash, nil
}

// writeLoose writes a file beside the packs, as go-git does, and then gives it its name.
func (s *storage) writeLoose(name string, o plumbing.EncodedObject) (err error) {
	r, err := o.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	out, err := os.CreateTemp(filepath.Join(s.dir, "objects", "pack"), "tmp_obj_")
	if err != nil {
		return err
	}
	err = s.deflate(out, io.MultiReader(strings.NewReader(fmt.Sprintf("%s %d\x00", o.Type(), o.Size())), r))
	folder := filepath.Join(s.dir, "objects", name[:2])
	err = errors.Join(err, out.Chmod(0o444), out.Close(), os.MkdirAll(folder, 0o700))
	if err == nil {
		err = os.Rename(out.Name(), filepath.Join(folder, name[2:]))
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}

// deflate compresses quickly: what is written is mostly hashes, which do not get smaller.
func (s *storage) deflate(out io.Writer, content io.Reader) error {
	z, ok := s.deflaters.Get().(*zlib.Writer)
	if ok {
		z.Reset(out)
	} else {
		var err error
		if z, err = zlib.NewWriterLevel(out, zlib.BestSpeed); err != nil {
			return err
		}
	}
	defer s.deflaters.Put(z)
	_, err := io.Copy(z, content)
	return errors.Join(err, z.Close())
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

// sweep removes what an interrupted fetch or a full disk left.
func (s *storage) sweep() error {
	left, err := filepath.Glob(filepath.Join(s.dir, "objects", "pack", "tmp_*"))
	for _, file := range left {
		err = errors.Join(err, os.Remove(file))
	}
	return err
}
