package manifest

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// put gives the file with one place set to a string. What is missing of the path is added: behind the sibling, a key of the
// same map, if there is one, otherwise at the map's end.
func (s *source) put(steps []string, value, sibling string) ([]byte, error) {
	p, shared, err := s.find(steps)
	var splices []splice
	var missing *Refusal
	switch {
	case errors.As(err, &missing) && missing.Code == PathNotFound:
		if splices, err = s.addValue(steps, value, sibling); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case shared:
		return nil, s.shares(p.value.Line)
	case p.value.Kind == yaml.ScalarNode && p.value.Value == value && p.value.Tag == "!!str":
		return s.data, nil
	default:
		if splices, err = s.replaceValue(p, value); err != nil {
			return nil, err
		}
	}
	data, err := s.apply(splices)
	if err == nil && !s.onlySets(data, steps, value) {
		err = s.unsafe("something beside the value would change")
	}
	return data, err
}

// reached follows the steps as far as the file has them.
func (s *source) reached(steps []string) (node *yaml.Node, n int, shared bool) {
	for node = s.root(); node != nil; n++ {
		shared = shared || node.Kind == yaml.AliasNode || s.aliased[node]
		if n == len(steps) {
			break
		}
		next, merged, ok := child(deref(node), steps[n])
		if !ok {
			break
		}
		node, shared = next.value, shared || merged
	}
	return node, n, shared
}

// addValue gives the splice that adds a value with the maps around it that are missing.
func (s *source) addValue(steps []string, value, sibling string) ([]splice, error) {
	node, n, shared := s.reached(steps)
	written := write(value, 0, s.json)
	switch {
	case shared:
		return nil, s.shares(node.Line)
	case node == nil || n == 0 && isEmpty(node):
		return []splice{s.addAtEnd(0, s.nested(steps[n:], written, 0))}, nil
	case node.Kind != yaml.MappingNode:
		return nil, refuse(BadValues, s.name, node.Line, "%s is no map, so %s cannot be added", joinSteps(steps[:n]), joinSteps(steps[n:]))
	}
	if _, beside := own(node, sibling); !beside && n == 0 && node.Style&yaml.FlowStyle == 0 && !merges(node) {
		return []splice{s.addAtEnd(node.Column-1, s.nested(steps, written, node.Column-1))}, nil
	}
	return s.addBelow(node, steps[n:], written, sibling)
}

func merges(node *yaml.Node) bool {
	return slices.ContainsFunc(pairs(node), func(p pair) bool { return isMerge(p.key) })
}

// addBelow gives the splice that adds a written value to a map, with the maps around it that are missing.
func (s *source) addBelow(node *yaml.Node, rest []string, written, sibling string) ([]splice, error) {
	switch {
	case merges(node):
		return nil, s.shares(node.Line) // what is added might hide what the merge brings
	case node.Style&yaml.FlowStyle != 0:
		return s.addToFlowMap(node, s.nestedFlow(rest, written))
	}
	behind, beside := own(node, sibling)
	if !beside {
		behind = lastPair(node)
	}
	end, err := s.pairEnd(behind)
	if err != nil {
		return nil, s.lost(behind.key, err)
	}
	end = s.lineEnd(end)
	margin := s.margin(behind.key)
	return []splice{{span{end, end}, s.eol() + margin + s.nested(rest, written, len(margin))}}, nil
}

func lastPair(node *yaml.Node) pair {
	n := len(node.Content)
	return pair{node.Content[n-2], node.Content[n-1]}
}

// addAtEnd adds a top-level pair behind everything.
func (s *source) addAtEnd(indent int, text string) splice {
	at := s.documentEnd()
	text = strings.Repeat(" ", indent) + text
	if at > 0 && s.data[at-1] != '\n' && !bytes.Equal(s.data, byteOrderMark) {
		return splice{span{at, at}, s.eol() + text}
	}
	return splice{span{at, at}, text + s.eol()}
}

func (s *source) addToFlowMap(node *yaml.Node, text string) ([]splice, error) {
	if len(node.Content) == 0 {
		at := s.afterProperties(s.offset(node)) + 1
		return []splice{{span{at, at}, text}}, nil
	}
	last := lastPair(node)
	at, err := s.pairEnd(last)
	if err != nil {
		return nil, s.lost(last.key, err)
	}
	between := ", "
	if last.key.Line != node.Line {
		between = "," + s.eol() + s.margin(last.key)
	}
	return []splice{{span{at, at}, between + text}}, nil
}

// nested writes a pair inside the maps that are still missing, without the first line's indent.
func (s *source) nested(steps []string, written string, indent int) string {
	if len(steps) == 1 {
		return s.pairText(addition{steps[0], written, asIs})
	}
	indent += s.indentStep()
	return write(steps[0], 0, s.json) + ":" + s.eol() + strings.Repeat(" ", indent) + s.nested(steps[1:], written, indent)
}

func (s *source) nestedFlow(steps []string, written string) string {
	if len(steps) == 1 {
		return s.pairText(addition{steps[0], written, asIs})
	}
	return write(steps[0], 0, s.json) + ": {" + s.nestedFlow(steps[1:], written) + "}"
}

// indentStep is how far the file indents a map below its key.
func (s *source) indentStep() int {
	root := s.root()
	if root == nil || root.Kind != yaml.MappingNode {
		return 2
	}
	for _, p := range pairs(root) {
		if inner := p.value; inner.Kind == yaml.MappingNode && inner.Style&yaml.FlowStyle == 0 && inner.Line > p.key.Line {
			return max(1, inner.Column-p.key.Column)
		}
	}
	return 2
}

// listSteps is how many steps of a path lead through lists in the decoded values. A values file replaces a list as a whole,
// so these cannot be added to one.
func listSteps(values any, steps []string) int {
	n := 0
	for i, step := range steps {
		switch parent := values.(type) {
		case map[string]any:
			values = parent[step]
		case []any:
			at, err := strconv.Atoi(step)
			if err != nil || at < 0 || at >= len(parent) {
				return n
			}
			values, n = parent[at], i+1
		default:
			return n
		}
	}
	return n
}
