package manifest

import (
	"bytes"
	"io"
	"io/fs"
)

// Edited is fsys after an edit: these files, which it has, have the new contents. Edits go on top of each other by it.
func Edited(fsys fs.FS, files map[string][]byte) fs.FS { return editedFS{fsys, files} }

type editedFS struct {
	fs.FS
	files map[string][]byte
}

func (f editedFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	data, edited := f.files[name]
	if err != nil || !edited {
		return file, err
	}
	return editedFile{file, bytes.NewReader(data)}, nil
}

func (f editedFS) Lstat(name string) (fs.FileInfo, error)     { return fs.Lstat(f.FS, name) }
func (f editedFS) ReadLink(name string) (string, error)       { return fs.ReadLink(f.FS, name) }
func (f editedFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// editedFile reads the new content; the rest is as it was.
type editedFile struct {
	fs.File
	content io.Reader
}

func (f editedFile) Read(p []byte) (int, error) { return f.content.Read(p) }
