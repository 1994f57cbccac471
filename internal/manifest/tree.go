package manifest

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

const (
	maxFileBytes = 1 << 20
	maxLinks     = 40 // as many symbolic links in one path as Linux follows
)

// tree reads one fs.FS for the length of one operation: it resolves symbolic
// links itself so that none leaves the root, holds the size limit, and keeps
// what it read, so that the rendering before and after an edit see the same
// files. Paths are relative to the root, with forward slashes, "." for the
// root. The first refused access is kept in refusal, because a renderer may
// swallow the error and go on.
type tree struct {
	fsys     fs.FS
	files    map[string][]byte // read so far, and edited, by resolved path
	resolved map[string]resolution
	refusal  *Refusal

	ownSchema bool     // something reached brings its own OpenAPI schema
	unscanned *Refusal // something reached could not be checked, so it is not rendered
}

type resolution struct {
	path string
	dir  bool
	err  error
}

func newTree(fsys fs.FS) *tree {
	return &tree{fsys: fsys, files: map[string][]byte{}, resolved: map[string]resolution{}}
}

// edited returns the same tree with some files replaced, sharing what was read.
func (t *tree) edited(files map[string][]byte) *tree {
	next := &tree{
		fsys: t.fsys, files: make(map[string][]byte, len(t.files)), resolved: t.resolved,
		ownSchema: t.ownSchema, unscanned: t.unscanned,
	}
	for name, data := range t.files {
		next.files[name] = data
	}
	for name, data := range files {
		next.files[name] = data
	}
	return next
}

// resolve follows symbolic links. It returns the real path and whether it is a
// folder; the error is fs.ErrNotExist or a *Refusal with code path-escape.
func (t *tree) resolve(name string) (string, bool, error) {
	r, known := t.resolved[name]
	if !known {
		r.path, r.dir, r.err = t.follow(name)
		t.resolved[name] = r
	}
	t.note(r.err)
	return r.path, r.dir, r.err
}

func (t *tree) follow(name string) (string, bool, error) {
	escape := refuse(PathEscape, name, 0, "the path leaves the repository")
	if path.IsAbs(name) || strings.ContainsRune(name, 0) {
		return "", false, escape
	}
	rest, real, dir := strings.Split(path.Clean(name), "/"), ".", true
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "." || part == "":
			continue
		case part == ".." && real == ".":
			return "", false, escape
		case part == "..":
			real, dir = path.Dir(real), true
			continue
		case !dir:
			return "", false, fs.ErrNotExist
		}
		next := path.Join(real, part)
		info, err := fs.Lstat(t.fsys, next)
		if err != nil {
			return "", false, fs.ErrNotExist
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if !info.IsDir() && !info.Mode().IsRegular() {
				return "", false, fs.ErrNotExist
			}
			real, dir = next, info.IsDir()
			continue
		}
		target, err := fs.ReadLink(t.fsys, next)
		if links++; err != nil || links > maxLinks || path.IsAbs(target) {
			return "", false, refuse(PathEscape, next, 0, "the symbolic link leaves the repository")
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return real, dir, nil
}

// read returns a file's content, which the caller must not change.
func (t *tree) read(name string) ([]byte, error) {
	real, dir, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	if dir {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	if data, ok := t.files[real]; ok {
		return data, nil
	}
	file, err := t.fsys.Open(real)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		err := refuse(TooLarge, real, 0, "the file is over 1 MiB")
		t.note(err)
		return nil, err
	}
	t.files[real] = data
	return data, nil
}

// list returns the names in a folder, sorted.
func (t *tree) list(name string) ([]string, error) {
	real, _, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(t.fsys, real)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (t *tree) note(err error) {
	var r *Refusal
	if t.refusal == nil && errors.As(err, &r) {
		t.refusal = r
	}
}
