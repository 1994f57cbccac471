package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// rolledBack is what is known of a rollback past Git.
type rolledBack struct {
	deployment Deployment
	look       DriftLook
	release    Release // that runs
	images     []Drift // that were set to it; none: the engine was made to apply an older commit
	others     []Drift // that count, too
}

// rolledBackTo finds the earlier release that runs past Git. One commit holds for all of a target's clusters, so all have to run it.
func (s *Service) rolledBackTo(ctx context.Context, t Target) (found rolledBack, err error) {
	main, err := s.Store.LatestRevision(ctx, t.ID)
	if err != nil {
		return found, unknown(err, "unknown-release", "main is not known to have %s", t.Path)
	}
	found.deployment, err = s.runsOtherwise(ctx, t, main)
	if err != nil {
		return found, err
	}
	if found.look, err = s.knownDrift(ctx, t, found.deployment); err != nil {
		return found, err
	}
	drifts, err := s.Store.Drifts(ctx, t.ID, true, driftsRead)
	if err != nil {
		return found, fmt.Errorf("read the drift of %s: %w", t.Path, err)
	}
	for _, d := range drifts {
		switch {
		case d.Deployment != found.deployment.Key || !d.Counts():
		case isImage(d.Path):
			found.images = append(found.images, d)
		default:
			found.others = append(found.others, d)
		}
	}
	if found.release, err = s.adoptable(ctx, t, found, main); err != nil {
		return found, err
	}
	return found, s.refuseNeverHere(ctx, t, found.release)
}

// driftsRead is how much of a target's drift is read.
const driftsRead = 300

func isImage(path string) bool { return strings.HasSuffix(path, ".image") }

// runsOtherwise is a deployment that runs another release than main says, as all of the target's do.
func (s *Service) runsOtherwise(ctx context.Context, t Target, main TargetRevision) (Deployment, error) {
	all, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return Deployment{}, fmt.Errorf("read deployments of %s: %w", t.Path, err)
	}
	all = slices.DeleteFunc(all, func(d Deployment) bool { return len(d.EngineObject) == 0 })
	i := slices.IndexFunc(all, func(d Deployment) bool { return d.ReleaseID != main.ReleaseID })
	if i < 0 {
		return Deployment{}, conflict("nothing-to-adopt", "%s in %s runs the release that Git says: there is none to adopt. If it was another one, something has undone that",
			t.Application, t.Environment)
	}
	for _, d := range all {
		if d.ReleaseID != all[i].ReleaseID {
			return Deployment{}, conflict("clusters-differ", "%s in %s and %s in %s do not run the same: one commit holds for both. Make them run the same, or restore what Git says",
				d.Key.Name, d.Key.Cluster, all[i].Key.Name, all[i].Key.Cluster)
		}
	}
	return all[i], nil
}

// knownDrift is the last look at a deployment, unless what is so now is unknown.
func (s *Service) knownDrift(ctx context.Context, t Target, d Deployment) (DriftLook, error) {
	looks, err := s.Store.DriftLooks(ctx, t.ID)
	if err != nil {
		return DriftLook{}, fmt.Errorf("read the looks for drift of %s: %w", t.Path, err)
	}
	i := slices.IndexFunc(looks, func(l DriftLook) bool { return l.DeploymentID == d.ID })
	switch {
	case i < 0:
		return DriftLook{}, conflict("drift-unknown", "%s in %s was not compared with Git yet: try again in a minute", d.Key.Name, d.Key.Cluster)
	case looks[i].Problem != "":
		return DriftLook{}, conflict("drift-unknown", "it is unknown how %s in %s differs from Git: %s", d.Key.Name, d.Key.Cluster, looks[i].Problem)
	}
	return looks[i], nil
}

// adoptable is the release that runs, if it was rolled back to by hand and each image that was set is one of it.
func (s *Service) adoptable(ctx context.Context, t Target, found rolledBack, main TargetRevision) (Release, error) {
	d := found.deployment
	if d.ReleaseID == 0 {
		return Release{}, noSuchRelease(t, strings.Join(otherImages(d.Images, main.Images), ", "))
	}
	release, err := s.Store.Release(ctx, d.ReleaseID)
	if err != nil {
		return Release{}, fmt.Errorf("read release %d: %w", d.ReleaseID, err)
	}
	for _, image := range found.images {
		digest := digestOf(image.Have)
		platforms, err := s.Store.Platforms(ctx, []string{digest})
		if err != nil {
			return release, fmt.Errorf("read what %s is a platform of: %w", digest, err)
		}
		if index, known := platforms[digest]; known {
			digest = index
		}
		if !slices.Contains(digests(release), digest) {
			return release, noSuchRelease(t, orNothing(image.Have))
		}
	}
	if found.look.Rollback == "" {
		return release, conflict("not-rolled-back", "%s runs in %s, and nothing shows that it was rolled back to by hand. If Git's release is on its way, wait for it; if %[1]s is the newer one, promote it",
			release.Version, t.Environment)
	}
	return release, nil
}

func noSuchRelease(t Target, image string) error {
	return conflict("unknown-release", "%s runs %s in %s, which no recorded release has. Have CI post it (sluice build post) and promote that, or restore what Git says",
		t.Application, image, t.Environment)
}

// otherImages are the references that run and that main does not render.
func otherImages(running []string, rendered []RenderedImage) []string {
	return slices.DeleteFunc(distinct(slices.Clone(running)), func(reference string) bool {
		return slices.ContainsFunc(rendered, func(i RenderedImage) bool { return i.Reference == reference })
	})
}

// refuseNeverHere: what was set by hand and main never had here went past every environment before.
func (s *Service) refuseNeverHere(ctx context.Context, t Target, r Release) error {
	revisions, err := s.Store.RevisionsOf(ctx, t.ID, historyShown)
	if err != nil {
		return fmt.Errorf("read the history of %s: %w", t.Path, err)
	}
	if !slices.ContainsFunc(revisions, func(v TargetRevision) bool { return v.ReleaseID == r.ID }) {
		return conflict("never-here", "main never had %s in %s, so there is nothing to go back to: promote it, which passes the environments before, or restore what Git says", r.Version, t.Environment)
	}
	return nil
}
