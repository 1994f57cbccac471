package manifest

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Additions are what an Argo CD Application adds to a folder that it renders.
// The part for the folder's layout counts.
type Additions struct {
	Kustomize KustomizeAdditions
	Helm      HelmAdditions
	Directory DirectoryAdditions
}

// DirectoryAdditions say which files of plain manifests are deployed.
type DirectoryAdditions struct {
	Recurse bool                   // folders below, too
	Takes   func(name string) bool // tells by a file's path below the folder; nil takes all
}

// RenderWith renders the folder dir of fsys as an Argo CD Application with these
// additions does. A Helm chart is rendered with the additions' value files only,
// and not with what an application's settings declare. The error is a *Refusal,
// or what reading fsys returned.
func RenderWith(fsys fs.FS, dir string, a Additions) (Rendered, error) {
	t := newTree(fsys)
	real, layout, err := t.layout(dir)
	if err != nil {
		return Rendered{}, err
	}
	switch {
	case layout == Kustomize:
		return a.Kustomize.render(t, real)
	case !a.Kustomize.isZero():
		return Rendered{}, refuse(NoKustomization, real, 0,
			"the Application has kustomize settings, and the folder has no kustomization file")
	case t.isChart(real):
		return a.Helm.render(t, real)
	case layout == Helm:
		return Rendered{}, refuse(NoKustomization, real, 0,
			"the folder has Helm values and no chart: an Application of this folder alone renders nothing of it")
	}
	return a.Directory.render(t, real)
}

func (d DirectoryAdditions) render(t *tree, dir string) (Rendered, error) {
	folders := []string{"."}
	if d.Recurse {
		var err error
		if folders, err = t.below(dir, "."); err != nil {
			return Rendered{}, err
		}
	}
	var objects []Object
	for _, folder := range folders {
		files, err := t.manifests(path.Join(dir, folder))
		if err != nil {
			return Rendered{}, err
		}
		for _, file := range files {
			if d.Takes != nil && !d.Takes(strings.TrimPrefix(strings.TrimPrefix(file.name, dir), "/")) {
				continue
			}
			found, err := readObjects(file.name, file.data)
			if err != nil {
				return Rendered{}, err
			}
			objects = append(objects, found...)
		}
	}
	return newRendered(objects), nil
}

// below lists a folder and those below it, relative to dir. Links to folders are
// not followed.
func (t *tree) below(dir, folder string) ([]string, error) {
	if strings.Count(folder, "/") > maxLinks {
		return nil, refuse(TooLarge, dir, 0, "the folders are nested too deeply")
	}
	names, err := t.list(path.Join(dir, folder))
	if err != nil {
		return nil, err
	}
	all := []string{folder}
	for _, name := range names {
		name = path.Join(folder, name)
		real, isDir, err := t.resolve(path.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!isDir || real != path.Join(dir, name)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		inner, err := t.below(dir, name)
		if err != nil {
			return nil, err
		}
		if all = append(all, inner...); len(all) > maxFolders {
			return nil, refuse(TooLarge, dir, 0, "the folder has more than %d folders below it", maxFolders)
		}
	}
	return all, nil
}

// Overlaid puts what another source of the same Application renders on top: of
// an object that both have, the other's stays.
func (r Rendered) Overlaid(other Rendered) Rendered {
	upper := map[ID]bool{}
	for _, object := range other.Objects {
		upper[object.ID] = true
	}
	objects := slices.Clone(other.Objects)
	for _, object := range r.Objects {
		if !upper[object.ID] {
			objects = append(objects, object)
		}
	}
	return newRendered(objects)
}

// OverriddenImages lists the images of a rendering without an Application's
// additions whose reference stands at fewer places in the one with them, in the
// order of the places. Of an image that the additions leave alone nothing is
// listed, even where they rename the object that runs it.
func OverriddenImages(without, with Rendered) []Image {
	left := map[string]int{}
	for _, image := range with.Images() {
		left[image.Reference]++
	}
	before := without.Images()
	slices.Reverse(before) // so that of equal references the last places are taken first
	var overridden []Image
	for _, image := range before {
		if left[image.Reference]--; left[image.Reference] < 0 {
			overridden = append(overridden, image)
		}
	}
	slices.Reverse(overridden)
	return overridden
}
