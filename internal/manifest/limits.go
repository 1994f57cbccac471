package manifest

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxExpansion bounds the nodes that aliases add to a file when expanded.
const maxExpansion = 100_000

// expands tells whether aliases make the document grow without measure. A node
// that contains itself has no end.
func expands(doc *yaml.Node) bool {
	known := map[*yaml.Node]int{}
	var count func(*yaml.Node) int
	count = func(n *yaml.Node) int {
		if size, seen := known[n]; seen {
			return size
		}
		known[n] = 2 * maxExpansion // what a node inside itself finds
		size := 1
		if n.Kind == yaml.AliasNode {
			size += count(n.Alias)
		}
		for _, child := range n.Content {
			size = min(size+count(child), 100*maxExpansion)
		}
		known[n] = size
		return size
	}
	return count(doc)-written(doc) >= maxExpansion
}

// written counts the nodes that stand in the file.
func written(n *yaml.Node) int {
	size := 1
	for _, child := range n.Content {
		size += written(child)
	}
	return size
}

// duplicateKey returns the second of two equal keys in one map, or nil.
// Kustomize reads its own fields in any case, so with foldCase newTag and
// newtag are equal.
func duplicateKey(node *yaml.Node, foldCase bool) *yaml.Node {
	if node.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for _, p := range pairs(node) {
			name := p.key.Value
			if foldCase {
				name = strings.ToLower(name)
			}
			if p.key.Kind == yaml.ScalarNode && seen[name] {
				return p.key
			}
			seen[name] = true
		}
	}
	for _, child := range node.Content {
		if key := duplicateKey(child, foldCase); key != nil {
			return key
		}
	}
	return nil
}
