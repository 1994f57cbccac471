package manifest

import (
	"cmp"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
)

// NamedImage is an image of an overlay by the name it has before the overlay's
// own `images` act, which is the name that SetImages takes.
type NamedImage struct {
	Name      string
	Reference string // as rendered
}

// NamedImages lists the images that an overlay's containers run, each pair
// once, by name. The error is a *Refusal, or what reading fsys returned.
func NamedImages(fsys fs.FS, overlay string) ([]NamedImage, error) {
	t := newTree(fsys)
	dir, layout, err := t.layout(overlay)
	if err != nil {
		return nil, err
	}
	if layout != Kustomize {
		rendered, err := renderLayout(t, dir, layout)
		return pairImages(rendered, rendered), err
	}
	found := scan(t, dir)
	if err := first(found.refusals); err != nil {
		return nil, err
	}
	rendered, err := kustomize(t, dir)
	if err != nil {
		return nil, err
	}
	raw, err := withoutImages(t, dir, found.overlay)
	if err != nil {
		return nil, err
	}
	return pairImages(raw, rendered), nil
}

// withoutImages renders a scanned overlay as if it had no `images` of its own.
func withoutImages(t *tree, dir string, overlay *source) (Rendered, error) {
	root, _ := content(overlay.root()).(map[string]any)
	for _, key := range imageLists {
		deleteFold(root, key)
	}
	bare, err := json.Marshal(root)
	if err != nil {
		return Rendered{}, refuse(BadKustomization, overlay.name, 0, "the file has keys that are not text")
	}
	return kustomize(t.edited(map[string][]byte{overlay.name: bare}), dir)
}

// pairImages pairs what stands at the same place of two renderings.
func pairImages(raw, rendered Rendered) []NamedImage {
	type place struct {
		object ID
		path   string
	}
	references := map[place]string{}
	for _, image := range rendered.Images() {
		references[place{image.Object, image.Path}] = image.Reference
	}
	var pairs []NamedImage
	for _, image := range raw.Images() {
		reference, there := references[place{image.Object, image.Path}]
		pair := NamedImage{splitReference(image.Reference).repository, reference}
		if there && image.Container != "" && !slices.Contains(pairs, pair) {
			pairs = append(pairs, pair)
		}
	}
	slices.SortFunc(pairs, func(a, b NamedImage) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Reference, b.Reference))
	})
	return pairs
}
