package argocd

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	k8syaml "sigs.k8s.io/yaml"
)

// listing is a tree's files and folders by name, read once for all generators.
type listing struct {
	fsys    fs.FS
	files   []string // sorted
	folders []string // sorted; none that is hidden, nor below one
	parsed  map[string]parsedFile
}

type parsedFile struct {
	objects []map[string]any
	err     error
}

func newListing(fsys fs.FS) (*listing, error) {
	l := &listing{fsys: fsys, parsed: map[string]parsedFile{}}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() && name != "." && !slices.ContainsFunc(strings.Split(name, "/"), hidden):
			l.folders = append(l.folders, name)
		case entry.Type().IsRegular():
			l.files = append(l.files, name)
		}
		return nil
	})
	slices.Sort(l.files)
	slices.Sort(l.folders)
	return l, err
}

// matching finds the files that a pattern takes, for both meanings of patterns.
func (l *listing) matching(pattern string) (byDefault, byNew []string, err error) {
	g, err := newGlob(pattern)
	if err != nil {
		return nil, nil, err
	}
	prefix := strings.TrimPrefix(pattern, "/")
	if i := strings.IndexAny(prefix, `*?[\{`); i >= 0 {
		prefix = prefix[:i]
	}
	start, _ := slices.BinarySearch(l.files, prefix)
	for _, name := range l.files[start:] {
		if !strings.HasPrefix(name, prefix) {
			break
		}
		old, fresh := g.matches(name)
		if old {
			byDefault = append(byDefault, name)
		}
		if fresh {
			byNew = append(byNew, name)
		}
	}
	return byDefault, byNew, nil
}

// objects reads a file of one object or of a list of them; an empty file is an
// empty object.
func (l *listing) objects(name string) ([]map[string]any, error) {
	if known, read := l.parsed[name]; read {
		return known.objects, known.err
	}
	p := parsedFile{}
	p.objects, p.err = parseObjects(l.fsys, name)
	l.parsed[name] = p
	return p.objects, p.err
}

func parseObjects(fsys fs.FS, name string) ([]map[string]any, error) {
	data, err := readFile(fsys, name)
	if err != nil {
		return nil, err
	}
	var one map[string]any
	if err := k8syaml.Unmarshal(data, &one); err == nil {
		return []map[string]any{one}, nil
	}
	var list []map[string]any
	if err := k8syaml.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s holds neither an object nor a list of objects", name)
	}
	return list, nil
}

// foldersMatching applies the patterns of a directory generator, where leaving
// out goes before taking.
func (l *listing) foldersMatching(patterns []GitPath) ([]string, error) {
	var taken []string
	for _, folder := range l.folders {
		take, leave := false, false
		for _, p := range patterns {
			matched, err := path.Match(p.Path, folder)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q is malformed", p.Path)
			}
			take = take || matched && !p.Exclude
			leave = leave || matched && p.Exclude
		}
		if take && !leave {
			taken = append(taken, folder)
		}
	}
	return taken, nil
}

// filesMatching applies the patterns of a file generator as Argo CD does by
// default. doubt names a file that is taken for one meaning of patterns only.
func (l *listing) filesMatching(patterns []GitPath) (files []string, doubt string, err error) {
	taken := [2]map[string]bool{{}, {}}
	ordered := slices.Clone(patterns)
	slices.SortStableFunc(ordered, func(a, b GitPath) int { return cmp.Compare(order(a), order(b)) })
	for _, p := range ordered {
		byDefault, byNew, err := l.matching(p.Path)
		if err != nil {
			return nil, "", err
		}
		for i, names := range [][]string{byDefault, byNew} {
			for _, name := range names {
				if p.Exclude {
					delete(taken[i], name)
				} else {
					taken[i][name] = true
				}
			}
		}
	}
	for _, name := range l.files {
		if taken[0][name] {
			files = append(files, name)
		}
		if doubt == "" && taken[0][name] != taken[1][name] {
			doubt = name
		}
	}
	return files, doubt, nil
}

// order puts what is left out behind what is taken.
func order(p GitPath) int {
	if p.Exclude {
		return 1
	}
	return 0
}
