// Package overlays lets the domain edit, render and compare a config repository's overlays by
// package manifest, in the domain's own terms: images by their repository, objects as text.
package overlays

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Overlays implements promotion.Manifests.
type Overlays struct{}

var _ promotion.Manifests = Overlays{}

// diffLines bounds the diff that is stored with a promotion and shown to people.
const diffLines = 400

// Discover implements promotion.Manifests.
func (o Overlays) Discover(tree fs.FS, layout promotion.Layout) ([]promotion.FoundTarget, error) {
	var found []promotion.FoundTarget
	for _, root := range layout.Roots {
		targets, err := manifest.Discover(tree, root)
		if err != nil {
			return nil, err
		}
		for _, t := range targets {
			rank, said := layout.Ranks[t.Environment]
			if !said {
				rank = manifest.Rank(t.Environment)
			}
			found = append(found, promotion.FoundTarget{Application: t.Application, Environment: t.Environment,
				Rank: rank, Path: t.Path, Layout: string(t.Layout)})
		}
	}
	return found, nil
}

// Render implements promotion.Manifests.
func (o Overlays) Render(tree fs.FS, path string) (promotion.Rendering, error) {
	r, err := manifest.Render(tree, path)
	if err != nil {
		return promotion.Rendering{}, err
	}
	out := rendering(r)
	out.Charts = charts(tree, path)
	return out, nil
}

// Images implements promotion.Manifests.
func (o Overlays) Images(tree fs.FS, path string) ([]promotion.OverlayImage, error) {
	named, err := manifest.NamedImages(tree, path)
	if err != nil {
		return nil, err
	}
	images := make([]promotion.OverlayImage, len(named))
	for i, n := range named {
		images[i] = promotion.OverlayImage{Name: n.Name, Reference: decisive(n.Reference)}
	}
	return images, nil
}

// setImages finds the names under which the overlay knows the images' repositories. What this target does not use is left out.
func setImages(tree fs.FS, path string, images []promotion.WantedImage) (edit manifest.Edit, used bool, err error) {
	named, err := manifest.NamedImages(tree, path)
	if err != nil {
		return edit, false, err
	}
	var changes []manifest.ImageChange
	for _, image := range images {
		for _, n := range named {
			change := manifest.ImageChange{Name: n.Name, Target: image.Reference}
			used := promotion.RepositoryOf(n.Reference)
			if (used == promotion.RepositoryOf(image.Reference) || used == image.Posted) && !slices.Contains(changes, change) {
				changes = append(changes, change)
			}
		}
	}
	if len(changes) == 0 {
		return edit, false, nil
	}
	edit, err = manifest.SetImages(tree, path, changes)
	return edit, true, err
}

// Compare implements promotion.Manifests. A target whose folder is not there renders nothing.
func (o Overlays) Compare(before, after fs.FS, path string) (promotion.Change, error) {
	old, err := renderThere(before, path)
	if err != nil {
		return promotion.Change{}, fmt.Errorf("before the change: %w", err)
	}
	changed, err := renderThere(after, path)
	if err != nil {
		return promotion.Change{}, fmt.Errorf("after the change: %w", err)
	}
	return pinned(compared(old, changed), before, after, path), nil
}

func renderThere(tree fs.FS, path string) (manifest.Rendered, error) {
	if _, err := fs.Lstat(tree, path); errors.Is(err, fs.ErrNotExist) {
		return manifest.Rendered{}, nil
	}
	return manifest.Render(tree, path)
}

func compared(before, after manifest.Rendered) promotion.Change {
	differences := manifest.Diff(before, after)
	change := promotion.Change{Before: rendering(before), After: rendering(after), Diff: manifest.Text(differences, diffLines)}
	for _, d := range differences {
		if d.Action == manifest.Removed && d.Path == "" {
			change.Removed = append(change.Removed, promotion.RemovedObject{Object: d.Object.String(), Stateful: d.Stateful})
		}
		if d.Action == manifest.Added && d.Path == "" {
			change.Added = append(change.Added, d.Object.String())
		}
	}
	for _, id := range manifest.NewSecrets(before, after) {
		change.PlaintextSecrets = append(change.PlaintextSecrets, id.String())
	}
	return change
}

// pinned adds the charts that a target pins on both sides to a change.
func pinned(change promotion.Change, before, after fs.FS, path string) promotion.Change {
	change.Before.Charts, change.After.Charts = charts(before, path), charts(after, path)
	return change
}

func rendering(r manifest.Rendered) promotion.Rendering {
	out := promotion.Rendering{Hash: r.Hash()}
	for _, image := range r.Images() {
		out.Images = append(out.Images, promotion.RenderedImage{Object: image.Object.String(), Container: image.Container,
			Name: promotion.RepositoryOf(image.Reference), Reference: decisive(image.Reference)})
	}
	return out
}

// decisive leaves the tag out of a reference that has a digest too, as charts render them: whoever pulls follows the digest,
// and what is one image must compare as one.
func decisive(reference string) string {
	if _, digest, ok := strings.Cut(reference, "@"); ok {
		return promotion.RepositoryOf(reference) + "@" + digest
	}
	return reference
}

// Objects are what a target renders to, as a cluster takes them.
func (o Overlays) Objects(tree fs.FS, path string) ([]*unstructured.Unstructured, error) {
	r, err := manifest.Render(tree, path)
	if err != nil {
		return nil, err
	}
	all := make([]*unstructured.Unstructured, len(r.Objects))
	for i, object := range r.Objects {
		all[i] = &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object.Content)}
	}
	return all, nil
}
