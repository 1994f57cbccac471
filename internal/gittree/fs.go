package gittree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// FS is a read-only view of a tree's files, read when asked for. Symbolic links
// are shown as such and never followed: who reads decides where one may lead,
// so Stat is Lstat. A submodule is an empty folder. Names need not be UTF-8, as
// in Git itself; apart from that paths are those of fs.ValidPath. It is as safe
// for concurrent use as its object store.
type FS struct {
	objects storer.EncodedObjectStorer
	root    plumbing.Hash

	mu      sync.Mutex
	folders map[plumbing.Hash][]entry // by name
}

var (
	_ fs.ReadFileFS = (*FS)(nil)
	_ fs.ReadDirFS  = (*FS)(nil)
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadLinkFS = (*FS)(nil)
)

// New is a view of the tree with this hash; the zero hash is an empty tree.
func New(objects storer.EncodedObjectStorer, tree plumbing.Hash) *FS {
	return &FS{objects: objects, root: tree, folders: map[plumbing.Hash][]entry{}}
}

// folder is a tree's entries by name. One that names an entry twice is refused:
// readers would disagree about which of the two it holds.
func (f *FS) folder(tree plumbing.Hash) ([]entry, error) {
	f.mu.Lock()
	all, known := f.folders[tree]
	f.mu.Unlock()
	if known {
		return all, nil
	}
	all, err := entries(f.objects, tree)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(all); i++ {
		if all[i].name == all[i-1].name {
			return nil, fmt.Errorf("tree %s names %q twice", tree, all[i].name)
		}
	}
	f.mu.Lock()
	f.folders[tree] = all
	f.mu.Unlock()
	return all, nil
}

// find walks to an entry. Its name is the last part of the path.
func (f *FS) find(op, name string) (entry, error) {
	at := entry{mode: modeFolder, name: path.Base(name), hash: f.root}
	if !validPath(name) {
		return at, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		all, err := f.folder(at.below())
		if err != nil {
			return at, &fs.PathError{Op: op, Path: name, Err: err}
		}
		i, found := slices.BinarySearchFunc(all, part, func(e entry, name string) int { return strings.Compare(e.name, name) })
		if !found {
			return at, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		at = all[i]
	}
	return at, nil
}

func validPath(name string) bool { return fs.ValidPath(strings.ToValidUTF8(name, "?")) }

// Open opens a file or folder. A file is streamed.
func (f *FS) Open(name string) (fs.File, error) {
	e, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	switch e.kind() {
	case folder, submodule:
		listed, err := f.list(e)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &openFolder{info: info{e, f.objects}, listed: listed}, nil
	case link:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIsLink}
	}
	blob, err := object.GetBlob(f.objects, e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("blob %s: %w", e.hash, err)}
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{ReadCloser: r, info: info{e, f.objects}}, nil
}

var (
	errIsLink   = errors.New("is a symbolic link, which is not followed")
	errIsFolder = errors.New("is a folder")
	errNoFolder = errors.New("is no folder")
)

// ReadFile reads a whole file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	e, err := f.find("read", name)
	if err != nil {
		return nil, err
	}
	switch e.kind() {
	case folder, submodule:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsFolder}
	case link:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsLink}
	}
	return f.content("read", name, e)
}

func (f *FS) content(op, name string, e entry) ([]byte, error) {
	content, err := read(f.objects, plumbing.BlobObject, e.hash)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("blob %s: %w", e.hash, err)}
	}
	return content, nil
}

// ReadDir lists a folder by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	listed, err := f.list(e)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return listed, nil
}

func (f *FS) list(e entry) ([]fs.DirEntry, error) {
	if e.kind() != folder && e.kind() != submodule {
		return nil, errNoFolder
	}
	all, err := f.folder(e.below())
	if err != nil {
		return nil, err
	}
	listed := make([]fs.DirEntry, len(all))
	for i, child := range all {
		listed[i] = fs.FileInfoToDirEntry(info{child, f.objects})
	}
	return listed, nil
}

// Stat describes an entry; a link is described itself, as by Lstat.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.Lstat(name) }

// Lstat describes an entry.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	e, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return info{e, f.objects}, nil
}

// ReadLink returns where a symbolic link points.
func (f *FS) ReadLink(name string) (string, error) {
	e, err := f.find("readlink", name)
	if err != nil {
		return "", err
	}
	if e.kind() != link {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	target, err := f.content("readlink", name, e)
	return string(target), err
}

type openFile struct {
	io.ReadCloser
	info fs.FileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type openFolder struct {
	info   fs.FileInfo
	listed []fs.DirEntry // what was not read yet
}

func (d *openFolder) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openFolder) Close() error               { return nil }

func (d *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: errIsFolder}
}

func (d *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.listed) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.listed) {
		n = len(d.listed)
	}
	next := d.listed[:n:n]
	d.listed = d.listed[n:]
	return next, nil
}
