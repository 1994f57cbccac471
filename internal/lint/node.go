package lint

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// child finds a value in a map by its key, or in a list by the name or the
// index of the element, and the line where it stands.
func child(node *yaml.Node, part string) (value *yaml.Node, line int) {
	node = deref(node)
	switch {
	case node == nil:
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == part {
				return deref(node.Content[i+1]), node.Content[i].Line
			}
		}
	case node.Kind == yaml.SequenceNode:
		for _, item := range node.Content {
			if name, _ := child(item, "name"); scalar(name) == part && part != "" {
				return deref(item), item.Line
			}
		}
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(node.Content) {
			return deref(node.Content[i]), node.Content[i].Line
		}
	}
	return nil, 0
}

// at follows a path as far as it goes, and says how far and to which line.
func at(node *yaml.Node, path []string) (depth, line int) {
	line = node.Line
	for _, part := range path {
		value, found := child(node, part)
		if value == nil {
			return depth, line
		}
		depth, node, line = depth+1, value, found
	}
	return depth, line
}

func get(node *yaml.Node, path ...string) *yaml.Node {
	for _, part := range path {
		node, _ = child(node, part)
	}
	return node
}

func deref(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func scalar(node *yaml.Node) string {
	if node = deref(node); node == nil || node.Kind != yaml.ScalarNode || node.Tag == "!!null" {
		return ""
	}
	return node.Value
}

func items(node *yaml.Node) []*yaml.Node {
	if node = deref(node); node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	list := make([]*yaml.Node, len(node.Content))
	for i, item := range node.Content {
		list[i] = deref(item)
	}
	return list
}

// pairs gives the keys and values of a map.
func pairs(node *yaml.Node) [][2]*yaml.Node {
	if node = deref(node); node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	list := make([][2]*yaml.Node, 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		list = append(list, [2]*yaml.Node{node.Content[i], deref(node.Content[i+1])})
	}
	return list
}
