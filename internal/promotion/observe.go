package promotion

import (
	"context"
	"fmt"
	"strings"
)

// Observed records what a cluster was seen to do, when it differs from what was
// seen before, and has the promotions of that target looked at.
func (s *Service) Observed(ctx context.Context, o Observation) error {
	targets, err := s.Store.Targets(ctx)
	if err != nil {
		return fmt.Errorf("find the target of %s: %w", o.Key.Name, err)
	}
	var target Target
	for _, t := range targets {
		if site, ok := s.Sites[t.Repository]; ok && t.Path == strings.Trim(o.Path, "/") && SameRepository(site.URL, o.RepositoryURL) {
			target = t
		}
	}
	references, err := s.runningReferences(ctx, o)
	if err != nil {
		return fmt.Errorf("recognise what runs in %s: %w", o.Key.Name, err)
	}
	err = s.Store.Tx(ctx, func(tx Tx) error {
		var release int64
		if target.ID != 0 {
			if release, err = tx.ReleaseOf(ctx, target.ApplicationID, references); err != nil {
				return err
			}
		}
		changed, err := tx.SaveObservation(ctx, o, target.ID, release)
		if err != nil || !changed || target.ID == 0 {
			return err
		}
		return tx.EnqueueTarget(ctx, target.ID)
	})
	if err != nil {
		return fmt.Errorf("record what %s in %s does: %w", o.Key.Name, o.Key.Cluster, err)
	}
	return nil
}

// runningReferences names what the containers really run, by the digest that was
// posted: an imageID may be a platform's manifest of it. An image that is asked for by tag keeps its tag.
func (s *Service) runningReferences(ctx context.Context, o Observation) ([]string, error) {
	var ids []string
	for _, c := range o.RunningImages {
		_, digest, _ := strings.Cut(c.ImageID, "@")
		ids = append(ids, digest)
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
		}
		refs = append(refs, repository+"@"+digest)
	}
	return refs, nil
}
