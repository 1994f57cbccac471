package promotion

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
)

// wrote tells whether a commit is exactly what Sluice would have written on its parent: killed after a push and before
// recording it, Sluice finds its own commit on the branch. What a person added or changed is never taken for it.
func (s *Service) wrote(ctx context.Context, f *situation, sha string) bool {
	repo := f.site.Repository
	c, err := repo.Commit(ctx, sha)
	if err != nil || c.Author != authorOf(signature(f)) || c.Message != strings.TrimSpace(commitMessage(f)) {
		return false
	}
	if onMain, err := repo.Contains(ctx, f.head, c.Parent); err != nil || !onMain {
		return false
	}
	before, err := repo.Tree(ctx, c.Parent)
	if err != nil {
		return false
	}
	after, err := repo.Tree(ctx, sha)
	if err != nil {
		return false
	}
	change, err := s.change(ctx, f, c.Parent, before)
	if err != nil || len(c.Changed) != len(change.Files)+len(change.Deletes) {
		return false
	}
	for name, content := range change.Files {
		written, err := fs.ReadFile(after, name)
		if err != nil || !bytes.Equal(written, content) {
			return false
		}
	}
	for _, name := range change.Deletes {
		if !slices.Contains(c.Changed, name) {
			return false
		}
	}
	return true
}

// change is the promotion's edit on a commit of main.
func (s *Service) change(ctx context.Context, f *situation, base string, tree fs.FS) (Change, error) {
	if len(f.Adopt.Fields) > 0 {
		return s.Manifests.SetFields(tree, f.Target.Path, f.Adopt.Fields)
	}
	if len(f.With) > 0 {
		return s.together(ctx, f, base, tree)
	}
	if f.Restore.Commit == "" {
		return s.Manifests.Set(tree, f.Target.Path, wantedOf(f.Release, f.policy))
	}
	return s.restored(ctx, f.site, f.Target, base, f.Restore, wantedOf(f.Release, f.policy))
}

// wanted lists the references to be set, or of a person's change those that it sets.
func (f *situation) wanted() []string {
	if f.Kind != KindChange {
		return wanted(f.Release, f.policy)
	}
	var refs []string
	for _, image := range f.changedImages() {
		if strings.Contains(image.Reference, "@") {
			refs = append(refs, withoutTag(image.Reference))
		}
	}
	return refs
}

// wanted lists the references to be set, as the environment pulls them.
func wanted(r Release, policy EnvironmentPolicy) []string {
	var refs []string
	for _, image := range wantedImages(r, policy) {
		refs = append(refs, image.Reference)
	}
	return refs
}

// wantedOf is all of a release that an overlay can have.
func wantedOf(r Release, policy EnvironmentPolicy) Wanted {
	return Wanted{Images: wantedImages(r, policy), Charts: chartsOf(r)}
}

// wantedImages lists the images to be set. What was carried forward under a tag
// was never built by CI: it is configuration, and stays as the overlay has it.
func wantedImages(r Release, policy EnvironmentPolicy) []WantedImage {
	var images []WantedImage
	for _, a := range r.Artifacts {
		if a.Digest != "" {
			images = append(images, WantedImage{Reference: policy.PulledAs(a.Reference()), Posted: a.Repository})
		}
	}
	return images
}
