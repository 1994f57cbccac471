package gitrepo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// A small pack is unpacked, as git does (fetch.unpackLimit): each pack is one
// more file to keep open and one more index to search for ever after.
const (
	unpackObjects  = 100
	unpackBytes    = 2 << 20 // of the pack
	unpackInflated = 8 << 20 // bytes of all its objects
	packHeader     = 12      // bytes: PACK, version, number of objects
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
	if len(begin) < unpackBytes && isSmall(begin) {
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

// isSmall tells whether a pack's objects are, all together. One that cannot be
// read is not.
func isSmall(pack []byte) bool {
	scan := packfile.NewScanner(bytes.NewReader(pack))
	_, count, err := scan.Header()
	left := int64(unpackInflated)
	for range count {
		var head *packfile.ObjectHeader
		if head, err = scan.NextObjectHeader(); err != nil || head.Length > left {
			return false
		}
		size := head.Length
		if head.Type.IsDelta() {
			var delta bytes.Buffer
			if _, _, err = scan.NextObject(&delta); err != nil {
				return false
			}
			if size, err = resultSize(delta.Bytes()); err != nil {
				return false
			}
		}
		left -= size
	}
	return err == nil && left >= 0
}

// keep writes a pack to disk and indexes it, without the lock; only making it known
// needs that.
func (s *storage) keep(pack io.Reader) (err error) {
	folder := filepath.Join(s.dir, "objects", "pack")
	out, err := os.CreateTemp(folder, "tmp_pack_")
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			err = errors.Join(err, s.sweep())
		}
	}()
	if _, err = io.Copy(out, pack); err != nil {
		return err
	}
	sum, index, err := indexPack(out)
	if err != nil {
		return err
	}
	name := filepath.Join(folder, "pack-"+sum.String())
	if err := writeIndex(name+".idx", index); err != nil {
		return err
	}
	if err := errors.Join(out.Chmod(0o444), os.Rename(out.Name(), name+".pack")); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files.Reindex()
	return nil
}

// writeIndex comes before the pack gets its name: what has no pack is not read.
func writeIndex(name string, index *idxfile.MemoryIndex) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = idxfile.NewEncoder(out).Encode(index)
	return errors.Join(err, out.Close())
}
