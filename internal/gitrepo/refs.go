package gitrepo

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// refs are branches of the remote. A map is never changed once it is shared.
type refs map[plumbing.ReferenceName]plumbing.Hash

// with is a copy in which one ref is elsewhere; the zero hash removes it.
func (r refs) with(name plumbing.ReferenceName, at plumbing.Hash) refs {
	changed := refs{}
	maps.Copy(changed, r)
	if at.IsZero() {
		delete(changed, name)
	} else {
		changed[name] = at
	}
	return changed
}

// without lists the commits that no ref of the others is at.
func (r refs) without(others refs) []plumbing.Hash {
	have := map[plumbing.Hash]bool{}
	for _, hash := range others {
		have[hash] = true
	}
	var missing []plumbing.Hash
	for _, hash := range r {
		if !have[hash] {
			missing = append(missing, hash)
			have[hash] = true
		}
	}
	return missing
}

// The mirror's refs are kept in one file of Git's own format, so that they
// change together and git can read the mirror (gitrepository-layout, packed-refs).
const (
	refsFile   = "packed-refs"
	refsHeader = "# pack-refs with: peeled fully-peeled sorted \n"
)

func loadRefs(dir string) (refs, error) {
	content, err := os.ReadFile(filepath.Join(dir, refsFile))
	if err != nil {
		return nil, err
	}
	lines, found := strings.CutPrefix(string(content), refsHeader)
	if !found {
		return nil, fmt.Errorf("%s is damaged", refsFile)
	}
	loaded := refs{}
	for line := range strings.Lines(lines) {
		hash, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !found || !plumbing.IsHash(hash) {
			return nil, fmt.Errorf("%s is damaged", refsFile)
		}
		loaded[plumbing.ReferenceName(name)] = plumbing.NewHash(hash)
	}
	return loaded, nil
}

// save replaces the file as a whole. Objects are stored before the refs that
// lead to them, so whatever a saved ref leads to is there.
func (r refs) save(dir string) error {
	content := bytes.NewBufferString(refsHeader)
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(content, "%s %s\n", r[name], name)
	}
	file := filepath.Join(dir, refsFile)
	if err := os.WriteFile(file+".new", content.Bytes(), 0o600); err != nil {
		return errors.Join(err, os.Remove(file+".new"))
	}
	return os.Rename(file+".new", file)
}
