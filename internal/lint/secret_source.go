package lint

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// secretSource says that a generator makes a Secret of a file.
type secretSource struct {
	generator string
	path      string // of the file, relative to the kustomization
	key       string // that holds the whole file; empty for a file of variables
}

// encrypted is how SOPS, age and PGP mark a whole file.
var encrypted = regexp.MustCompile(`ENC\[|-----BEGIN (AGE ENCRYPTED FILE|PGP MESSAGE)-----|^age-encryption\.org/`)

// leaks finds what a generator makes a Secret of.
func (s secretSource) leaks(data []byte) []leak {
	l := leak{object: generated(s.generator), end: 1 + bytes.Count(data, []byte("\n"))}
	if s.key != "" {
		if !encrypted.Match(data) {
			l.add(1, "stringData", s.key, string(data))
		}
		return l.list()
	}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if key, value, ok := variable(line); ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(key, "sops_") {
			l.add(i+1, "stringData", key, value)
		}
	}
	return l.list()
}

// variableName is what a key of a Secret can be.
var variableName = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)

// variable takes KEY=VALUE apart. What stands before the sign in anything else,
// such as the last line of a key in base64, may be the secret itself and is not
// taken for a name.
func variable(text string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if ok && (!variableName.MatchString(key) || value != "" && strings.Trim(value, "=") == "") {
		return "a value without a name", text, true
	}
	return key, value, ok
}

// sourceOf tells whether a generator in a folder above makes a Secret of a file.
func (s *leakScanner) sourceOf(name string) (secretSource, bool) {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if source, ok := s.sourcesIn(dir)[name]; ok {
			return source, true
		}
		if dir == "." {
			return secretSource{}, false
		}
	}
}

// sourcesIn are the files that the generators of one folder name.
func (s *leakScanner) sourcesIn(dir string) map[string]secretSource {
	if known, ok := s.sources[dir]; ok {
		return known
	}
	found := map[string]secretSource{}
	for _, name := range kustomizationNames() {
		data := s.read(path.Join(dir, name))
		if !bytes.Contains(data, []byte("secretGenerator")) {
			continue
		}
		for _, doc := range parse(data) {
			for _, generator := range items(get(doc, "secretGenerator")) {
				for _, source := range generatorFiles(generator) {
					found[path.Join(dir, source.path)] = source
				}
			}
		}
	}
	s.sources[dir] = found
	return found
}

// generatorFiles are the files that one generator, of whatever kind, names.
func generatorFiles(generator *yaml.Node) []secretSource {
	name := scalar(get(generator, "name"))
	var found []secretSource
	for _, item := range items(get(generator, "files")) {
		key, file, ok := strings.Cut(scalar(item), "=")
		if !ok {
			key, file = path.Base(key), key
		}
		found = append(found, secretSource{name, file, key})
	}
	for _, item := range append(items(get(generator, "envs")), get(generator, "env")) {
		if file := scalar(item); file != "" {
			found = append(found, secretSource{name, file, ""})
		}
	}
	return found
}
