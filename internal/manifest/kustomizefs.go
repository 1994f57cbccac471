package manifest

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// mount is where kustomize sees the root of the tree. It is not "/", so that a
// path which climbs out of the tree is noticed and not cleaned away.
const mount = "/repository-root"

// kustomizeFS shows a tree to kustomize as a read-only file system below mount.
// Nothing is copied, so the cost follows what an overlay reads.
type kustomizeFS struct{ tree *tree }

var (
	_           filesys.FileSystem = kustomizeFS{}
	errReadOnly                    = errors.New("the file system is read-only")
)

// inside turns kustomize's absolute path into one relative to the root.
func inside(name string) string {
	name = path.Clean(filepath.ToSlash(name))
	if name == mount {
		return "."
	}
	if below, ok := strings.CutPrefix(name, mount+"/"); ok {
		return below
	}
	return path.Join("..", name) // resolving it is refused
}

func (k kustomizeFS) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	real, dir, err := k.tree.resolve(inside(name))
	if err != nil {
		return "", "", &fs.PathError{Op: "open", Path: inside(name), Err: err}
	}
	if dir {
		return filesys.ConfirmedDir(path.Join(mount, real)), "", nil
	}
	return filesys.ConfirmedDir(path.Join(mount, path.Dir(real))), path.Base(real), nil
}

func (k kustomizeFS) IsDir(name string) bool {
	_, dir, err := k.tree.resolve(inside(name))
	return err == nil && dir
}

func (k kustomizeFS) Exists(name string) bool {
	_, _, err := k.tree.resolve(inside(name))
	return err == nil
}

func (k kustomizeFS) ReadFile(name string) ([]byte, error)  { return k.tree.read(inside(name)) }
func (k kustomizeFS) ReadDir(name string) ([]string, error) { return k.tree.list(inside(name)) }
func (kustomizeFS) Open(string) (filesys.File, error)       { return nil, errReadOnly }
func (kustomizeFS) Glob(string) ([]string, error)           { return nil, errReadOnly }
func (kustomizeFS) Walk(string, filepath.WalkFunc) error    { return errReadOnly }
func (kustomizeFS) Create(string) (filesys.File, error)     { return nil, errReadOnly }
func (kustomizeFS) Mkdir(string) error                      { return errReadOnly }
func (kustomizeFS) MkdirAll(string) error                   { return errReadOnly }
func (kustomizeFS) RemoveAll(string) error                  { return errReadOnly }
func (kustomizeFS) WriteFile(string, []byte) error          { return errReadOnly }
