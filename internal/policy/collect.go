package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Collect implements promotion.Policies. It lists the folders that the root's file says applications are in, or apps where it says
// none or cannot be read, and reads nothing but policy files. What is in the place of one and is no plain file, or what would be
// taken for one and is not, is a fault; Parse's faults come with it then. A file over MaxSize comes in part, for Parse to refuse.
func (reader Reader) Collect(tree fs.FS) (promotion.PolicyFiles, error) {
	c := collection{tree: tree, files: promotion.PolicyFiles{}}
	if err := c.file("."); err != nil {
		return nil, err
	}
	root := readRoot(newSource(File), c.files[File])
	seen := map[string]string{}
	for i, folder := range root.layout.Roots {
		applications, err := c.folders(folder)
		if err != nil {
			return nil, err
		}
		for _, name := range applications {
			at := path.Join(folder, name)
			if err := c.file(at); err != nil {
				return nil, err
			}
			if !c.isApplication(at) {
				continue
			}
			if other, taken := seen[name]; taken && !c.has(at, other) {
				c.fault(File, root.rootLines[i], SameApplication, "%s and %s are applications of the same name: rename one", other, at)
			}
			seen[name] = at
		}
	}
	if len(c.faults) == 0 {
		return c.files, nil
	}
	var more promotion.PolicyFaults
	if _, err := reader.Parse(c.files); errors.As(err, &more) {
		c.faults = append(c.faults, more...)
	}
	return nil, c.faults
}

type collection struct {
	tree   fs.FS
	files  promotion.PolicyFiles
	faults promotion.PolicyFaults
}

func (c *collection) fault(file string, line int, code, format string, args ...any) {
	c.faults = append(c.faults, promotion.PolicyFault{File: file, Line: line, Code: code, Message: fmt.Sprintf(format, args...)})
}

// file takes the policy file of a folder, if it has one.
func (c *collection) file(folder string) error {
	name := path.Join(folder, File)
	const mistaken = "sluice.yml"
	if _, err := fs.Lstat(c.tree, path.Join(folder, mistaken)); err == nil {
		c.fault(path.Join(folder, mistaken), 0, NotAFile, "is not read: call it %s", File)
	}
	info, err := fs.Lstat(c.tree, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look for %s: %w", name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		c.fault(name, 0, NotAFile, "is a symbolic link: a change of what it leads to would not look like one of the policy; copy the file here")
		return nil
	case !info.Mode().IsRegular():
		c.fault(name, 0, NotAFile, "is no file")
		return nil
	}
	file, err := c.tree.Open(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	c.files[name] = string(text)
	return nil
}

// folders lists the folders of a root by name, but no links and nothing hidden; none when there is no such root.
func (c *collection) folders(root string) ([]string, error) {
	info, err := fs.Lstat(c.tree, root)
	if err != nil || !info.IsDir() {
		return nil, nil
	}
	entries, err := fs.ReadDir(c.tree, root)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", root, err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// isApplication tells applications from other folders beside them: they have overlays, or a policy.
func (c *collection) isApplication(folder string) bool {
	info, err := fs.Lstat(c.tree, path.Join(folder, "overlays"))
	return err == nil && info.IsDir() || c.has(folder)
}

// has tells whether all the folders have a policy file.
func (c *collection) has(folders ...string) bool {
	for _, folder := range folders {
		if _, found := c.files[path.Join(folder, File)]; !found {
			return false
		}
	}
	return true
}
