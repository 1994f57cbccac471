package lint

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sluicehq/sluice/internal/manifest"
)

// reach lists the files that a target is made of, nearest first: those of the
// overlay, then those of its bases. For charts and plain manifests these are
// the files of the folder.
func (r *repository) reach(dir string, layout manifest.Layout) []string {
	if layout != manifest.Kustomize {
		return r.files.below(dir)
	}
	var names []string
	seen := map[string]bool{}
	for queue := []string{dir}; len(queue) > 0; {
		next := queue[0]
		queue = queue[1:]
		if seen[next] {
			continue
		}
		seen[next] = true
		for _, name := range r.named(next) {
			if r.files.byName[name] == nil {
				queue = append(queue, name) // a folder, or nothing at all
			} else if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// named lists what the kustomization of a folder names, itself first.
func (r *repository) named(dir string) []string {
	if names, known := r.closes[dir]; known {
		return names
	}
	var names []string
	if k := r.files.kustomization(dir); k != nil {
		k.load()
		names = append(names, k.name)
		for _, doc := range k.docs[:min(1, len(k.docs))] {
			for _, name := range namedIn(doc) {
				names = append(names, path.Join(dir, name))
			}
		}
	}
	r.closes[dir] = names
	return names
}

// namedIn lists the files and folders that a kustomization names.
func namedIn(kustomization *yaml.Node) []string {
	var names []string
	for _, field := range []string{"patches", "patchesJson6902", "replacements"} {
		for _, item := range items(get(kustomization, field)) {
			names = append(names, scalar(get(item, "path")))
		}
	}
	for _, field := range []string{"configMapGenerator", "secretGenerator"} {
		for _, generator := range items(get(kustomization, field)) {
			for _, s := range generatorFiles(generator) {
				names = append(names, s.path)
			}
		}
	}
	for _, field := range []string{"patchesStrategicMerge", "resources", "components", "bases"} {
		for _, item := range items(get(kustomization, field)) {
			names = append(names, scalar(item))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" || strings.ContainsAny(name, "\n:") })
}

// below lists the files in a folder and the folders under it.
func (f *files) below(dir string) []string {
	from, _ := slices.BinarySearch(f.names, dir+"/")
	var names []string
	for _, name := range f.names[from:] {
		if !strings.HasPrefix(name, dir+"/") {
			break
		}
		names = append(names, name)
	}
	return names
}
