package manifest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// inDoubt tells whether the entries alone do not show which images they act
// on. An entry's name is a regular expression to kustomize, where a dot stands
// for any character. There is no doubt as long as nothing in the files read
// looks like the name and is not the name.
func inDoubt(t *tree, entries []entry, g goal, composes bool) bool {
	_, acting := chain(entries, g.name)
	own := entries[acting[0]]
	for i, e := range entries {
		if !nameForm.MatchString(e.name) || splitReference(e.name).repository != e.name {
			return true
		}
		if i != acting[0] && e.newName != "" && own.actsOn(e.newName) {
			return true
		}
	}
	if own.name == g.name && !strings.Contains(g.name, ".") {
		return false
	}
	if composes {
		return true
	}
	like := regexp.MustCompile(own.name) // entries with other names returned above
	for _, data := range t.files {
		for _, match := range like.FindAll(data, -1) {
			if string(match) != g.name {
				return true
			}
		}
	}
	return false
}

// checkReach renders the overlay without its own `images` and follows every
// image through the entries: each goal's entry must act on its image only, and
// no other entry on that image.
func checkReach(t *tree, dir, file string, entries []entry, goals []goal, after Rendered) error {
	raw, err := withoutImages(t, dir, mustParse(file, t.files[file]))
	if err != nil {
		return err
	}
	references := reaching(raw, after)
	for _, g := range goals {
		if err := checkGoal(file, entries, references, g); err != nil {
			return err
		}
	}
	return nil
}

func checkGoal(file string, entries []entry, references []string, g goal) error {
	_, acting := chain(entries, g.name)
	own, used := acting[0], false
	for _, reference := range references {
		_, acted := chain(entries, reference)
		isName := splitReference(reference).repository == g.name
		used = used || isName
		switch {
		case isName && len(acted) > 1:
			return refuse(AmbiguousImage, file, entries[acted[1]].line, "%d entries act on %s", len(acted), reference)
		case isName && !slices.Contains(acted, own): // another entry made something of it that the own one does not know
			return refuse(AmbiguousImage, file, entries[own].line, "the entry for %s does not act on %s, since another does or its form is none of an image", g.name, reference)
		case !isName && slices.Contains(acted, own):
			return refuse(AmbiguousImage, file, entries[own].line, "the entry for %s also acts on %s", g.name, reference)
		}
	}
	if !used {
		return refuse(ImageNotFound, file, 0, "nothing that the overlay renders uses the image %s", g.name)
	}
	return nil
}

// reaching lists the references that stand where images act: at image fields,
// and wherever the rendering with entries differs.
func reaching(raw, after Rendered) []string {
	references := map[string]bool{}
	for _, image := range raw.Images() {
		references[image.Reference] = true
	}
	for _, change := range Diff(raw, after) {
		if old, ok := change.old.(string); ok {
			references[old] = true
		}
	}
	return slices.Sorted(maps.Keys(references))
}

// deleteFold deletes a key however it is capitalised.
func deleteFold(fields map[string]any, key string) {
	maps.DeleteFunc(fields, func(k string, _ any) bool { return strings.EqualFold(k, key) })
}
