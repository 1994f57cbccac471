package manifest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	k8syaml "sigs.k8s.io/yaml"
)

// scaled are the kinds whose replicas a kustomization's `replicas` sets, whatever patches say.
var scaled = []string{"apps/Deployment", "apps/StatefulSet", "apps/ReplicaSet", "/ReplicationController"}

// replicas sets a count by an entry of the kustomization's `replicas`.
func (e *fieldEdit) replicas(goals []fieldGoal) (string, []byte, bool, error) {
	g := goals[0]
	if !slices.Equal(g.Steps, []string{"f:spec", "f:replicas"}) || !slices.Contains(scaled, g.object.Group+"/"+g.object.Kind) {
		return "", nil, false, nil
	}
	s, err := e.kustomization()
	if err != nil {
		return "", nil, false, err
	}
	count := writeScalar(g.Value, 0, s.json)
	names := e.names(g)
	list, merged := field(s.root(), "replicas")
	for _, item := range items(list) {
		name, _ := field(item, "name")
		if !slices.Contains(names, scalar(name)) {
			continue
		}
		p, there := own(item, "count")
		if !there || merged || s.aliased[item] || s.aliased[deref(list)] {
			return "", nil, false, s.shares(item.Line)
		}
		splices, err := s.replaceToken(p, count)
		if err != nil {
			return "", nil, false, err
		}
		data, err := s.apply(splices)
		return s.name, data, err == nil, err
	}
	added, err := s.add("replicas", []addition{{key: "name", value: names[len(names)-1]}, {"count", count, asIs}})
	if err != nil {
		return "", nil, false, err
	}
	data, err := s.apply([]splice{added})
	return s.name, data, err == nil, err
}

// kustomization is the overlay's own, as it may be edited.
func (e *fieldEdit) kustomization() (*source, error) {
	found := scan(e.tree, e.dir)
	return found.overlay, first(found.refusals)
}

// strategicPatch adds an entry of `patches` that says the fields as the object has them. Lists by place have no such form.
func (e *fieldEdit) strategicPatch(goals []fieldGoal) (string, []byte, bool, error) {
	patch := map[string]any{}
	for _, g := range goals {
		if slices.ContainsFunc(g.Steps, func(step string) bool { return !strings.HasPrefix(step, "f:") && !strings.HasPrefix(step, "k:") }) {
			return "", nil, false, nil
		}
		say(patch, g.Steps, g.Value)
	}
	o, name := goals[0].object, e.nameBefore(goals[0])
	patch["apiVersion"], patch["kind"] = o.Content["apiVersion"], o.Kind
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		patch["metadata"] = metadata
	}
	metadata["name"] = name
	text, err := k8syaml.JSONToYAML(canonical(patch))
	if err != nil {
		return "", nil, false, fmt.Errorf("write a patch of %s: %w", o.ID, err)
	}
	return e.withPatch(o, name, text)
}

func (e *fieldEdit) nameBefore(g fieldGoal) string {
	names := e.names(g)
	return names[len(names)-1]
}

// say puts a value into a patch, with what leads to it. Elements of lists are told by their keys.
func say(into map[string]any, steps []string, value any) {
	name := strings.TrimPrefix(steps[0], "f:")
	if len(steps) == 1 {
		into[name] = value
		return
	}
	keys, isElement := strings.CutPrefix(steps[1], "k:")
	if !isElement {
		inner, _ := into[name].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			into[name] = inner
		}
		say(inner, steps[1:], value)
		return
	}
	list, _ := into[name].([]any)
	i := elementIndex(list, "k", keys)
	if i < 0 {
		list, i = append(list, elementKeys(keys)), len(list)
		into[name] = list
	}
	if element, ok := list[i].(map[string]any); ok && len(steps) > 2 {
		say(element, steps[2:], value)
	}
}

// jsonPatch adds an entry of `patches` with JSON patch operations, for what a strategic merge cannot say.
func (e *fieldEdit) jsonPatch(goals []fieldGoal) (string, []byte, bool, error) {
	operations := make([]map[string]any, len(goals))
	for i, g := range goals {
		operation, ok := operationFor(g)
		if !ok {
			return "", nil, false, nil
		}
		operations[i] = operation
	}
	text, err := k8syaml.JSONToYAML(canonical(operations))
	if err != nil {
		return "", nil, false, fmt.Errorf("write a patch of %s: %w", goals[0].object.ID, err)
	}
	return e.withPatch(goals[0].object, e.nameBefore(goals[0]), text)
}

// operationFor replaces a field, or adds it with the maps around it that are missing.
func operationFor(g fieldGoal) (map[string]any, bool) {
	var pointer strings.Builder
	var from any = g.object.Content
	for n, step := range g.Steps {
		key, i, ok := stepTo(from, step)
		if !ok {
			return nil, false
		}
		if i >= 0 {
			key, from = strconv.Itoa(i), from.([]any)[i]
		} else {
			from, ok = from.(map[string]any)[key]
		}
		pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
		if !ok {
			names := fieldNames(g.Steps[n+1:])
			if len(names) != len(g.Steps[n+1:]) {
				return nil, false
			}
			value := g.Value
			for _, name := range slices.Backward(names) {
				value = map[string]any{name: value}
			}
			return map[string]any{"op": "add", "path": pointer.String(), "value": value}, true
		}
	}
	return map[string]any{"op": "replace", "path": pointer.String(), "value": g.Value}, true
}

func (e *fieldEdit) withPatch(o Object, name string, patch []byte) (string, []byte, bool, error) {
	s, err := e.kustomization()
	if err != nil {
		return "", nil, false, err
	}
	target := []string{write("kind", 0, s.json) + ": " + write(o.Kind, 0, s.json), write("name", 0, s.json) + ": " + write(name, 0, s.json)}
	if o.Group != "" {
		target = slices.Insert(target, 0, write("group", 0, s.json)+": "+write(o.Group, 0, s.json))
	}
	added, err := s.add("patches", []addition{{"target", "{" + strings.Join(target, ", ") + "}", asIs}, {"patch", string(bytes.TrimSuffix(patch, []byte("\n"))), asBlock}})
	if err != nil {
		return "", nil, false, err
	}
	data, err := s.apply([]splice{added})
	return s.name, data, err == nil, err
}
