package argocd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

const maxFileBytes = 1 << 20

// Found is what the files of a config repository say about Argo CD.
type Found struct {
	Applications    []Application
	ApplicationSets []ApplicationSet
	Projects        []Project
	Problems        []Problem
}

// Problem is something that could not be read or expanded, and why.
type Problem struct {
	Place
	Message string
}

func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Read finds the Applications, ApplicationSets and AppProjects that stand in
// the YAML files of some folders, "." if none is given, and below, in the order
// of their paths. A folder that is missing has none. They are read as they are
// written, not as a kustomization or a chart would render them: a file with
// templates is a problem, and what only patches one of them has no sources.
// Links, folders and files that start with a dot, and files over 1 MiB are passed
// over. The error is what walking fsys returned.
func Read(fsys fs.FS, folders ...string) (Found, error) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	var found Found
	seen := map[string]bool{}
	for _, folder := range folders {
		err := fs.WalkDir(fsys, path.Clean(folder), func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil && name == path.Clean(folder) && errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return fmt.Errorf("read %s: %w", name, err)
			case entry.IsDir() && hidden(name):
				return fs.SkipDir
			case !entry.Type().IsRegular() || hidden(name) || !isYAML(name) || seen[name]:
				return nil
			}
			seen[name] = true
			data, err := readFile(fsys, name)
			if errors.Is(err, errTooLarge) {
				return nil
			}
			if err == nil && bytes.Contains(data, []byte(apiVersion)) {
				found.file(name, data)
			}
			return err
		})
		if err != nil {
			return Found{}, err
		}
	}
	slices.SortStableFunc(found.Problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	return found, nil
}

func hidden(name string) bool {
	base := path.Base(name)
	return base != "." && strings.HasPrefix(base, ".")
}

func isYAML(name string) bool {
	extension := path.Ext(name)
	return extension == ".yaml" || extension == ".yml"
}

var errTooLarge = errors.New("the file is over 1 MiB")

func readFile(fsys fs.FS, name string) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("read %s: %w", name, errTooLarge)
	}
	return data, nil
}

// file takes the documents of a file apart, so that a broken one does not hide
// the others.
func (f *Found) file(name string, data []byte) {
	line := 1
	for _, text := range documents(data) {
		if bytes.Contains(text, []byte(apiVersion)) {
			f.document(name, line, text)
		}
		line += bytes.Count(text, []byte("\n"))
	}
}

// documents splits where a line starts with ---, as Kubernetes does; the
// pieces are the whole file.
func documents(data []byte) [][]byte {
	var parts [][]byte
	for {
		i := bytes.Index(data, []byte("\n---"))
		if i < 0 {
			return append(parts, data)
		}
		parts = append(parts, data[:i+1])
		data = data[i+1:]
	}
}

// errorLine is a line that the parser counts from the document's start, and not
// always well.
var errorLine = regexp.MustCompile(`line \d+: `)

func (f *Found) document(name string, line int, text []byte) {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		message := "not YAML: " + errorLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
		if bytes.Contains(text, []byte("{{")) {
			message = "a template, which is not read before it is rendered"
		}
		f.Problems = append(f.Problems, Problem{Place{name, line}, message})
		return
	}
	if len(node.Content) == 0 || expands(&node) {
		if len(node.Content) > 0 {
			f.Problems = append(f.Problems, Problem{Place{name, line}, "its aliases expand without measure"})
		}
		return
	}
	shift(&node, line-1)
	var object map[string]any
	if err := k8syaml.Unmarshal(text, &object); err != nil {
		f.Problems = append(f.Problems, Problem{Place{name, line}, "not a Kubernetes object: " + err.Error()})
		return
	}
	f.object(name, object, node.Content[0])
}

// object takes lists apart.
func (f *Found) object(name string, object map[string]any, node *yaml.Node) {
	at := Place{name, node.Line}
	var err error
	switch kindOf(object) {
	case "Application":
		var a Application
		if a, err = readApplication(object, at, node); err == nil {
			f.Applications = append(f.Applications, a)
		}
	case "ApplicationSet":
		var s ApplicationSet
		if s, err = readSet(object, at, node); err == nil {
			f.ApplicationSets = append(f.ApplicationSets, s)
		}
	case "AppProject":
		var p Project
		if p, err = readProject(object, at, node); err == nil {
			f.Projects = append(f.Projects, p)
		}
	default:
		items, _ := object["items"].([]any)
		_, nodes := child(node, "items")
		for i, item := range items {
			inner, isObject := item.(map[string]any)
			if _, n := child(nodes, strconv.Itoa(i)); isObject && n != nil {
				f.object(name, inner, n)
			}
		}
	}
	if err != nil {
		f.Problems = append(f.Problems, Problem{at, err.Error()})
	}
}
