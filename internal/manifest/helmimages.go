package manifest

import (
	"bytes"
	"fmt"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
)

// helmEdit finds out by rendering which values set which images, and sets them.
type helmEdit struct {
	helmTarget
	tree   *tree
	before Rendered
	images []Image // of before
	values map[string]any
}

// setHelmImages edits the values files of the folder itself; the chart and what other environments share is never edited.
func setHelmImages(t *tree, dir string, goals []goal) (Edit, error) {
	target, err := t.helmTarget(dir)
	if err != nil {
		return Edit{}, err
	}
	for _, file := range target.own {
		if _, err := t.values(file); err != nil {
			return Edit{}, err
		}
	}
	e := helmEdit{helmTarget: target, tree: t}
	if e.before, err = e.render(t); err != nil {
		return Edit{}, err
	}
	if e.values, err = effectiveValues(t, e.chart); err != nil {
		return Edit{}, refuse(RenderFailed, dir, 0, "helm cannot render the chart: %s", brief(err))
	}
	e.images = e.before.Images()
	var settings []setting
	for _, g := range goals {
		more, err := e.pin(g)
		if err != nil {
			return Edit{}, err
		}
		settings = append(settings, more...)
	}
	return e.finish(settings, goals)
}

// effectiveValues are the values that the chart's templates see, those of the charts in it included.
func effectiveValues(t *tree, c Chart) (values map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("helm panicked: %v", p)
		}
	}()
	loaded, over, err := loadValues(t, c)
	if err != nil {
		return nil, err
	}
	top, err := topValues(loaded, over, c)
	if err != nil {
		return nil, err
	}
	all, _ := top["Values"].(chartutil.Values)
	return all.AsMap(), nil
}

// finish writes the settings and proves what they do.
func (e helmEdit) finish(settings []setting, goals []goal) (Edit, error) {
	edited, err := e.write(settings)
	if err != nil {
		return Edit{}, err
	}
	edit := Edit{Before: e.before, After: e.before, NoOp: true}
	for _, file := range e.own {
		old, err := e.tree.read(file)
		if err != nil {
			return Edit{}, err
		}
		if data := edited.files[file]; !bytes.Equal(data, old) {
			if edit.Files == nil {
				edit.Files = map[string][]byte{}
			}
			edit.Files[file], edit.NoOp = data, false
		}
	}
	if edit.NoOp {
		return edit, nil
	}
	if edit.After, err = e.render(edited); err != nil {
		return Edit{}, err
	}
	moved, err := e.moved(edit.After)
	if err != nil {
		return Edit{}, err
	}
	for i, image := range e.images {
		want := splitReference(image.Reference)
		for _, g := range goals {
			if want.repository == g.name {
				want.repository, want.digest = g.target.repository, g.target.digest
			}
		}
		if now := moved[i]; now.repository != want.repository || now.digest != want.digest {
			return Edit{}, refuse(UnintendedChange, e.dir, 0, "%s %s would be %s, not %s", image.Object, image.Path, now, want)
		}
	}
	return edit, nil
}

// write puts the settings into the files.
func (e helmEdit) write(settings []setting) (*tree, error) {
	edited := e.tree
	for _, s := range settings {
		file, err := e.fileFor(edited, s.steps)
		if err != nil {
			return nil, err
		}
		data, err := file.put(s.steps, s.value, s.sibling)
		if err != nil {
			return nil, err
		}
		edited = edited.edited(map[string][]byte{file.name: data})
	}
	return edited, nil
}

// fileFor picks the values file that decides on a path: the last one that has it, or most of the way to it.
func (e helmEdit) fileFor(t *tree, steps []string) (*source, error) {
	if len(e.own) == 0 {
		return nil, refuse(PathNotFound, e.dir, 0, "the folder has no values file of its own to set %s in: add an empty values.yaml",
			joinSteps(steps))
	}
	var best *source
	most := -1
	for _, name := range slices.Backward(e.own) {
		file, err := t.values(name)
		if err != nil {
			return nil, err
		}
		if _, n, _ := file.reached(steps); n > most {
			best, most = file, n
		}
	}
	if lists := listSteps(e.values, steps); most < lists {
		return nil, refuse(PathNotFound, best.name, 0, "%s is in a list of the chart's values, and a values file replaces a list whole: copy the list here",
			joinSteps(steps))
	}
	return best, nil
}

// moved compares a rendering after an edit with the one before: the images must be at the same places and, where they differ,
// be the same under another digest or repository, and nothing else may differ but what follows from them.
func (e helmEdit) moved(after Rendered) ([]reference, error) {
	now := after.Images()
	if len(now) != len(e.images) {
		return nil, refuse(UnintendedChange, e.dir, 0, "the edit would change which images there are")
	}
	references := make([]reference, len(now))
	var goals []goal
	for i, image := range now {
		old := e.images[i]
		references[i] = splitReference(image.Reference)
		if image.Reference == old.Reference && image.Path == old.Path {
			continue
		}
		was := splitReference(old.Reference)
		goals = append(goals, goal{name: image.Reference, target: references[i], before: was.repository})
		switch tag := references[i].tag; {
		case image.Object != old.Object || image.Path != old.Path:
			return nil, refuse(UnintendedChange, e.dir, 0, "the edit would change which images there are")
		case references[i].String() != image.Reference || !digestForm.MatchString(references[i].digest) || tag != "" && tag != was.tag:
			return nil, refuse(UnintendedChange, e.dir, 0, "the chart's template would make %q of it in %s %s", image.Reference, image.Object, image.Path)
		}
	}
	edit := Edit{Before: e.before, After: after}
	if _, err := verify(edit, e.dir, goals); err != nil {
		return nil, err
	}
	return references, checkLabels(edit, e.dir)
}

// pin gives the settings that make every container with the goal's image run the target.
func (e helmEdit) pin(g goal) ([]setting, error) {
	var wanted []int // indexes of images
	done := true
	for i, image := range e.images {
		is := splitReference(image.Reference)
		if is.repository == g.name {
			wanted = append(wanted, i)
			done = done && is.repository == g.target.repository && is.digest == g.target.digest
		}
	}
	isTarget := func(image Image) bool { return image.Reference == g.target.String() }
	switch {
	case len(wanted) == 0 && !slices.ContainsFunc(e.images, isTarget):
		return nil, refuse(ImageNotFound, e.dir, 0, "nothing that the chart renders uses the image %s", g.name)
	case done:
		return nil, nil
	}
	declared, err := declaredPlaces(e.helmTarget.images, e.values, e.policy)
	if err != nil {
		return nil, err
	}
	search := placeSearch{helmEdit: e, goal: g, open: wanted, by: map[int]imagePlace{}}
	for _, places := range [][]imagePlace{declared, findPlaces(e.values, nil)} {
		if err := search.through(places); err != nil {
			return nil, err
		}
		if search.open = search.left(); len(search.open) == 0 {
			return search.settings, nil
		}
	}
	return nil, search.failed()
}
