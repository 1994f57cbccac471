package gitrepo

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// A delta (gitformat-pack, deltified representation) is the size of the old and of
// the new object, and then steps, each of which copies a stretch of the old one or
// inserts up to 127 bytes.

// delta makes content from old by one replacement, which is what an edit is. It
// copies what both begin with, inserts, and copies what both end with.
func delta(old, content []byte) []byte {
	begin, end := 0, 0
	for begin < min(len(old), len(content)) && old[begin] == content[begin] {
		begin++
	}
	for end < min(len(old), len(content))-begin && old[len(old)-1-end] == content[len(content)-1-end] {
		end++
	}
	d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(old))), uint64(len(content)))
	d = appendCopy(d, 0, begin)
	for insert := content[begin : len(content)-end]; len(insert) > 0; {
		n := min(len(insert), 0x7f)
		d = append(append(d, byte(n)), insert[:n]...)
		insert = insert[n:]
	}
	return appendCopy(d, len(old)-end, end)
}

// appendCopy copies a stretch of the old object, given by offset and size in bytes.
func appendCopy(d []byte, offset, size int) []byte {
	const most = 0xffff // what two bytes of size hold
	for size > 0 {
		n := min(size, most)
		d = append(d, 0x80|0x0f|0x30) // four bytes of offset and two of size follow
		d = binary.LittleEndian.AppendUint32(d, uint32(offset))
		d = binary.LittleEndian.AppendUint16(d, uint16(n))
		offset, size = offset+n, size-n
	}
	return d
}

// resultSize is how large what a delta makes will be.
func resultSize(delta []byte) (int64, error) {
	_, size, _, err := sizes(delta)
	return size, err
}

func sizes(delta []byte) (old, result int64, steps []byte, err error) {
	from, n := binary.Uvarint(delta)
	to, m := binary.Uvarint(delta[max(n, 0):])
	if n <= 0 || m <= 0 || from > math.MaxInt64 || to > math.MaxInt64 {
		return 0, 0, nil, packfile.ErrInvalidDelta
	}
	return int64(from), int64(to), delta[n+m:], nil
}

// patch writes what a delta makes of an old object.
func patch(to io.Writer, old, delta []byte) error {
	from, left, steps, err := sizes(delta)
	if err != nil || from != int64(len(old)) {
		return packfile.ErrInvalidDelta
	}
	for len(steps) > 0 {
		var stretch []byte
		if stretch, steps, err = step(old, steps); err != nil {
			return err
		}
		if left -= int64(len(stretch)); left < 0 {
			return packfile.ErrInvalidDelta
		}
		if _, err := to.Write(stretch); err != nil {
			return err
		}
	}
	if left != 0 {
		return packfile.ErrInvalidDelta
	}
	return nil
}

// step takes the first step and returns what it writes and the steps that are left.
func step(old, steps []byte) (stretch, rest []byte, err error) {
	op, rest := steps[0], steps[1:]
	if op&0x80 == 0 {
		if op == 0 || len(rest) < int(op) {
			return nil, nil, packfile.ErrInvalidDelta
		}
		return rest[:op], rest[op:], nil
	}
	var given [7]byte // four of the offset, three of the size: those whose bit is set are there
	for i := range given {
		if op&(1<<i) != 0 {
			if len(rest) == 0 {
				return nil, nil, packfile.ErrInvalidDelta
			}
			given[i], rest = rest[0], rest[1:]
		}
	}
	offset := int(binary.LittleEndian.Uint32(given[:4]))
	size := int(given[4]) | int(given[5])<<8 | int(given[6])<<16
	if size == 0 {
		size = 0x10000
	}
	if offset > len(old) || size > len(old)-offset {
		return nil, nil, packfile.ErrInvalidDelta
	}
	return old[offset : offset+size], rest, nil
}
