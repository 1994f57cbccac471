package manifest

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// inOwnFile sets the field where a file of the folder has it: a patch, or a resource of the overlay alone.
func (e *fieldEdit) inOwnFile(goals []fieldGoal) (string, []byte, bool, error) {
	return e.inFile(goals[0], false)
}

// inManifest sets the field in the manifest that is rendered, or adds it there.
func (e *fieldEdit) inManifest(goals []fieldGoal) (string, []byte, bool, error) {
	return e.inFile(goals[0], true)
}

// inFile edits the one document of the folder's files that is about the object.
func (e *fieldEdit) inFile(g fieldGoal, adds bool) (string, []byte, bool, error) {
	files, err := e.tree.manifests(e.dir)
	if err != nil && adds {
		return "", nil, false, err
	}
	var at *source
	var document *yaml.Node
	for _, s := range files {
		for _, doc := range s.docs {
			if !isAbout(doc.Content[0], g.object, e.names(g)) {
				continue
			}
			if _, rest, _ := fieldPlace(doc.Content[0], g.Steps, s); len(rest) > 0 && !adds {
				continue
			}
			if document != nil {
				return "", nil, false, nil // which of them decides is not known
			}
			at, document = s, doc
		}
	}
	if document == nil {
		return "", nil, false, nil
	}
	if key := duplicateKey(document, false); key != nil {
		return "", nil, false, refuse(DuplicateKey, at.name, key.Line, "the key %q is there twice", key.Value)
	}
	splices, err := at.setField(document.Content[0], g)
	if err != nil {
		return "", nil, false, err
	}
	data, err := at.apply(splices)
	return at.name, data, err == nil, err
}

// isAbout tells whether a document is the object, or a patch of it.
func isAbout(root *yaml.Node, o Object, names []string) bool {
	root = deref(root)
	apiVersion, _ := field(root, "apiVersion")
	kind, _ := field(root, "kind")
	metadata, _ := field(root, "metadata")
	name, _ := field(deref(metadata), "name")
	namespace, _ := field(deref(metadata), "namespace")
	group, _, grouped := strings.Cut(scalar(apiVersion), "/")
	if !grouped {
		group = ""
	}
	said := scalar(namespace)
	return group == o.Group && scalar(kind) == o.Kind && slices.Contains(names, scalar(name)) && (said == "" || said == o.Namespace)
}

// names are what the object may be called before the overlay's own prefix and suffix, and after.
func (e *fieldEdit) names(g fieldGoal) []string {
	names := []string{g.object.Name}
	if e.layout != Kustomize {
		return names
	}
	if s := scan(e.tree, e.dir); s.overlay != nil {
		prefix, _ := field(s.overlay.root(), "namePrefix")
		suffix, _ := field(s.overlay.root(), "nameSuffix")
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(g.object.Name, scalar(prefix)), scalar(suffix)))
	}
	return names
}

// setField gives the splices that set a field of a document, or add it with the maps around it that are missing.
func (s *source) setField(root *yaml.Node, g fieldGoal) ([]splice, error) {
	p, rest, shared := fieldPlace(root, g.Steps, s)
	if shared {
		return nil, s.shares(p.value.Line)
	}
	if len(rest) == 0 {
		return s.replaceToken(p, writeScalar(g.Value, p.value.Style, s.json))
	}
	names := fieldNames(rest)
	node := deref(p.value)
	if len(names) != len(rest) || node.Kind != yaml.MappingNode {
		return nil, refuse(BadField, s.name, p.value.Line, "%s cannot be added here: change it by hand", g.Path)
	}
	return s.addBelow(node, names, writeScalar(g.Value, 0, s.json), "")
}

// writeScalar writes a value as YAML; a text in the style of what it replaces.
func writeScalar(value any, style yaml.Style, asJSON bool) string {
	if text, ok := value.(string); ok {
		return write(text, style, asJSON)
	}
	return strings.TrimSuffix(string(canonical(value)), "\n")
}

// fieldPlace follows steps from a node as far as there is something. shared says that it is seen in another place of the file, too.
func fieldPlace(root *yaml.Node, steps []string, s *source) (p pair, rest []string, shared bool) {
	p = pair{value: root}
	for i, step := range steps {
		shared = shared || p.value.Kind == yaml.AliasNode || s.aliased[p.value]
		node := deref(p.value)
		key, index, ok := stepTo(content(node), step)
		if !ok {
			return p, steps[i:], shared
		}
		if index >= 0 {
			p = pair{value: node.Content[index]}
			continue
		}
		next, merged, ok := child(node, key)
		if !ok {
			return p, steps[i:], shared
		}
		p, shared = next, shared || merged
	}
	return p, nil, shared || s.aliased[p.value]
}
