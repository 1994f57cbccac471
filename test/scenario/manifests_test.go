package scenario_test

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// manifests lets the domain edit, render and compare by package manifest, in
// the domain's own terms: images by their repository, objects as text.
type manifests struct {
	root string // folder of the applications
}

// diffLines bounds the diff that is stored with a promotion and shown to people.
const diffLines = 400

func (m manifests) Discover(tree fs.FS) ([]promotion.FoundTarget, error) {
	targets, err := manifest.Discover(tree, m.root)
	if err != nil {
		return nil, err
	}
	found := make([]promotion.FoundTarget, len(targets))
	for i, t := range targets {
		found[i] = promotion.FoundTarget{Application: t.Application, Environment: t.Environment,
			Rank: manifest.Rank(t.Environment), Path: t.Path, Layout: string(t.Layout)}
	}
	return found, nil
}

func (m manifests) Render(tree fs.FS, path string) (promotion.Rendering, error) {
	r, err := manifest.Render(tree, path)
	if err != nil {
		return promotion.Rendering{}, err
	}
	return rendering(r), nil
}

func (m manifests) Images(tree fs.FS, path string) ([]promotion.OverlayImage, error) {
	named, err := manifest.NamedImages(tree, path)
	if err != nil {
		return nil, err
	}
	images := make([]promotion.OverlayImage, len(named))
	for i, n := range named {
		images[i] = promotion.OverlayImage{Name: n.Name, Reference: n.Reference}
	}
	return images, nil
}

// SetImages finds the names under which the overlay knows the references'
// repositories. A repository that this target does not use is left out; none at all is an error.
func (m manifests) SetImages(tree fs.FS, path string, references []string) (promotion.Change, error) {
	named, err := manifest.NamedImages(tree, path)
	if err != nil {
		return promotion.Change{}, err
	}
	var changes []manifest.ImageChange
	for _, reference := range references {
		repository := promotion.RepositoryOf(reference)
		for _, n := range named {
			change := manifest.ImageChange{Name: n.Name, Target: reference}
			if promotion.RepositoryOf(n.Reference) == repository && !slices.Contains(changes, change) {
				changes = append(changes, change)
			}
		}
	}
	if len(changes) == 0 {
		return promotion.Change{}, fmt.Errorf("%s runs none of the release's images: %v", path, references)
	}
	edit, err := manifest.SetImages(tree, path, changes)
	if err != nil {
		return promotion.Change{}, err
	}
	change := compared(edit.Before, edit.After)
	change.Files = edit.Files
	return change, nil
}

func (m manifests) Compare(before, after fs.FS, path string) (promotion.Change, error) {
	old, err := manifest.Render(before, path)
	if err != nil {
		return promotion.Change{}, fmt.Errorf("before the change: %w", err)
	}
	changed, err := manifest.Render(after, path)
	if err != nil {
		return promotion.Change{}, fmt.Errorf("after the change: %w", err)
	}
	return compared(old, changed), nil
}

func compared(before, after manifest.Rendered) promotion.Change {
	differences := manifest.Diff(before, after)
	change := promotion.Change{Before: rendering(before), After: rendering(after), Diff: manifest.Text(differences, diffLines)}
	for _, d := range differences {
		if d.Action == manifest.Removed && d.Path == "" {
			change.Removed = append(change.Removed, promotion.RemovedObject{Object: d.Object.String(), Stateful: d.Stateful})
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
			Name: promotion.RepositoryOf(image.Reference), Reference: image.Reference})
	}
	return out
}
