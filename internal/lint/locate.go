package lint

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicehq/sluice/internal/manifest"
)

// source is a part of a file that makes or changes one object.
type source struct {
	objectKey
	file string
	node *yaml.Node
	line int // to add to the node's lines, for YAML within YAML
}

// sources finds them in a file: objects and patches, and in a kustomization
// its generators and inline patches too.
func sources(f *file) []source {
	var found []source
	add := func(node *yaml.Node, line int) {
		for _, inner := range append([]*yaml.Node{node}, items(get(node, "items"))...) {
			key := objectKey{scalar(get(inner, "kind")), scalar(get(inner, "metadata", "name"))}
			if key.kind != "" && key.name != "" {
				found = append(found, source{key, f.name, inner, line})
			}
		}
	}
	for _, doc := range f.docs {
		add(doc, 0)
	}
	if !isKustomization(f.name) || len(f.docs) == 0 {
		return found
	}
	for _, patch := range items(get(f.docs[0], "patches")) {
		if text := get(patch, "patch"); text != nil && text.Style&yaml.LiteralStyle != 0 {
			for _, doc := range parse([]byte(text.Value)) {
				add(doc, text.Line)
			}
		}
	}
	for kind, field := range map[string]string{"ConfigMap": "configMapGenerator", "Secret": "secretGenerator"} {
		for _, generator := range items(get(f.docs[0], field)) {
			found = append(found, source{objectKey{kind, scalar(get(generator, "name"))}, f.name, generator, 0})
		}
	}
	return found
}

// find makes a finding about a field of a rendered object: at the line of the
// nearest source that sets it, else at that which has most of the path, else at
// the top of the overlay. The object is named as in the source, so that what
// several overlays see of a base is one finding.
func (r *repository) find(t *target, id manifest.ID, path []string, message string) Finding {
	f := Finding{Object: shortName(id, id.Name), Targets: []string{t.Path}, Message: message}
	f.File, f.Line = r.top(t)
	best := -1
	for _, s := range r.sourcesOf(t, objectKey{id.Kind, id.Name}) {
		if depth, line := at(s.node, path); depth > best {
			best, f.File, f.Line = depth, s.file, line+s.line
			f.Object = shortName(id, s.name)
		}
	}
	if line, file := r.setByKustomize(t, path, f.Object); line > 0 {
		f.File, f.Line = file, line
	}
	return f
}

// shortName is an object's kind and name without its namespace.
func shortName(id manifest.ID, name string) string {
	return manifest.ID{Group: id.Group, Kind: id.Kind, Name: name}.String()
}

// sourcesOf finds what an object is made from, nearest first. An overlay may
// have put a prefix or suffix to its name.
func (r *repository) sourcesOf(t *target, key objectKey) []source {
	var found []source
	longest := 0
	for _, name := range t.files {
		f := r.files.byName[name]
		f.load()
		for _, s := range f.objects {
			if s.kind != key.kind || !strings.Contains(key.name, s.name) {
				continue
			}
			if len(s.name) > longest {
				longest, found = len(s.name), nil
			}
			if len(s.name) == longest {
				found = append(found, s)
			}
		}
	}
	return found
}

// top is where a finding stands when no better place is known.
func (r *repository) top(t *target) (string, int) {
	if k := r.files.kustomization(t.Path); k != nil {
		return k.name, 1
	}
	if len(t.files) > 0 {
		return t.files[0], 1
	}
	return t.Path, 1
}

// setByKustomize finds the `replicas` entry that sets a workload's replicas.
func (r *repository) setByKustomize(t *target, path []string, object string) (line int, file string) {
	if strings.Join(path, ".") != "spec.replicas" {
		return 0, ""
	}
	_, name, _ := strings.Cut(object, " ")
	return r.entry(t, "replicas", func(entry *yaml.Node) bool { return scalar(get(entry, "name")) == name })
}

// entry finds the line of a list entry in the nearest kustomization.
func (r *repository) entry(t *target, field string, is func(*yaml.Node) bool) (line int, file string) {
	for _, name := range t.files {
		if !isKustomization(name) {
			continue
		}
		f := r.files.byName[name]
		f.load()
		if len(f.docs) == 0 {
			continue
		}
		for _, entry := range items(get(f.docs[0], field)) {
			if is(entry) {
				return entry.Line, name
			}
		}
	}
	return 0, ""
}

// fieldPath takes a path such as spec.containers[web].image apart.
func fieldPath(path string) []string {
	var parts []string
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			end := strings.Index(path, `"]`)
			if end < 0 {
				return append(parts, path)
			}
			parts, path = append(parts, strings.ReplaceAll(path[2:end], `\"`, `"`)), path[end+2:]
		case path[0] == '[':
			part, rest, _ := strings.Cut(path[1:], "]")
			parts, path = append(parts, part), rest
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			parts, path = append(parts, path[:end]), path[end:]
		}
	}
	return parts
}
