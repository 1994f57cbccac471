package manifest

import (
	"errors"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Field is one scalar of one rendered object, and what it is to be.
type Field struct {
	Object ID       // as a cluster has it: its namespace need not be rendered
	Path   string   // for people
	Steps  []string // to it, as managedFields write them: f:name in a map, k:{"name":"web"} and i:0 in a list
	Value  any      // string, bool, int64 or float64
}

// SetFields makes an overlay render exactly these fields otherwise, by an edit of its own files. In a Kustomize overlay that is an
// entry of `replicas`, the field where a file of the folder has it, or an entry of `patches` more; in a folder of plain
// manifests the field itself. What a chart renders is refused. Each edit is rendered: whatever else it would change refuses it.
// Doing it again is a no-op. The error is a *Refusal, or what reading fsys returned.
func SetFields(fsys fs.FS, overlay string, fields []Field) (Edit, error) {
	t := newTree(fsys)
	dir, layout, err := t.layout(overlay)
	if err != nil {
		return Edit{}, err
	}
	e := fieldEdit{tree: t, dir: dir, layout: layout, files: map[string][]byte{}}
	if e.now, err = renderLayout(t, dir, layout); err != nil {
		return Edit{}, err
	}
	edit := Edit{Before: e.now}
	goals, err := fieldGoals(e.now, dir, fields)
	if err != nil {
		return Edit{}, err
	}
	if layout == Helm && len(goals) > 0 {
		return Edit{}, e.refuseHelm(goals[0])
	}
	for _, some := range byObject(goals) {
		if err := e.set(some); err != nil {
			return Edit{}, err
		}
	}
	edit.After, edit.Files, edit.NoOp = e.now, e.files, len(e.files) == 0
	return edit, nil
}

// fieldGoal is a field found in a rendering.
type fieldGoal struct {
	Field
	object Object // as rendered before
}

// fieldGoals finds the fields that are not rendered so yet.
func fieldGoals(r Rendered, dir string, fields []Field) ([]fieldGoal, error) {
	var goals []fieldGoal
	for _, f := range fields {
		var found []Object
		for _, o := range r.Objects {
			named := o.ID
			if named.Namespace == "" {
				named.Namespace = f.Object.Namespace
			}
			if named == f.Object {
				found = append(found, o)
			}
		}
		if len(found) != 1 {
			return nil, refuse(BadField, dir, 0, "%d rendered objects are %s: its fields cannot be set here", len(found), f.Object)
		}
		object := found[0]
		if newMasks(object.ID).hides(place{keys: fieldNames(f.Steps), name: elementName(f.Steps)}, f.Value) || object.Kind == "Secret" {
			return nil, refuse(BadField, dir, 0, "%s of %s is hidden from people and never written", f.Path, f.Object)
		}
		if is, _ := fieldAt(object.Content, f.Steps); isSame(is, f.Value) {
			continue
		}
		if !setField(runtime.DeepCopyJSON(object.Content), f.Steps, f.Value) {
			return nil, refuse(BadField, dir, 0, "%s of %s is no scalar field of what is rendered", f.Path, f.Object)
		}
		goals = append(goals, fieldGoal{f, object})
	}
	return goals, nil
}

// byObject puts goals of one object together, in the order of the first of each.
func byObject(goals []fieldGoal) [][]fieldGoal {
	var all [][]fieldGoal
	for _, g := range goals {
		i := slices.IndexFunc(all, func(some []fieldGoal) bool { return some[0].object.ID == g.object.ID })
		if i < 0 {
			all, i = append(all, nil), len(all)
		}
		all[i] = append(all[i], g)
	}
	return all
}

// fieldEdit is an overlay on its way to the goals.
type fieldEdit struct {
	tree   *tree
	dir    string
	layout Layout
	now    Rendered
	files  map[string][]byte // written so far
}

// fieldWay is one way to set fields of one object: it writes a file of the overlay anew. ok is false where it does not apply.
type fieldWay func(goals []fieldGoal) (file string, data []byte, ok bool, err error)

// set sets fields of one object, each where it stands, and what stands nowhere by one patch.
func (e *fieldEdit) set(goals []fieldGoal) error {
	var left []fieldGoal
	var reason error
	single := []fieldWay{e.replicas, e.inOwnFile}
	if e.layout == Plain {
		single = []fieldWay{e.inManifest}
	}
	for _, g := range goals {
		done, err := e.try([]fieldGoal{g}, single, &reason)
		if err != nil {
			return err
		}
		if !done {
			left = append(left, g)
		}
	}
	if len(left) == 0 {
		return nil
	}
	if e.layout == Kustomize {
		done, err := e.try(left, []fieldWay{e.strategicPatch, e.jsonPatch}, &reason)
		if done || err != nil {
			return err
		}
	}
	if reason == nil {
		reason = refuse(BadField, e.dir, 0, "%s of %s stands in no file of the folder: change it by hand", left[0].Path, left[0].Object)
	}
	return reason
}

// try takes the first way after which exactly the goals are rendered otherwise. Why the best of the others does not is the reason.
func (e *fieldEdit) try(goals []fieldGoal, ways []fieldWay, reason *error) (bool, error) {
	for _, way := range ways {
		err := e.take(goals, way)
		var refused *Refusal
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, errNotThisWay):
		case errors.As(err, &refused):
			if *reason == nil {
				*reason = err
			}
		default:
			return false, err
		}
	}
	return false, nil
}

var errNotThisWay = errors.New("it cannot be set this way")

func (e *fieldEdit) take(goals []fieldGoal, way fieldWay) error {
	file, data, ok, err := way(goals)
	if err != nil {
		return err
	}
	if !ok {
		return errNotThisWay
	}
	edited := e.tree.edited(map[string][]byte{file: data})
	after, err := renderLayout(edited, e.dir, e.layout)
	if err != nil {
		return err
	}
	if err := e.onlySets(after, file, goals); err != nil {
		return err
	}
	e.tree, e.now, e.files[file] = edited, after, data
	return nil
}

// onlySets holds an edit to its promise: the goals have their values, and nothing else is rendered otherwise.
func (e *fieldEdit) onlySets(after Rendered, file string, goals []fieldGoal) error {
	wanted := Rendered{Objects: slices.Clone(e.now.Objects)}
	for i, o := range wanted.Objects {
		if o.ID != goals[0].object.ID {
			continue
		}
		wanted.Objects[i].Content = runtime.DeepCopyJSON(o.Content)
		for _, g := range goals {
			setField(wanted.Objects[i].Content, g.Steps, g.Value)
		}
	}
	changes := Diff(wanted, after)
	for _, change := range changes {
		for _, g := range goals {
			if change.Object == g.object.ID && change.Path != "" && isSame(change.old, g.Value) {
				return refuse(BadField, file, 0, "something else decides %s of %s: change that by hand", change.Path, change.Object)
			}
		}
	}
	if len(changes) > 0 {
		return refuse(UnintendedChange, file, 0, "the edit would also change %s %s", changes[0].Object, changes[0].Path)
	}
	return nil
}
