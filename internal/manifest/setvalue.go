package manifest

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetValue sets one place of a Helm values file to a string. values is the
// file's name in the folder overlay, chart the folder of the chart that it is
// for, both below fsys; pointer is a JSON pointer (RFC 6901) to a place that
// exists. The value is in quotes afterwards if it was before, or if it would be
// read as something else than this string without. The chart is rendered with
// this values file before and after. The error is a *Refusal, or what reading
// fsys returned.
func SetValue(fsys fs.FS, overlay, chart, values, pointer, value string) (Edit, error) {
	t := newTree(fsys)
	s, err := t.values(path.Join(path.Clean(overlay), values))
	if err != nil {
		return Edit{}, err
	}
	steps, err := splitPointer(pointer)
	if err != nil {
		return Edit{}, refuse(PathNotFound, s.name, 0, "%v", err)
	}
	p, shared, err := s.find(steps)
	if err != nil {
		return Edit{}, err
	}
	if _, err := t.loadChart(chart, "", 0); err != nil {
		return Edit{}, err
	}
	if shared {
		return Edit{}, s.shares(p.value.Line)
	}
	edit := Edit{NoOp: p.value.Kind == yaml.ScalarNode && p.value.Value == value && p.value.Tag == "!!str"}
	source := Chart{Path: chart, Values: []string{s.name}}
	if edit.Before, err = renderChart(t, source); err != nil {
		return Edit{}, err
	}
	if edit.NoOp {
		edit.After = edit.Before
		return edit, nil
	}
	splices, err := s.replaceValue(p, value)
	if err != nil {
		return Edit{}, err
	}
	data, err := s.apply(splices)
	if err != nil {
		return Edit{}, err
	}
	if !s.onlySets(data, steps, value) {
		return Edit{}, s.unsafe("something beside the value would change")
	}
	edit.Files = map[string][]byte{s.name: data}
	if edit.After, err = renderChart(t.edited(edit.Files), source); err != nil {
		return Edit{}, err
	}
	return edit, nil
}

// values reads a values file and checks it.
func (t *tree) values(name string) (*source, error) {
	real, isDir, err := t.resolve(name)
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		return nil, refused
	case err != nil || isDir:
		return nil, refuse(PathNotFound, name, 0, "there is no such values file")
	}
	data, err := t.read(real)
	if err != nil {
		return nil, err
	}
	s, err := parse(real, data)
	if err != nil {
		return nil, refuse(BadValues, real, 0, "not YAML: %v", err)
	}
	s.bad = BadValues
	for _, doc := range s.docs {
		if expands(doc) {
			return nil, refuse(TooLarge, real, doc.Line, "its aliases expand to more than %d nodes", maxExpansion)
		}
	}
	if len(s.docs) > 1 {
		return nil, refuse(MultiDocument, real, s.docs[1].Line, "the file has %d documents", len(s.docs))
	}
	for _, doc := range s.docs {
		if key := duplicateKey(doc, false); key != nil {
			return nil, refuse(DuplicateKey, real, key.Line, "the key %q is there twice", key.Value)
		}
	}
	return s, nil
}

// splitPointer takes a JSON pointer apart.
func splitPointer(pointer string) ([]string, error) {
	if !strings.HasPrefix(pointer, "/") {
		return nil, errors.New("a path starts with a slash, as in /image/digest")
	}
	steps := strings.Split(pointer[1:], "/")
	for i, step := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
	}
	return steps, nil
}

// find follows the steps to a scalar. shared says that setting it would change
// another place too. The key of the pair is nil for a list's element.
func (s *source) find(steps []string) (found pair, shared bool, err error) {
	found.value = s.root()
	for i, step := range steps {
		node := found.value
		if node == nil {
			return pair{}, false, s.noPath(0, steps[:i+1])
		}
		shared = shared || node.Kind == yaml.AliasNode || s.aliased[node]
		node = deref(node)
		next, merged, ok := child(node, step)
		if !ok {
			return pair{}, false, s.noPath(node.Line, steps[:i+1])
		}
		found, shared = next, shared || merged
	}
	if kind := deref(found.value).Kind; kind != yaml.ScalarNode {
		return pair{}, false, refuse(BadValues, s.name, found.value.Line, "%s is a map or a list", joinSteps(steps))
	}
	return found, shared || s.aliased[found.value], nil
}

func (s *source) noPath(line int, steps []string) *Refusal {
	return refuse(PathNotFound, s.name, line, "%s is not in the file", joinSteps(steps))
}

func joinSteps(steps []string) string {
	p := ""
	for _, step := range steps {
		p = joinField(p, step)
	}
	return p
}

// child finds a key in a map, merged or not, or an element of a list.
func child(node *yaml.Node, step string) (found pair, merged, ok bool) {
	switch node.Kind {
	case yaml.MappingNode:
		for _, p := range pairs(node) {
			if !isMerge(p.key) && p.key.Value == step {
				return p, false, true
			}
		}
		value, ok := content(node).(map[string]any)[step]
		return pair{value: &yaml.Node{Kind: kindOf(value), Line: node.Line}}, true, ok
	case yaml.SequenceNode:
		i, err := strconv.Atoi(step)
		if err == nil && i >= 0 && i < len(node.Content) && strconv.Itoa(i) == step {
			return pair{value: node.Content[i]}, false, true
		}
	}
	return pair{}, false, false
}

// kindOf gives the kind of node that a decoded value has.
func kindOf(value any) yaml.Kind {
	switch value.(type) {
	case map[string]any:
		return yaml.MappingNode
	case []any:
		return yaml.SequenceNode
	}
	return yaml.ScalarNode
}

// onlySets reads the edited bytes again: they must say the same as before but
// for this one value.
func (s *source) onlySets(data []byte, steps []string, value string) bool {
	after, err := parse(s.name, data)
	if err != nil {
		return false
	}
	want := content(s.root())
	if want == nil {
		want = map[string]any{}
	}
	set(want, steps, value)
	return bytes.Equal(canonical(want), canonical(content(after.root())))
}

// set puts a value into decoded maps and lists. Maps that are missing around it are made.
func set(into any, steps []string, value string) {
	for i, step := range steps {
		last := i == len(steps)-1
		switch parent := into.(type) {
		case map[string]any:
			if last {
				parent[step] = value
			} else if parent[step] == nil {
				parent[step] = map[string]any{}
			}
			into = parent[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(parent) {
				return
			}
			if last {
				parent[n] = value
			}
			into = parent[n]
		}
	}
}
