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
	return rendering(r), nil
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

// SetImages finds the names under which the overlay knows the images'
// repositories. An image that this target does not use is left out; none at all is an error.
func (o Overlays) SetImages(tree fs.FS, path string, images []promotion.WantedImage) (promotion.Change, error) {
	named, err := manifest.NamedImages(tree, path)
	if err != nil {
		return promotion.Change{}, err
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
		return promotion.Change{}, fmt.Errorf("%s runs none of the release's images: %v", path, images)
	}
	edit, err := manifest.SetImages(tree, path, changes)
	if err != nil {
		return promotion.Change{}, err
	}
	change := compared(edit.Before, edit.After)
	change.Files = edit.Files
	return change, nil
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
	return compared(old, changed), nil
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
