package gittree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// FS is a read-only view of a tree's files. Symbolic links are shown as such
// and never followed: who reads decides where one may lead. A submodule is an empty folder. It is safe
// for concurrent use.
type FS struct {
	objects storer.EncodedObjectStorer
	root    plumbing.Hash

	mu    sync.Mutex
	trees map[plumbing.Hash]*object.Tree
}

var (
	_ fs.ReadFileFS = (*FS)(nil)
	_ fs.ReadDirFS  = (*FS)(nil)
	_ fs.StatFS     = (*FS)(nil)
	_ fs.ReadLinkFS = (*FS)(nil)
)

// New is a view of the tree with this hash.
func New(objects storer.EncodedObjectStorer, tree plumbing.Hash) *FS {
	return &FS{objects: objects, root: tree, trees: map[plumbing.Hash]*object.Tree{}}
}

func (f *FS) tree(hash plumbing.Hash) (*object.Tree, error) {
	f.mu.Lock()
	t, known := f.trees[hash]
	f.mu.Unlock()
	if known {
		return t, nil
	}
	t, err := object.GetTree(f.objects, hash)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", hash, err)
	}
	f.mu.Lock()
	f.trees[hash] = t
	f.mu.Unlock()
	return t, nil
}

// find walks to an entry without following links.
func (f *FS) find(name string) (object.TreeEntry, error) {
	at := object.TreeEntry{Name: ".", Mode: filemode.Dir, Hash: f.root}
	if name == "." {
		return at, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		if at.Mode != filemode.Dir {
			return at, fs.ErrNotExist
		}
		t, err := f.tree(at.Hash)
		if err != nil {
			return at, err
		}
		next := entryNamed(t, part)
		if next == nil {
			return at, fs.ErrNotExist
		}
		at = *next
	}
	return at, nil
}

func entryNamed(t *object.Tree, name string) *object.TreeEntry {
	for i := range t.Entries {
		if t.Entries[i].Name == name {
			return &t.Entries[i]
		}
	}
	return nil
}

func (f *FS) lookUp(op, name string) (object.TreeEntry, error) {
	if !fs.ValidPath(name) {
		return object.TreeEntry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	e, err := f.find(name)
	if err != nil {
		return e, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, nil
}

// Open opens a file or folder.
func (f *FS) Open(name string) (fs.File, error) {
	e, err := f.lookUp("open", name)
	if err != nil {
		return nil, err
	}
	if e.Mode == filemode.Dir || e.Mode == filemode.Submodule {
		entries, err := f.ReadDir(name)
		return &openDir{info: f.info(e), entries: entries}, err
	}
	blob, err := f.blob("open", name, e)
	if err != nil {
		return nil, err
	}
	r, err := blob.Reader()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &openFile{ReadCloser: r, info: f.info(e)}, nil
}

// ReadFile reads a whole file.
func (f *FS) ReadFile(name string) ([]byte, error) {
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var content bytes.Buffer
	if _, err := content.ReadFrom(file); err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content.Bytes(), nil
}

func (f *FS) blob(op, name string, e object.TreeEntry) (*object.Blob, error) {
	if e.Mode == filemode.Symlink {
		return nil, &fs.PathError{Op: op, Path: name, Err: errors.New("is a symbolic link, which is not followed")}
	}
	blob, err := object.GetBlob(f.objects, e.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return blob, nil
}

// ReadDir lists a folder by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.lookUp("readdir", name)
	if err != nil {
		return nil, err
	}
	if e.Mode == filemode.Submodule {
		return nil, nil
	}
	if e.Mode != filemode.Dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("is no folder")}
	}
	t, err := f.tree(e.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	entries := make([]fs.DirEntry, len(t.Entries))
	for i, child := range t.Entries {
		entries[i] = fs.FileInfoToDirEntry(f.info(child))
	}
	return byName(entries), nil
}

// Stat describes an entry; a link is described itself, as by Lstat.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.Lstat(name) }

// Lstat describes an entry.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	e, err := f.lookUp("stat", name)
	if err != nil {
		return nil, err
	}
	e.Name = path.Base(name)
	return f.info(e), nil
}

// ReadLink returns where a symbolic link points.
func (f *FS) ReadLink(name string) (string, error) {
	e, err := f.lookUp("readlink", name)
	if err != nil {
		return "", err
	}
	if e.Mode != filemode.Symlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	blob, err := object.GetBlob(f.objects, e.Hash)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	r, err := blob.Reader()
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	defer r.Close()
	target, err := io.ReadAll(r)
	return string(target), err
}

func (f *FS) info(e object.TreeEntry) fs.FileInfo {
	return &info{entry: e, objects: f.objects}
}

// info describes an entry. Its size is read from the store only when asked for.
type info struct {
	entry   object.TreeEntry
	objects storer.EncodedObjectStorer
}

func (i *info) Name() string { return i.entry.Name }

func (i *info) Size() int64 {
	if i.entry.Mode == filemode.Dir || i.entry.Mode == filemode.Submodule {
		return 0
	}
	size, err := i.objects.EncodedObjectSize(i.entry.Hash)
	if err != nil {
		return 0
	}
	return size
}

func (i *info) Mode() fs.FileMode {
	switch i.entry.Mode {
	case filemode.Dir, filemode.Submodule:
		return fs.ModeDir | 0o755
	case filemode.Symlink:
		return fs.ModeSymlink | 0o777
	case filemode.Executable:
		return 0o755
	}
	return 0o644
}

func (i *info) ModTime() time.Time { return time.Time{} }
func (i *info) IsDir() bool        { return i.Mode().IsDir() }
func (i *info) Sys() any           { return nil }

type openFile struct {
	io.ReadCloser
	info fs.FileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type openDir struct {
	info    fs.FileInfo
	entries []fs.DirEntry
	read    int
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: errors.New("is a folder")}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.entries[d.read:]
	if n <= 0 {
		d.read = len(d.entries)
		return rest, nil
	}
	if len(rest) == 0 {
		return nil, io.EOF
	}
	rest = rest[:min(n, len(rest))]
	d.read += len(rest)
	return rest, nil
}
