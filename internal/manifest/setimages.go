package manifest

import (
	"bytes"
	"io/fs"
	"regexp"
	"slices"
)

// ImageChange says what one image of an overlay is to become.
type ImageChange struct {
	// Name is the image without tag or digest, as it reaches the overlay's own
	// `images`: what the manifests say, or what a base or component made of it.
	// Of a Helm chart it is what it renders.
	Name string
	// Target is repository@sha256:…
	Target string
}

// Edit is a change of source files with what it does to the rendering.
type Edit struct {
	Files  map[string][]byte // changed files, whole, by path; empty for a no-op
	Before Rendered
	After  Rendered
	NoOp   bool // the source says so already
}

// SetImages makes every container of the overlay that uses one of the images
// run exactly its target, by the smallest edit of the overlay's own source. In
// a Kustomize overlay that is an entry of `images`; bases and components are
// never edited. In a folder of plain manifests it is each reference itself. In
// one with Helm values it is the image's place there; a tag that the chart puts
// in front of the digest stays, and says nothing. The overlay is rendered before
// and after. Doing the same edit again is a no-op. The error is a *Refusal, or what reading fsys returned.
func SetImages(fsys fs.FS, overlay string, changes []ImageChange) (Edit, error) {
	goals := make([]goal, len(changes))
	for i, change := range changes {
		target, err := parseTarget(change.Target)
		if err != nil {
			return Edit{}, err
		}
		if slices.ContainsFunc(changes[:i], func(c ImageChange) bool { return c.Name == change.Name }) {
			return Edit{}, refuse(AmbiguousImage, "", 0, "the image %s is given twice", change.Name)
		}
		goals[i] = goal{name: change.Name, target: target}
	}
	t := newTree(fsys)
	dir, layout, err := t.layout(overlay)
	if err != nil {
		return Edit{}, err
	}
	switch layout {
	case Helm:
		return setHelmImages(t, dir, goals)
	case Plain:
		return setPlainImages(t, dir, goals)
	}
	return setKustomizeImages(t, dir, goals)
}

// goal is a checked change.
type goal struct {
	name   string
	target reference
	before string // what the image's repository renders as before the edit
}

// nameForm keeps regular expressions out: kustomize would run the name of an
// entry that is added here as one.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]*$`)

func setKustomizeImages(t *tree, dir string, goals []goal) (Edit, error) {
	found := scan(t, dir)
	if err := first(found.refusals); err != nil {
		return Edit{}, err
	}
	file, data := found.overlay.name, found.overlay.data
	for i := range goals {
		change, err := pinImage(file, data, &goals[i])
		if err != nil {
			return Edit{}, err
		}
		data = change
	}
	edited := t.edited(map[string][]byte{file: data})
	before, err := kustomize(t, dir)
	if err != nil {
		return Edit{}, err
	}
	edit := Edit{Before: before, After: before, NoOp: bytes.Equal(data, found.overlay.data)}
	if !edit.NoOp {
		if edit.After, err = kustomize(edited, dir); err != nil {
			return Edit{}, err
		}
		edit.Files = map[string][]byte{file: data}
	}
	if err := prove(t, edited, dir, file, goals, edit, found.composes); err != nil {
		return Edit{}, err
	}
	return edit, nil
}

// prove checks the edit against its renderings. Where these leave open which
// images an entry acts on, or whether the image is used at all, a rendering
// without the overlay's own `images` tells.
func prove(t, edited *tree, dir, file string, goals []goal, edit Edit, composes bool) error {
	entries := mustParse(file, edited.files[file]).entries()
	reach := func() error { return checkReach(edited, dir, file, entries, goals, edit.After) }
	doubt := slices.ContainsFunc(goals, func(g goal) bool { return inDoubt(t, entries, g, composes) })
	if doubt {
		if err := reach(); err != nil {
			return err
		}
	}
	proven, err := verify(edit, file, goals)
	if err != nil || doubt || len(proven) == len(goals) {
		return err
	}
	return reach()
}

// pinImage edits the kustomization's bytes for one image.
func pinImage(file string, data []byte, g *goal) ([]byte, error) {
	s, err := parse(file, data)
	if err != nil {
		return nil, refuse(BadKustomization, file, 0, "not YAML: %v", err)
	}
	if !nameForm.MatchString(g.name) {
		return nil, refuse(ImageNotFound, file, 0, "%q is not an image name", g.name)
	}
	entries := s.entries()
	for _, e := range entries {
		if e.pattern == nil {
			return nil, refuse(RenderFailed, file, e.line,
				"the name %q is no valid regular expression, on which kustomize panics", e.name)
		}
	}
	rendered, acting := chain(entries, g.name)
	g.before = splitReference(rendered).repository
	if len(acting) > 1 {
		return nil, refuse(AmbiguousImage, file, entries[acting[1]].line,
			"%d entries act on %s, one on the result of the other", len(acting), g.name)
	}
	var next []byte
	if len(acting) == 1 {
		next, err = s.pinned(acting[0], *g)
	} else {
		next, err = s.added(*g)
	}
	if err != nil {
		return nil, err
	}
	return next, s.checkEdit(next, acting, *g)
}

// pinned gives the file with the entry at an index edited.
func (s *source) pinned(index int, g goal) ([]byte, error) {
	for {
		entries := s.entries()
		if index >= len(entries) {
			return nil, s.unsafe("the entry would not be there any more")
		}
		splices, more, err := s.pin(entries[index], g.name, g.target)
		if err != nil {
			return nil, err
		}
		data, err := s.apply(splices)
		if err != nil || !more {
			return data, err
		}
		next, err := parse(s.name, data)
		if err != nil {
			return nil, s.unsafe(err.Error())
		}
		s = next
	}
}

// mustParse parses what has been parsed or checked before.
func mustParse(file string, data []byte) *source {
	s, err := parse(file, data)
	if err != nil {
		panic("manifest: " + file + " parsed before: " + err.Error())
	}
	return s
}

// checkEdit reads the edited bytes again: the entries must say what they
// should, and everything else the same as before.
func (s *source) checkEdit(next []byte, acting []int, g goal) error {
	after, err := parse(s.name, next)
	if err != nil {
		return s.unsafe(err.Error())
	}
	entries := after.entries()
	result, acted := chain(entries, g.name)
	if len(acted) != 1 || result != g.target.String() {
		if len(acted) > 1 {
			return refuse(AmbiguousImage, s.name, entries[acted[1]].line,
				"another entry would act on %s after the edit", g.target)
		}
		return s.unsafe("the entry would not have the effect it should")
	}
	if len(acting) == 1 && !slices.Equal(acting, acted) {
		return s.unsafe("another entry would act on the image")
	}
	if !sameElsewhere(s, after, acted[0], len(acting) == 0) {
		return s.unsafe("something beside the entry would change")
	}
	return nil
}

// sameElsewhere compares two readings of a kustomization without the entry at
// the index, which is new or edited.
func sameElsewhere(before, after *source, index int, added bool) bool {
	read := func(s *source, skip bool) any {
		root, _ := content(s.root()).(map[string]any)
		rest := []any{}
		for i, e := range s.entries() {
			if !skip || i != index {
				rest = append(rest, content(e.node))
			} else {
				kept, _ := content(e.node).(map[string]any)
				for _, key := range []string{"newName", "newTag", "tagSuffix", "digest"} {
					deleteFold(kept, key)
				}
				if !added {
					rest = append(rest, kept)
				}
			}
		}
		for _, key := range imageLists {
			deleteFold(root, key)
		}
		return []any{root, rest}
	}
	return bytes.Equal(canonical(read(before, !added)), canonical(read(after, true)))
}
