package gitrepo

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/sluicehq/sluice/internal/gittree"
)

// noThin is said by a remote that wants no object to be sent as what differs from
// one that it has (gitprotocol-capabilities).
const noThin = capability.Capability("no-thin")

// pack writes objects as a pack (gitformat-pack). If it may be thin, an object that
// takes another's place is what differs from it: the tree of a folder with
// thousands of applications is then a few bytes instead of hundreds of thousands.
func pack(from *scratch, objects []gittree.Written, thin bool) (io.ReadCloser, error) {
	out := bytes.NewBufferString("PACK")
	for _, n := range []int{2, len(objects)} { // version, number
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
	}
	for _, o := range objects {
		if err := packOne(out, from, o, thin); err != nil {
			return nil, fmt.Errorf("pack %s: %w", o.Hash, err)
		}
	}
	sum := sha1.Sum(out.Bytes())
	out.Write(sum[:])
	return io.NopCloser(out), nil
}

func packOne(out *bytes.Buffer, from *scratch, w gittree.Written, thin bool) error {
	kind, content, err := contentOf(from, w.Hash)
	if err != nil {
		return err
	}
	if thin && !w.Instead.IsZero() {
		_, old, err := contentOf(from, w.Instead)
		if err != nil {
			return err
		}
		if d := delta(old, content); len(d) < len(content)/2 {
			packHead(out, plumbing.REFDeltaObject, len(d))
			out.Write(w.Instead[:])
			return from.deflate(out, bytes.NewReader(d))
		}
	}
	packHead(out, kind, len(content))
	return from.deflate(out, bytes.NewReader(content))
}

func contentOf(from *scratch, hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	o, err := from.EncodedObject(plumbing.AnyObject, hash)
	if err != nil {
		return plumbing.InvalidObject, nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return plumbing.InvalidObject, nil, err
	}
	content, err := io.ReadAll(r)
	return o.Type(), content, errors.Join(err, r.Close())
}

// packHead writes type and size: four bits of the size beside the type, then seven in each byte.
func packHead(out *bytes.Buffer, kind plumbing.ObjectType, size int) {
	first := byte(kind)<<4 | byte(size&0xf)
	if size >>= 4; size == 0 {
		out.WriteByte(first)
		return
	}
	out.WriteByte(first | 0x80)
	out.Write(binary.AppendUvarint(nil, uint64(size)))
}
