package promotion

import (
	"context"
	"fmt"
)

// Standing says whether the gates of a target hold what they hold, or only advise. There are two locks: the host does not merge
// without the status, which nobody but Sluice can set; and nothing but Sluice starts the sync, before which it asks the gates again.
type Standing struct {
	Held    bool
	Lacking []string // what keeps it from being held, in words
}

// Standing is how a target stands now. What is not known is lacking.
func (s *Service) Standing(ctx context.Context, t Target, deployments []Deployment) (Standing, error) {
	r, err := s.Store.Repository(ctx, t.Repository)
	if err != nil {
		return Standing{}, fmt.Errorf("read how %s is protected: %w", t.Repository, err)
	}
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return Standing{}, err
	}
	lacking := append(firstLock(r), secondLock(policy, deployments)...)
	return Standing{Held: len(lacking) == 0, Lacking: lacking}, nil
}

func firstLock(r RepositoryStatus) []string {
	if r.Unprotected == nil {
		return []string{"how the base branch is protected is not known yet"}
	}
	return r.Unprotected
}

func secondLock(p EnvironmentPolicy, deployments []Deployment) []string {
	if !p.SyncBySluice {
		return []string{"by policy Argo CD syncs it by itself, whatever the gates say by then"}
	}
	if len(deployments) == 0 {
		return []string{"no Argo CD Application is known to deploy it"}
	}
	var lacking []string
	for _, d := range deployments {
		if d.AutomatedSync {
			lacking = append(lacking, fmt.Sprintf("Argo CD syncs %s by itself, although the policy has Sluice do it", d.Key.Name))
		}
	}
	return lacking
}

// unprotected names what the host does not enforce on the base branch; never nil.
func unprotected(ctx context.Context, site Site) []string {
	p, err := site.Host.Protection(ctx)
	if err != nil {
		return []string{fmt.Sprintf("whether the base branch is protected could not be read: %v", err)}
	}
	return append([]string{}, p.Missing...)
}
