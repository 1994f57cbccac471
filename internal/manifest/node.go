package manifest

import (
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pair is one key and value of a mapping node.
type pair struct{ key, value *yaml.Node }

func pairs(node *yaml.Node) []pair {
	list := make([]pair, 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		list = append(list, pair{node.Content[i], node.Content[i+1]})
	}
	return list
}

// deref follows an alias to the node it stands for.
func deref(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

func isMerge(key *yaml.Node) bool { return key.Value == "<<" && key.Tag == "!!merge" }

// own finds the pair with this key that stands in the map itself. Kustomize
// decodes through encoding/json, which matches keys in any case.
func own(node *yaml.Node, key string) (pair, bool) {
	if node == nil || node.Kind != yaml.MappingNode {
		return pair{}, false
	}
	for _, p := range pairs(node) {
		if !isMerge(p.key) && strings.EqualFold(p.key.Value, key) {
			return p, true
		}
	}
	return pair{}, false
}

// field finds a value in the map itself or, failing that, in what `<<` merges
// into it; merged tells which.
func field(node *yaml.Node, key string) (value *yaml.Node, merged bool) {
	if p, ok := own(node, key); ok {
		return p.value, false
	}
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, false
	}
	for _, p := range pairs(node) {
		if !isMerge(p.key) {
			continue
		}
		from := deref(p.value)
		sources := []*yaml.Node{from}
		if from.Kind == yaml.SequenceNode {
			sources = from.Content
		}
		for _, source := range sources {
			if value, _ := field(deref(source), key); value != nil {
				return value, true
			}
		}
	}
	return nil, false
}

// everyField finds all values that a decoder might take for a key: own, merged,
// and doubled, in any case.
func everyField(node *yaml.Node, key string) []*yaml.Node {
	node = deref(node)
	if node == nil || node.Kind == yaml.ScalarNode {
		return nil
	}
	var found []*yaml.Node
	if node.Kind == yaml.SequenceNode { // of a merge
		for _, child := range node.Content {
			found = append(found, everyField(child, key)...)
		}
		return found
	}
	for _, p := range pairs(node) {
		if p.key.Value == "<<" {
			found = append(found, everyField(p.value, key)...)
		} else if strings.EqualFold(scalar(p.key), key) {
			found = append(found, p.value)
		}
	}
	return found
}

// everyItem finds the elements of all lists that a decoder might take.
func everyItem(node *yaml.Node, key string) []*yaml.Node {
	var found []*yaml.Node
	for _, value := range everyField(node, key) {
		found = append(found, items(value)...)
	}
	return found
}

// scalar gives the text of a string, number or boolean; empty for null, other
// nodes and nil.
func scalar(node *yaml.Node) string {
	node = deref(node)
	if node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return ""
	}
	if node.Tag == "!!binary" {
		var decoded string
		if node.Decode(&decoded) == nil {
			return decoded
		}
	}
	return node.Value
}

// items gives the elements of a list, each without its alias.
func items(node *yaml.Node) []*yaml.Node {
	node = deref(node)
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	list := make([]*yaml.Node, len(node.Content))
	for i, child := range node.Content {
		list[i] = deref(child)
	}
	return list
}

// content decodes a node with aliases and merges expanded. It takes what a
// strict decoder would not: of equal keys the last wins. The caller has made
// sure that aliases do not expand without measure.
func content(node *yaml.Node) any {
	node = deref(node)
	switch {
	case node == nil:
		return nil
	case node.Kind == yaml.MappingNode:
		fields := map[string]any{}
		for _, p := range pairs(node) {
			if isMerge(p.key) {
				merge(fields, content(p.value))
			}
		}
		for _, p := range pairs(node) {
			if !isMerge(p.key) {
				fields[p.key.Value] = content(p.value)
			}
		}
		return fields
	case node.Kind == yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, child := range node.Content {
			list[i] = content(child)
		}
		return list
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return node.Value
	}
	if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return node.Value // which JSON cannot say
	}
	return value
}

// merge fills in what is missing; earlier sources win.
func merge(fields map[string]any, from any) {
	switch from := from.(type) {
	case map[string]any:
		for key, value := range from {
			if _, taken := fields[key]; !taken {
				fields[key] = value
			}
		}
	case []any:
		for _, source := range from {
			merge(fields, source)
		}
	}
}
