package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// saveRevision records a commit if it changed what the target renders, and imports what it renders
// as a release when no release has it.
func (v *visit) saveRevision(ctx context.Context, tx Tx, t Target, seen sight) error {
	c, rendering := seen.commit, seen.rendering
	latest, err := tx.LatestRevision(ctx, t.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	samePins := latest.Charts == nil || slices.Equal(latest.Charts, rendering.Charts)
	if err == nil && latest.RenderedHash == rendering.Hash && samePins {
		return nil
	}
	policy := v.rules.For(t)
	for i, image := range rendering.Images {
		rendering.Images[i].Name = RepositoryOf(policy.PostedAs(image.Reference))
	}
	revision := TargetRevision{TargetID: t.ID, Commit: c, RenderedHash: rendering.Hash, Images: rendering.Images, Charts: rendering.Charts, FoundAt: v.status.LookedAt}
	_, known := v.known[t.Path]
	revision.Imported = !known || v.fresh
	if revision.PromotionID, err = tx.PromotionByCommit(ctx, t.ID, c.SHA); err != nil {
		return err
	}
	preferred := latest.ReleaseID
	if revision.PromotionID != 0 {
		p, err := tx.Promotion(ctx, revision.PromotionID)
		if err != nil {
			return err
		}
		preferred = p.Release.ID
	}
	if revision.ReleaseID, err = tx.ReleaseOf(ctx, t.ApplicationID, postedReferences(rendering, policy), rendering.Charts, preferred); err != nil {
		return err
	}
	if revision.ReleaseID == 0 {
		if revision.ReleaseID, err = v.importRelease(ctx, tx, t, seen); err != nil {
			return err
		}
	}
	return tx.InsertTargetRevision(ctx, revision)
}

// importRelease makes a release of what main renders: unproven, since no build was posted for it.
func (v *visit) importRelease(ctx context.Context, tx Tx, t Target, seen sight) (int64, error) {
	tree, err := v.site.Repository.Tree(ctx, seen.commit.SHA)
	if err != nil {
		return 0, err
	}
	images, err := v.Manifests.Images(tree, t.Path)
	if err != nil || len(images) == 0 {
		return 0, nil // nothing to run, so nothing to import; the target's page shows a rendering problem
	}
	r := Release{ApplicationID: t.ApplicationID, Application: t.Application, Line: DefaultLine, Origin: FromImport, Charts: importedCharts(seen.rendering.Charts), CreatedAt: v.status.LookedAt}
	listed := map[string]bool{}
	policy := v.rules.For(t)
	for _, img := range images {
		img.Reference = policy.PostedAs(img.Reference)
		a := artifactOf(img)
		if listed[a.Repository] {
			continue
		}
		listed[a.Repository] = true
		r.Artifacts = append(r.Artifacts, a)
	}
	r.Version = importedVersion(r.Artifacts)
	key := artifactsKey(r)
	if same, err := tx.ReleaseWithArtifacts(ctx, r.ApplicationID, key); err == nil {
		return same.ID, nil
	} else if !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	if err := tx.LockApplication(ctx, t.ApplicationID); err != nil {
		return 0, err
	}
	r, err = tx.InsertRelease(ctx, r, key)
	if err != nil {
		return 0, fmt.Errorf("import what %s renders: %w", t.Path, err)
	}
	e := v.releaseEvent(ctx, Sluice(), r, "release.imported", fmt.Sprintf("release %d of %s imported from %s: unproven", r.Number, r.Application, t.Path))
	e.Environment, e.After = t.Environment, r
	return r.ID, tx.Audit(ctx, e)
}

// importedVersion is the tag where there is one, else the start of the digest.
func importedVersion(artifacts []Artifact) string {
	for _, a := range artifacts {
		if a.Tag != "" {
			return a.Tag
		}
	}
	return "imported-" + strings.TrimPrefix(artifacts[0].Digest, "sha256:")[:8]
}

// postedReferences are the rendered images as CI posted them.
func postedReferences(r Rendering, policy EnvironmentPolicy) []string {
	refs := make([]string, 0, len(r.Images))
	for _, img := range r.Images {
		refs = append(refs, policy.PostedAs(img.Reference))
	}
	return refs
}
