package manifest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Restoration says what goes back to what it was.
type Restoration struct {
	Overlay string
	Base    bool // the rest of the application's folder too, which its other overlays share
	Secrets bool // files with secrets too; otherwise today's stay
}

// Restored are the edits that a restoration needs.
type Restored struct {
	Files   map[string][]byte // whole contents by path
	Deletes []string          // files that did not exist then
	Kept    []string          // files with secrets that stay as they are today
	Lost    []string          // files with secrets that are gone today, and are not brought back
	Revived []string          // files with secrets that go back to what they were: credentials revoked since, keys lost since
}

// Restore compares the overlay's files today with those of then, and says what to write and delete so that they are equal.
// Symbolic links are not followed: one that differs is refused, as is a file over 1 MiB.
func Restore(today, then fs.FS, r Restoration) (Restored, error) {
	out := Restored{Files: map[string][]byte{}}
	now, err := filesBelow(today, r)
	if err != nil {
		return out, err
	}
	old, err := filesBelow(then, r)
	if err != nil {
		return out, err
	}
	if len(old) == 0 {
		return out, refuse(NoKustomization, r.Overlay, 0, "the overlay did not exist at that commit")
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(keys(now), keys(old)...)))) {
		was, existed := old[name]
		is, exists := now[name]
		secret := holdsSecret(name, was) || holdsSecret(name, is)
		switch {
		case existed && exists && bytes.Equal(was, is):
		case secret && !r.Secrets && exists:
			out.Kept = append(out.Kept, name)
		case secret && !r.Secrets:
			out.Lost = append(out.Lost, name)
		case !existed:
			out.Deletes = append(out.Deletes, name)
		default:
			out.Files[name] = was
			if secret {
				out.Revived = append(out.Revived, name)
			}
		}
	}
	return out, nil
}

func keys(files map[string][]byte) []string {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	return names
}

// filesBelow reads what a restoration is about. A base is everything in the application's folder but its overlays.
func filesBelow(fsys fs.FS, r Restoration) (map[string][]byte, error) {
	files := map[string][]byte{}
	overlays := path.Dir(r.Overlay)
	roots := []string{r.Overlay}
	if r.Base {
		roots = append(roots, path.Dir(overlays))
	}
	for _, root := range roots {
		err := fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && name == overlays:
				return fs.SkipDir
			case d.IsDir():
				return nil
			}
			files[name], err = wholeFile(fsys, name, d)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// wholeFile reads a file; of a link it is where the link points, so that an unchanged one compares equal.
func wholeFile(fsys fs.FS, name string, d fs.DirEntry) ([]byte, error) {
	if d.Type()&fs.ModeSymlink != 0 {
		to, err := fs.ReadLink(fsys, name)
		return []byte("link to " + to), err
	}
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if len(data) > maxFileBytes {
		return nil, refuse(TooLarge, name, 0, "the file is over 1 MiB")
	}
	return data, err
}

// holdsSecret tells whether a file is where credentials come from, sealed or not.
func holdsSecret(name string, data []byte) bool {
	if strings.HasSuffix(name, ".env") || strings.Contains(path.Base(name), ".enc.") {
		return true
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var head struct {
			Kind string    `yaml:"kind"`
			Sops yaml.Node `yaml:"sops"`
		}
		if err := documents.Decode(&head); err != nil {
			return false
		}
		if slices.Contains([]string{"Secret", "SealedSecret", "ExternalSecret"}, head.Kind) || !head.Sops.IsZero() {
			return true
		}
	}
}
