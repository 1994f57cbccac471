package gitrepo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
	"github.com/go-git/go-git/v5/storage/memory"
)

// A small pack is unpacked, as git does (fetch.unpackLimit): each pack is one
// more file to keep open and one more index to search for ever after.
const (
	unpackObjects = 100
	unpackBytes   = 8 << 20
	packHeader    = 12 // bytes: PACK, version, number of objects
)

// receive stores a pack that a remote sends.
func (s *storage) receive(pack io.Reader) error {
	start := make([]byte, packHeader)
	if _, err := io.ReadFull(pack, start); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	count := binary.BigEndian.Uint32(start[8:])
	if count > unpackObjects {
		return s.keep(io.MultiReader(bytes.NewReader(start), pack))
	}
	begin, err := io.ReadAll(io.LimitReader(pack, unpackBytes))
	if err != nil {
		return err
	}
	begin = append(start, begin...)
	if len(begin) < unpackBytes {
		return s.unpack(count, bytes.NewReader(begin))
	}
	return s.keep(io.MultiReader(bytes.NewReader(begin), pack))
}

func (s *storage) unpack(count uint32, pack io.Reader) error {
	if count == 0 {
		return nil
	}
	objects := memory.NewStorage()
	if err := packfile.UpdateObjectStorage(objects, pack); err != nil {
		return err
	}
	for _, o := range objects.Objects {
		if _, err := s.SetEncodedObject(o); err != nil {
			return err
		}
	}
	return nil
}

// keep writes a pack to disk and indexes it on the way, without the lock; only
// making it known needs that.
func (s *storage) keep(pack io.Reader) (err error) {
	out, err := s.newPack()
	if err != nil {
		return err
	}
	_, err = io.Copy(out, pack)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, s.sweep())
	}
	return nil
}

func (s *storage) newPack() (io.WriteCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.files.PackfileWriter()
	if err != nil {
		return nil, err
	}
	pack, ok := out.(*dotgit.PackWriter)
	if !ok {
		return nil, fmt.Errorf("go-git writes packs with %T, which this program does not know", out)
	}
	known := pack.Notify
	pack.Notify = func(h plumbing.Hash, index *idxfile.Writer) {
		s.mu.Lock()
		defer s.mu.Unlock()
		known(h, index)
	}
	return pack, nil
}
