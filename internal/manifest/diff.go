package manifest

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Action is what happens to an object or to a field of it.
type Action string

// The actions. Of an object that is added or removed there is one Change with
// an empty path.
const (
	Added   Action = "added"
	Changed Action = "changed"
	Removed Action = "removed"
)

// Change is one difference between two renderings. For a field that is added
// or removed inside an object that stays, Action is Changed and Old or New is
// empty. Old and New are what people may see: Secrets and credentials are
// hidden, maps and lists are JSON.
type Change struct {
	Object ID     `json:"object"`
	Action Action `json:"action"`
	Path   string `json:"path,omitempty"`
	Old    string `json:"old,omitempty"`
	New    string `json:"new,omitempty"`
	// Stateful marks the removal of an object that holds data, or takes what
	// holds data with it: a volume claim, a StatefulSet, a CRD, a Namespace.
	Stateful bool `json:"stateful,omitempty"`

	old, new any // as rendered, nil where there is none
}

// Diff compares objects field by field. Objects are matched by identity, and
// elements of lists by name where they have one of their own, so that neither
// a new order of files nor a container put in front looks like a change of
// everything. Changes come in order of identity, then of path.
func Diff(before, after Rendered) []Change {
	var changes []Change
	left, right := index(before), index(after)
	for _, key := range merged(left, right) {
		old, was := left[key]
		new, is := right[key]
		switch {
		case !was:
			changes = append(changes, Change{Object: new.ID, Action: Added})
		case !is:
			changes = append(changes, Change{Object: old.ID, Action: Removed, Stateful: isStateful(old.ID)})
		default:
			found := fieldChanges(old.ID, old.Content, new.Content)
			changes = append(changes, found...)
		}
	}
	return changes
}

// objectKey tells objects apart that share an identity, which plain manifests
// and charts may have.
type objectKey struct {
	ID
	nth int
}

func index(r Rendered) map[objectKey]Object {
	objects := make(map[objectKey]Object, len(r.Objects))
	for _, object := range r.Objects {
		key := objectKey{ID: object.ID}
		for _, taken := objects[key]; taken; _, taken = objects[key] {
			key.nth++
		}
		objects[key] = object
	}
	return objects
}

func merged(left, right map[objectKey]Object) []objectKey {
	keys := slices.Collect(maps.Keys(left))
	for key := range right {
		if _, both := left[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b objectKey) int {
		if c := a.ID.compare(b.ID); c != 0 {
			return c
		}
		return a.nth - b.nth
	})
	return keys
}

func isStateful(id ID) bool {
	switch id.Group + "/" + id.Kind {
	case "/PersistentVolumeClaim", "/PersistentVolume", "/Namespace", "apps/StatefulSet",
		"apiextensions.k8s.io/CustomResourceDefinition":
		return true
	}
	return false
}

func fieldChanges(object ID, old, new map[string]any) []Change {
	var changes []Change
	masks := newMasks(object)
	compare(place{}, old, new, func(at place, old, new any) {
		change := Change{Object: object, Action: Changed, Path: at.path, old: old, new: new}
		change.Old, change.New = masks.show(at, old, new)
		changes = append(changes, change)
	})
	return changes
}

// place is where a value stands: its path, the keys that led to it, and the
// `name` beside it in the same map, as environment variables have.
type place struct {
	path string
	keys []string
	name string
}

func (p place) key() string {
	if len(p.keys) == 0 {
		return ""
	}
	return p.keys[len(p.keys)-1]
}

func (p place) field(key string) place {
	return place{joinField(p.path, key), append(slices.Clip(p.keys), key), p.name}
}

func (p place) element(label string) place {
	return place{p.path + "[" + label + "]", p.keys, p.name}
}

// compare visits the smallest differing values; nil where there is none.
func compare(at place, old, new any, visit func(at place, old, new any)) {
	switch left := old.(type) {
	case map[string]any:
		if right, ok := new.(map[string]any); ok {
			compareMaps(at, left, right, visit)
			return
		}
	case []any:
		if right, ok := new.([]any); ok {
			compareLists(at, left, right, visit)
			return
		}
	}
	if !reflect.DeepEqual(old, new) {
		visit(at, old, new)
	}
}

func compareMaps(at place, old, new map[string]any, visit func(place, any, any)) {
	keys := slices.Collect(maps.Keys(old))
	for key := range new {
		if _, both := old[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	at.name = cmp.Or(text(old["name"]), text(new["name"]))
	for _, key := range keys {
		compare(at.field(key), old[key], new[key], visit)
	}
}

func compareLists(at place, old, new []any, visit func(place, any, any)) {
	left, leftNamed := byName(old)
	right, rightNamed := byName(new)
	if !leftNamed || !rightNamed {
		for i := range max(len(old), len(new)) {
			compare(at.element(strconv.Itoa(i)), element(old, i), element(new, i), visit)
		}
		return
	}
	names := slices.Collect(maps.Keys(left))
	for name := range right {
		if _, both := left[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		compare(at.element(name), find(old, left, name), find(new, right, name), visit)
	}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func find(list []any, index map[string]int, name string) any {
	if i, ok := index[name]; ok {
		return list[i]
	}
	return nil
}
