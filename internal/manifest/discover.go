package manifest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Layout says how an overlay folder is rendered.
type Layout string

// The layouts. A folder with a kustomization file is Kustomize, whatever else
// it holds; one with a Chart.yaml or a values file is Helm; one with other
// YAML or JSON files is Plain.
const (
	Kustomize Layout = "kustomize"
	Helm      Layout = "helm"
	Plain     Layout = "plain"
)

// Target is one application in one environment, found by its folder.
type Target struct {
	Application string `json:"application"`
	Environment string `json:"environment"`
	Path        string `json:"path"` // relative to the tree's root
	Layout      Layout `json:"layout"`
}

// Discover finds the folders <root>/<application>/overlays/<environment> and
// returns them by application, then by the environment's rank, then by name.
// It only lists folders. A root that does not exist has no targets; symbolic
// links and folders with nothing to render are passed over.
func Discover(fsys fs.FS, root string) ([]Target, error) {
	var targets []Target
	applications, err := folders(fsys, root)
	if err != nil {
		return nil, err
	}
	for _, application := range applications {
		overlays := path.Join(root, application, "overlays")
		environments, err := folders(fsys, overlays)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(environments, func(a, b string) int { return Rank(a) - Rank(b) })
		for _, environment := range environments {
			dir := path.Join(overlays, environment)
			layout, err := layoutIn(fsys, dir)
			if err != nil {
				return nil, err
			}
			if layout != "" {
				targets = append(targets, Target{application, environment, dir, layout})
			}
		}
	}
	return targets, nil
}

// folders lists the folders in dir by name; none when dir is missing.
func folders(fsys fs.FS, dir string) ([]string, error) {
	entries, err := readDir(fsys, dir)
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func layoutIn(fsys fs.FS, dir string) (Layout, error) {
	entries, err := readDir(fsys, dir)
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return layoutOf(names), err
}

// layoutOf judges by the names of a folder's files; empty when none is known.
func layoutOf(files []string) Layout {
	var layout Layout
	for _, name := range files {
		switch {
		case slices.Contains(kustomizationNames, name):
			return Kustomize
		case name == "Chart.yaml", strings.HasPrefix(name, "values") && isManifestName(name):
			layout = Helm
		case isManifestName(name) && layout == "":
			layout = Plain
		}
	}
	return layout
}

func isManifestName(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json":
		return !strings.HasPrefix(name, ".")
	}
	return false
}

func readDir(fsys fs.FS, dir string) ([]fs.DirEntry, error) {
	info, err := fs.Lstat(fsys, dir)
	if err != nil || !info.IsDir() {
		return nil, nil
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("read folder %s: %w", dir, err)
	}
	return entries, nil
}
