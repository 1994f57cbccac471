package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Observed records what a cluster was seen to do, when it differs from what was
// seen before, and has the promotions of that target looked at.
func (s *Service) Observed(ctx context.Context, o Observation) error {
	target, err := s.targetOf(ctx, o)
	if err != nil {
		return fmt.Errorf("find the target of %s: %w", o.Key.Name, err)
	}
	references, err := s.runningReferences(ctx, o)
	if err != nil {
		return fmt.Errorf("recognise what runs in %s: %w", o.Key.Name, err)
	}
	var policy EnvironmentPolicy
	if target.ID != 0 {
		if policy, err = s.PolicyFor(ctx, target); err != nil && !isRefusal(err) {
			return err
		}
	}
	err = s.Store.Tx(ctx, func(tx Tx) error {
		var release int64
		if target.ID != 0 {
			for i, ref := range references {
				references[i] = policy.PostedAs(ref)
			}
			desired, err := tx.LatestRevision(ctx, target.ID)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			if release, err = tx.ReleaseOf(ctx, target.ApplicationID, references, s.appliedCharts(ctx, o, target), desired.ReleaseID); err != nil {
				return err
			}
		}
		changed, err := tx.SaveObservation(ctx, o, target.ID, release)
		if err != nil || !changed || target.ID == 0 {
			return err
		}
		if err := tx.EnqueueTarget(ctx, target.ID); err != nil {
			return err
		}
		return s.enqueueWatchers(ctx, tx, target)
	})
	if err != nil {
		return fmt.Errorf("record what %s in %s does: %w", o.Key.Name, o.Key.Cluster, err)
	}
	return nil
}

// appliedCharts are the charts as pinned at the revision that was applied: containers do not tell by which version of a chart they
// came to be. None when the mirror does not have the revision.
func (s *Service) appliedCharts(ctx context.Context, o Observation, t Target) []Chart {
	site, err := s.site(t)
	if err != nil || o.Revision == "" {
		return nil
	}
	tree, err := site.Repository.Tree(ctx, o.Revision)
	if err != nil {
		return nil
	}
	return s.Manifests.Charts(tree, t.Path)
}

// targetOf is the target whose overlay a deployment applies, zero when there is none.
func (s *Service) targetOf(ctx context.Context, o Observation) (Target, error) {
	if len(o.EngineObject) == 0 {
		return Target{}, nil
	}
	for name, site := range s.Sites {
		paths, err := s.Engine.Deploys(o.EngineObject, site.URL, site.BaseBranch)
		if err != nil {
			return Target{}, err
		}
		if len(paths) == 0 {
			continue
		}
		targets, err := s.Store.TargetsAt(ctx, name, paths)
		if err != nil {
			return Target{}, err
		}
		if len(targets) > 0 {
			return targets[0], nil
		}
	}
	return Target{}, nil
}

// runningReferences names what the containers really run, by the digest that was
// posted: an imageID may be a platform's manifest of it. An image that is asked for by tag keeps its tag.
func (s *Service) runningReferences(ctx context.Context, o Observation) ([]string, error) {
	var ids []string
	for _, c := range o.RunningImages {
		ids = append(ids, digestOf(c.ImageID))
	}
	platforms, err := s.Store.Platforms(ctx, ids)
	if err != nil {
		return nil, err
	}
	var refs []string
	for _, c := range o.RunningImages {
		repository, digest, ok := strings.Cut(c.ImageID, "@")
		if !ok || !strings.Contains(c.Image, "@") {
			refs = append(refs, c.Image)
			continue
		}
		if index, known := platforms[digest]; known {
			digest = index
		} else if digest != digestOf(c.Image) && s.holds(ctx, c.Image, digest) {
			digest = digestOf(c.Image)
			platforms[digestOf(c.ImageID)] = digest
		}
		refs = append(refs, repository+"@"+digest)
	}
	return refs, nil
}

// holds asks the registry whether an index holds a manifest, and remembers its
// answer. A registry that does not answer leaves the digest unrecognised, until the next observation.
func (s *Service) holds(ctx context.Context, index, manifest string) bool {
	facts, err := s.Registry.Image(ctx, index)
	if err != nil || s.rememberPlatforms(ctx, digestOf(index), facts.Manifests) != nil {
		return false
	}
	return slices.ContainsFunc(facts.Manifests, func(m PlatformManifest) bool { return m.Digest == manifest })
}

func digestOf(reference string) string {
	_, digest, _ := strings.Cut(reference, "@")
	return digest
}
