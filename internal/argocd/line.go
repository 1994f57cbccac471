package argocd

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// lineOf walks down from node as far as the fields are there. A field's line is
// that of its key.
func lineOf(node *yaml.Node, line int, fields []string) int {
	for _, name := range fields {
		key, value := child(node, name)
		if value == nil {
			break
		}
		line, node = key.Line, value
	}
	return line
}

// child finds a value in a map by its key, or in a list by its index. An
// element of a list is its own key.
func child(node *yaml.Node, name string) (key, value *yaml.Node) {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node == nil:
		return nil, nil
	case node.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i], node.Content[i+1]
			}
		}
	}
	return nil, nil
}

// shift moves a document's nodes to where it stands in its file.
func shift(node *yaml.Node, lines int) {
	node.Line += lines
	for _, child := range node.Content {
		shift(child, lines)
	}
}

// maxExpansion bounds the nodes of a document with its aliases expanded.
const maxExpansion = 200_000

// expands tells whether aliases make a document grow without measure.
func expands(doc *yaml.Node) bool {
	sizes := map[*yaml.Node]int{}
	var size func(*yaml.Node) int
	size = func(n *yaml.Node) int {
		if known, seen := sizes[n]; seen {
			return known
		}
		sizes[n] = maxExpansion + 1 // what a node inside itself finds
		total := 1
		if n.Kind == yaml.AliasNode {
			total += size(n.Alias)
		}
		for _, child := range n.Content {
			total = min(total+size(child), maxExpansion+1)
		}
		sizes[n] = total
		return total
	}
	return size(doc) > maxExpansion
}

// specOf is the node of an Application's spec, nil if there is none.
func specOf(a Application) *yaml.Node {
	_, spec := child(a.node, "spec")
	return spec
}
