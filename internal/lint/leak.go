package lint

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicehq/sluice/internal/manifest"
)

// fingerprint stands for a secret value, so that one is known again without
// being kept. It is never shown.
type fingerprint [sha256.Size]byte

// leak is a place that gives secrets away.
type leak struct {
	file      string
	line, end int      // the first secret, and the last line that the leak speaks for
	object    string   // empty outside a Secret and its generator
	keys      []string // of the Secret that are readable, or what has the shape of a credential
	values    []fingerprint
	commit    *Commit // that brought it in, as far as the history is known
	gone      bool    // from the tree; the history still has it
}

// leakScanner looks for leaks in the files of one tree.
type leakScanner struct {
	read    func(name string) []byte // nil when there is no such text file
	sources map[string]map[string]secretSource
}

func newLeakScanner(read func(string) []byte) *leakScanner {
	return &leakScanner{read: read, sources: map[string]map[string]secretSource{}}
}

func readerOf(tree fs.FS) func(string) []byte {
	return func(name string) []byte {
		if tree == nil {
			return nil
		}
		data, err := readText(tree, name)
		if err != nil {
			return nil // removed, a link, a submodule
		}
		return data
	}
}

// scan finds the leaks of one file: Secrets, literals and files of secret
// generators, and credentials known by their shape.
func (s *leakScanner) scan(name string) []leak {
	data := s.read(name)
	if data == nil {
		return nil
	}
	var found []leak
	if source, ok := s.sourceOf(name); ok {
		found = append(found, source.leaks(data)...)
	}
	switch {
	case isKustomization(name):
		found = append(found, kustomizationLeaks(data)...)
	case isYAML(name) && bytes.Contains(data, []byte("Secret")):
		found = append(found, secretLeaks(data)...)
	}
	for _, l := range shaped(data) {
		spoken := slices.ContainsFunc(found, func(f leak) bool { return f.line <= l.line && l.line <= f.end })
		example := l.keys[0] == urlShape && isProse(name)
		if !spoken && !example {
			found = append(found, l)
		}
	}
	for i := range found {
		found[i].file = name
	}
	return found
}

// isProse tells whether people write examples of URLs in a file.
func isProse(name string) bool {
	return slices.Contains([]string{".md", ".txt", ".rst", ".adoc"}, path.Ext(name))
}

// secretLeaks finds Secrets in plain text.
func secretLeaks(data []byte) []leak {
	var found []leak
	for _, doc := range parse(data) {
		for _, object := range append([]*yaml.Node{doc}, items(get(doc, "items"))...) {
			if scalar(get(object, "kind")) == "Secret" && scalar(get(object, "apiVersion")) == "v1" {
				found = append(found, secretLeak(object)...)
			}
		}
	}
	return found
}

func secretLeak(secret *yaml.Node) []leak {
	l := leak{object: "Secret " + scalar(get(secret, "metadata", "name")), end: lastLine(secret)}
	for _, field := range []string{"data", "stringData"} {
		for _, p := range pairs(get(secret, field)) {
			l.add(p[0].Line, field, p[0].Value, scalar(p[1]))
		}
	}
	return l.list()
}

// add notes a key whose value is readable.
func (l *leak) add(line int, field, key, value string) {
	secret := manifest.Object{
		ID:      manifest.ID{Kind: "Secret"},
		Content: map[string]any{field: map[string]any{key: value}},
	}
	if len(manifest.NewSecrets(manifest.Rendered{}, manifest.Rendered{Objects: []manifest.Object{secret}})) == 0 {
		return
	}
	if l.line == 0 {
		l.line = line
	}
	l.keys = append(l.keys, key)
	l.values = append(l.values, sha256.Sum256([]byte(l.object+"\x00"+key+"\x00"+value)))
}

// keep leaves only some of the values.
func (l leak) keep(is func(fingerprint) bool) leak {
	kept := l
	kept.keys, kept.values = nil, nil
	for i, value := range l.values {
		if is(value) {
			kept.values = append(kept.values, value)
			kept.keys = append(kept.keys, l.keys[i])
		}
	}
	return kept
}

func (l *leak) list() []leak {
	if len(l.keys) == 0 {
		return nil
	}
	return []leak{*l}
}

// kustomizationLeaks finds the literals of secret generators, and inline
// patches of Secrets.
func kustomizationLeaks(kustomization []byte) []leak {
	if !bytes.Contains(kustomization, []byte("secretGenerator")) && !bytes.Contains(kustomization, []byte("Secret")) {
		return nil
	}
	var found []leak
	for _, doc := range parse(kustomization) {
		for _, generator := range items(get(doc, "secretGenerator")) {
			l := leak{object: generated(scalar(get(generator, "name"))), end: lastLine(generator)}
			for _, literal := range items(get(generator, "literals")) {
				if key, value, ok := variable(scalar(literal)); ok {
					l.add(literal.Line, "stringData", key, strings.Trim(value, `"'`))
				}
			}
			found = append(found, l.list()...)
		}
		for _, patch := range items(get(doc, "patches")) {
			if text := get(patch, "patch"); text != nil {
				for _, l := range secretLeaks([]byte(text.Value)) {
					l.line, l.end = l.line+text.Line, l.end+text.Line
					found = append(found, l)
				}
			}
		}
	}
	return found
}

func generated(name string) string { return "secretGenerator " + name }

// lastLine is where a node's last scalar begins.
func lastLine(node *yaml.Node) int {
	last := node.Line + strings.Count(node.Value, "\n")
	for _, c := range node.Content {
		last = max(last, lastLine(c))
	}
	return last
}
