package gittree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// entry is one line of a tree object. Its mode is kept as it was written:
// go-git's own reader normalises it, and then a rewrite would change lines that
// nobody asked to change. The zero entry stands for absence.
type entry struct {
	mode string // octal digits
	name string
	hash plumbing.Hash
}

// kind is what a mode says an entry is (git's tree.c, object_type and S_IFMT).
type kind int

const (
	absent kind = iota
	file
	executable
	link
	folder
	submodule
)

const (
	modeFolder = "40000"
	modeFile   = "100644"
)

func (e entry) kind() kind {
	if e.mode == "" {
		return absent
	}
	mode, err := strconv.ParseUint(e.mode, 8, 32)
	if err != nil {
		return submodule
	}
	switch mode & 0o170000 {
	case 0o040000:
		return folder
	case 0o120000:
		return link
	case 0o100000:
		if mode&0o111 != 0 {
			return executable
		}
		return file
	}
	return submodule
}

// isLeaf tells whether an entry is there and no folder.
func (e entry) isLeaf() bool { return e.mode != "" && e.kind() != folder }

// same tells whether two entries stand for the same content; names aside.
func (e entry) same(other entry) bool { return e.hash == other.hash && e.kind() == other.kind() }

// below is the tree of a folder, zero for all else.
func (e entry) below() plumbing.Hash {
	if e.kind() == folder {
		return e.hash
	}
	return plumbing.ZeroHash
}

// sortName is what Git sorts by: folders as if their name ended in a slash.
func (e entry) sortName() string {
	if e.kind() == folder {
		return e.name + "/"
	}
	return e.name
}

// emptyTree is the tree without entries. Git knows it without storing it, and
// keeps none inside another tree.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

// entries reads a tree in stored order. The zero hash is an empty tree.
func entries(objects storer.EncodedObjectStorer, tree plumbing.Hash) ([]entry, error) {
	content, err := stored(objects, tree)
	if err != nil {
		return nil, err
	}
	all, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", tree, err)
	}
	return all, nil
}

// stored is a tree's content, lines of "mode name NUL hash".
func stored(objects storer.EncodedObjectStorer, tree plumbing.Hash) ([]byte, error) {
	if tree.IsZero() || tree == emptyTree {
		return nil, nil
	}
	content, err := read(objects, plumbing.TreeObject, tree)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", tree, err)
	}
	return content, nil
}

func read(objects storer.EncodedObjectStorer, t plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	o, err := objects.EncodedObject(t, hash)
	if err != nil {
		return nil, err
	}
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Up to the end, where damage shows, and in one allocation.
	content := bytes.NewBuffer(make([]byte, 0, o.Size()+bytes.MinRead))
	if _, err := content.ReadFrom(r); err != nil {
		return nil, err
	}
	if int64(content.Len()) != o.Size() {
		return nil, io.ErrUnexpectedEOF
	}
	return content.Bytes(), nil
}

var errMalformed = errors.New("malformed tree")

func decode(content []byte) ([]entry, error) {
	var all []entry
	for len(content) > 0 {
		line, err := firstLine(content)
		if err != nil {
			return nil, err
		}
		e, err := parse(line)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
		content = content[len(line):]
	}
	return all, nil
}

// firstLine is the first line of a tree's content, nil when there is none left.
func firstLine(content []byte) ([]byte, error) {
	if len(content) == 0 {
		return nil, nil
	}
	end := bytes.IndexByte(content, 0)
	if end < 0 || len(content) < end+1+len(plumbing.ZeroHash) {
		return nil, errMalformed
	}
	return content[:end+1+len(plumbing.ZeroHash)], nil
}

func parse(line []byte) (entry, error) {
	end := len(line) - len(plumbing.ZeroHash)
	mode, name, named := strings.Cut(string(line[:end-1]), " ")
	if !named || mode == "" || name == "" {
		return entry{}, errMalformed
	}
	return entry{mode: mode, name: name, hash: plumbing.Hash(line[end:])}, nil
}

func encode(all []entry) []byte {
	var content bytes.Buffer
	for _, e := range all {
		content.WriteString(e.mode + " " + e.name + "\x00")
		content.Write(e.hash[:])
	}
	return content.Bytes()
}

func byName(all []entry) map[string]entry {
	named := make(map[string]entry, len(all))
	for _, e := range all {
		named[e.name] = e
	}
	return named
}

func compareSortNames(a, b entry) int { return strings.Compare(a.sortName(), b.sortName()) }

func indexOf(all []entry, name string) int {
	return slices.IndexFunc(all, func(e entry) bool { return e.name == name })
}
