package gittree

import (
	"io/fs"
	"time"

	"github.com/go-git/go-git/v5/plumbing/storer"
)

// info describes an entry. Git keeps no times and, of permissions, only
// whether a file may be executed.
type info struct {
	entry
	objects storer.EncodedObjectStorer
}

func (i info) Name() string { return i.name }

// Size is the length of a file or of a link's target in bytes. It is asked of
// the store at each call, and 0 for what cannot be read.
func (i info) Size() int64 {
	if i.IsDir() {
		return 0
	}
	size, err := i.objects.EncodedObjectSize(i.hash)
	if err != nil {
		return 0
	}
	return size
}

func (i info) Mode() fs.FileMode {
	switch i.kind() {
	case folder, submodule:
		return fs.ModeDir | 0o755
	case link:
		return fs.ModeSymlink | 0o777
	case executable:
		return 0o755
	}
	return 0o644
}

func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.Mode().IsDir() }
func (i info) Sys() any           { return nil }
