package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// probes bounds how many values are tried for the hint.
const probes = 30

// refuseHelm says what to do about a field that a chart renders: which value decides it, if it is one alone.
func (e *fieldEdit) refuseHelm(g fieldGoal) error {
	h, err := e.tree.helmTarget(e.dir)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("a chart renders %s of %s, so it is not set here", g.Path, g.object.ID)
	file := e.dir
	if len(h.own) > 0 {
		file = h.own[len(h.own)-1]
	}
	if found := e.deciding(h, file, g); len(found) == 1 {
		return refuse(BadField, file, 0, "%s: set the value %s to %s there by hand", what, joinSteps(found[0]), plainText(g.Value))
	}
	return refuse(BadField, file, 0, "%s: set the value that decides it by hand", what)
}

// deciding are the values by which the field, and it alone, follows.
func (e *fieldEdit) deciding(h helmTarget, file string, g fieldGoal) [][]string {
	values, err := effectiveValues(e.tree, h.chart)
	is, there := fieldAt(g.object.Content, g.Steps)
	if err != nil || !there || len(h.own) == 0 {
		return nil
	}
	var found [][]string
	candidates := valuesThatAre(values, plainText(is), nil)
	for _, steps := range candidates[:min(probes, len(candidates))] {
		s, err := e.tree.values(file)
		if err != nil {
			return nil
		}
		data, err := s.put(steps, plainText(g.Value), "")
		if err != nil {
			continue
		}
		after, err := h.render(e.tree.edited(map[string][]byte{file: data}))
		if err != nil {
			continue
		}
		changes := Diff(e.now, after)
		if len(changes) == 1 && changes[0].Object == g.object.ID && plainText(changes[0].new) == plainText(g.Value) {
			found = append(found, steps)
		}
	}
	return found
}

// valuesThatAre are the places of values that hold a scalar, as people write it.
func valuesThatAre(values any, wanted string, steps []string) [][]string {
	var found [][]string
	switch values := values.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(values)) {
			found = append(found, valuesThatAre(values[key], wanted, append(slices.Clip(steps), key))...)
		}
	case []any:
		for i, item := range values {
			found = append(found, valuesThatAre(item, wanted, append(slices.Clip(steps), strconv.Itoa(i)))...)
		}
	case nil:
	default:
		if strings.TrimSpace(fmt.Sprint(values)) == wanted {
			found = append(found, steps)
		}
	}
	return found
}
