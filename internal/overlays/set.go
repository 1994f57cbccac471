package overlays

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Set implements promotion.Manifests. The charts come first: where a chart has an image's place may change with its version. Of
// images and charts, what this target does not use is left out; nothing at all is an error.
func (o Overlays) Set(tree fs.FS, path string, w promotion.Wanted) (promotion.Change, error) {
	files, after := map[string][]byte{}, tree
	var before, last manifest.Edit
	edited := false
	apply := func(edit manifest.Edit) {
		if !edited {
			before = edit
		}
		edited, last = true, edit
		maps.Copy(files, edit.Files)
		after = manifest.Edited(tree, files)
	}
	pins := manifest.ChartPins(tree, path)
	for _, c := range w.Charts {
		if !slices.ContainsFunc(pins, func(p manifest.ChartPin) bool { return p.Name == c.Name }) {
			continue
		}
		edit, err := manifest.SetChartVersion(after, path, c.Name, c.Version)
		if err != nil {
			return promotion.Change{}, fmt.Errorf("chart %s: %w", c, err)
		}
		apply(edit)
	}
	edit, used, err := setImages(after, path, w.Images)
	if err != nil {
		return promotion.Change{}, err
	}
	if used {
		apply(edit)
	}
	if !edited {
		return promotion.Change{}, fmt.Errorf("%s has none of the release's images and charts: %v %v", path, w.Images, w.Charts)
	}
	change := pinned(compared(before.Before, last.After), tree, after, path)
	change.Files = files
	return change, nil
}

// Charts implements promotion.Manifests.
func (o Overlays) Charts(tree fs.FS, path string) []promotion.Chart { return charts(tree, path) }

// charts are those that a target pins to one version.
func charts(tree fs.FS, path string) []promotion.Chart {
	exact := []promotion.Chart{}
	for _, pin := range manifest.ChartPins(tree, path) {
		if pin.Exact() {
			exact = append(exact, promotion.Chart{Name: pin.Name, Version: pin.Version})
		}
	}
	return exact
}
