package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	k8sreader "k8s.io/apimachinery/pkg/util/yaml"
	k8syaml "sigs.k8s.io/yaml"
)

// renderPlain reads the manifests in a folder, not in the folders below, as
// Argo CD does with a directory.
func renderPlain(t *tree, dir string) (Rendered, error) {
	files, err := t.manifests(dir)
	if err != nil {
		return Rendered{}, err
	}
	var objects []Object
	for _, file := range files {
		found, err := readObjects(file.name, file.data)
		if err != nil {
			return Rendered{}, err
		}
		objects = append(objects, found...)
	}
	return newRendered(objects), nil
}

// manifests parses the YAML and JSON files of a folder.
func (t *tree) manifests(dir string) ([]*source, error) {
	names, err := t.list(dir)
	if err != nil {
		return nil, err
	}
	var files []*source
	for _, name := range names {
		if !isManifestName(name) {
			continue
		}
		real, isDir, err := t.resolve(path.Join(dir, name))
		if err == nil && isDir {
			continue
		}
		var data []byte
		if err == nil {
			data, err = t.read(real)
		}
		if err != nil {
			return nil, err
		}
		file, err := parse(real, data)
		if err != nil {
			return nil, refuse(RenderFailed, real, 0, "not YAML: %v", err)
		}
		file.bad = RenderFailed
		for _, doc := range file.docs {
			if expands(doc) {
				return nil, refuse(TooLarge, real, doc.Line, "its aliases expand to more than %d nodes", maxExpansion)
			}
		}
		files = append(files, file)
	}
	return files, nil
}

// readObjects decodes a stream of documents as Kubernetes does, and takes
// lists apart. Empty documents are passed over.
func readObjects(file string, data []byte) ([]Object, error) {
	var objects []Object
	reader := k8sreader.NewYAMLReader(bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		var content map[string]any
		if err == nil {
			document, err = k8syaml.YAMLToJSON(document)
		}
		if err == nil {
			err = json.Unmarshal(document, &content)
		}
		if err != nil {
			return nil, refuse(RenderFailed, file, 0, "not a Kubernetes object: %v", err)
		}
		if len(content) == 0 {
			continue
		}
		found, ok := flatten(content)
		if !ok {
			return nil, refuse(RenderFailed, file, 0, "not a Kubernetes object: apiVersion or kind is missing")
		}
		objects = append(objects, found...)
	}
}

// flatten takes a List apart.
func flatten(content map[string]any) ([]Object, bool) {
	object := newObject(content)
	if object.Kind == "" || object.Version == "" {
		return nil, false
	}
	list, isList := content["items"].([]any)
	if object.Kind != "List" || !isList {
		return []Object{object}, true
	}
	var objects []Object
	for _, item := range list {
		inner, _ := item.(map[string]any)
		found, ok := flatten(inner)
		if !ok {
			return nil, false
		}
		objects = append(objects, found...)
	}
	return objects, true
}

// setPlainImages edits each reference in a folder of plain manifests.
func setPlainImages(t *tree, dir string, goals []goal) (Edit, error) {
	files, err := t.manifests(dir)
	if err != nil {
		return Edit{}, err
	}
	for i := range goals {
		goals[i].before = goals[i].name
	}
	edit := Edit{}
	used := map[string]bool{}
	for _, file := range files {
		splices, err := file.plainSplices(goals, used)
		if err != nil {
			return Edit{}, err
		}
		data, err := file.apply(splices)
		if err != nil {
			return Edit{}, err
		}
		if !bytes.Equal(data, file.data) {
			if edit.Files == nil {
				edit.Files = map[string][]byte{}
			}
			edit.Files[file.name] = data
		}
	}
	if edit.Before, err = renderPlain(t, dir); err != nil {
		return Edit{}, err
	}
	for _, g := range goals {
		if !used[g.name] {
			return Edit{}, refuse(ImageNotFound, dir, 0, "no manifest in the folder uses the image %s", g.name)
		}
	}
	if edit.After, err = renderPlain(t.edited(edit.Files), dir); err != nil {
		return Edit{}, err
	}
	if _, err := verify(edit, dir, goals); err != nil {
		return Edit{}, err
	}
	edit.NoOp = len(edit.Files) == 0
	return edit, nil
}

// plainSplices finds the references of one file that are to change. Images
// that the file uses, or that have their target already, are marked in used.
func (s *source) plainSplices(goals []goal, used map[string]bool) ([]splice, error) {
	var splices []splice
	visit := func(p pair, shared bool) error {
		value := scalar(p.value)
		for _, g := range goals {
			switch {
			case value == g.target.String():
				used[g.name] = true
			case splitReference(value).repository == g.name:
				used[g.name] = true
				if shared {
					return s.shares(p.value.Line)
				}
				change, err := s.replaceValue(p, g.target.String())
				if err != nil {
					return err
				}
				splices = append(splices, change...)
			}
		}
		return nil
	}
	for _, doc := range s.docs {
		kind, _ := field(doc.Content[0], "kind")
		if !runsImages(scalar(kind)) {
			continue
		}
		if err := s.walkReferences(doc.Content[0], "", false, visit); err != nil {
			return nil, err
		}
	}
	for _, doc := range s.docs {
		if key := duplicateKey(doc, false); key != nil && len(splices) > 0 {
			return nil, refuse(DuplicateKey, s.name, key.Line, "the key %q is there twice", key.Value)
		}
	}
	return splices, nil
}

// walkReferences visits the pairs that hold an image reference. shared says
// that the pair is seen in another place too.
func (s *source) walkReferences(node *yaml.Node, parent string, shared bool, visit func(pair, bool) error) error {
	shared = shared || node.Kind == yaml.AliasNode || s.aliased[node]
	node = deref(node)
	if node.Kind == yaml.SequenceNode {
		for _, child := range node.Content {
			if err := s.walkReferences(child, parent, shared, visit); err != nil {
				return err
			}
		}
		return nil
	}
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for _, p := range pairs(node) {
		var err error
		switch {
		case isMerge(p.key):
			err = s.walkReferences(p.value, parent, true, visit)
		case isImageField(parent, p.key.Value) && deref(p.value).Kind == yaml.ScalarNode:
			err = visit(p, shared)
		default:
			err = s.walkReferences(p.value, p.key.Value, shared, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
