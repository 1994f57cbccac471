package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes is as large as a file may be that is read; manifests are refused
// above it, so nothing is deployed from one.
const maxFileBytes = 1 << 20

// files are the text files of a tree, by path.
type files struct {
	names  []string // sorted
	byName map[string]*file
}

// file is one text file. Its YAML is parsed when first asked for.
type file struct {
	name string
	data []byte

	once    sync.Once
	docs    []*yaml.Node // top nodes, up to where the YAML breaks off
	objects []source
}

// readFiles reads what is text and not too large. Symbolic links are passed
// over, since what they lead to is read under its own name.
func readFiles(ctx context.Context, tree fs.FS, only []string) (*files, error) {
	read := &files{byName: map[string]*file{}}
	if len(only) == 0 {
		only = []string{"."}
	}
	for _, folder := range only {
		if err := read.add(ctx, tree, folder); err != nil {
			return nil, fmt.Errorf("read the repository: %w", err)
		}
	}
	slices.Sort(read.names)
	return read, nil
}

// add reads the files below a folder; one that is not there has none.
func (f *files) add(ctx context.Context, tree fs.FS, folder string) error {
	return fs.WalkDir(tree, folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == folder:
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		data, err := readText(tree, name)
		if err == nil && data != nil {
			f.names = append(f.names, name)
			f.byName[name] = &file{name: name, data: data}
		}
		return err
	})
}

// readText returns nil for what is not text or too large.
func readText(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return nil, nil
	}
	return data, nil
}

// text gives a file's content; nil when there is no such file.
func (f *files) text(name string) []byte {
	if found := f.byName[name]; found != nil {
		return found.data
	}
	return nil
}

// kustomization gives the kustomization file of a folder, or nil.
func (f *files) kustomization(dir string) *file {
	for _, name := range kustomizationNames() {
		if found := f.byName[path.Join(dir, name)]; found != nil {
			return found
		}
	}
	return nil
}

func kustomizationNames() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

func isKustomization(name string) bool {
	base := path.Base(name)
	return strings.TrimSuffix(strings.TrimSuffix(base, ".yaml"), ".yml") == "kustomization" || base == "Kustomization"
}

// parse reads the YAML documents of a file, up to the first that is none: a
// Helm template is no YAML.
func parse(data []byte) []*yaml.Node {
	var docs []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) || err != nil {
			return docs
		}
		if len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
		}
	}
}

func (f *file) load() {
	f.once.Do(func() {
		if !isYAML(f.name) {
			return
		}
		f.docs = parse(f.data)
		f.objects = sources(f)
	})
}

func isYAML(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return path.Base(name) == "Kustomization"
}
