package promotion

import (
	"context"
	"errors"
	"fmt"
)

// RestoreLive has live objects made what the synced revision says once more: what is not as Git says is undone, and what
// Git no longer has is pruned. Only where Sluice syncs, while a window is open, and when no promotion is about to do it.
func (s *Service) RestoreLive(ctx context.Context, by Actor, application, environment string) error {
	if err := allow(by, "restore live objects", RoleReleaseManager, RoleApprover, RoleAdmin); err != nil {
		return err
	}
	t, err := s.Store.TargetNamed(ctx, application, environment)
	if err != nil {
		return unknown(err, "unknown-target", "%s has no environment %s", application, environment)
	}
	deployments, err := s.restorable(ctx, t)
	if err != nil {
		return err
	}
	if err := s.projectsOpen(ctx, deployments); err != nil {
		return err
	}
	for _, d := range deployments {
		cluster, ok := s.Clusters[d.Key.Cluster]
		if !ok {
			return fmt.Errorf("cluster %s is not connected to this server", d.Key.Cluster)
		}
		err := cluster.Sync(ctx, d.Key, SyncRequest{Revision: d.Revision, InitiatedBy: by.Name, Restores: true})
		if errors.Is(err, ErrOperationRunning) {
			return conflict("operation-running", "%s in %s: %v. Wait until it has ended.", d.Key.Name, d.Key.Cluster, err)
		} else if err != nil {
			return fmt.Errorf("start the sync of %s in %s: %w", d.Key.Name, d.Key.Cluster, err)
		}
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		e := s.event(ctx, by, "drift.restored", fmt.Sprintf("%s has the live objects of %s restored", by.Name, t.Path))
		e.Object, e.Application, e.Environment = "target/"+t.Path, t.Application, t.Environment
		return tx.Audit(ctx, e)
	})
}

// restorable are the deployments to sync again, or why not.
func (s *Service) restorable(ctx context.Context, t Target) ([]Deployment, error) {
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return nil, err
	}
	if !policy.SyncBySluice {
		return nil, conflict("synced-by-engine", "%s is synced by Argo CD itself, not by Sluice: sync it there, or switch self-heal on", t.Environment)
	}
	waiting, err := s.Store.Promotions(ctx, PromotionFilter{Application: t.Application, Environment: t.Environment, Unfinished: true, Limit: 100})
	if err != nil {
		return nil, err
	}
	for _, p := range waiting {
		if p.PullRequest == PullRequestMerged && p.SyncedAt.IsZero() {
			return nil, conflict("sync-pending", "promotion %d is merged and not synced: its sync restores the live objects too", p.ID)
		}
	}
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	var chosen []Deployment
	for _, d := range deployments {
		if d.Revision == "" {
			d.Revision = d.ComparedRevision
		}
		if d.Revision != "" && !d.AutomatedSync {
			chosen = append(chosen, d)
		}
	}
	if len(chosen) == 0 {
		return nil, conflict("nothing-synced", "no Argo CD Application that Sluice syncs has ever applied %s", t.Path)
	}
	return chosen, s.windowOpen(ctx, t, deployments)
}

// windowOpen refuses while no change may reach a target.
func (s *Service) windowOpen(ctx context.Context, t Target, deployments []Deployment) error {
	c, err := s.rulesOf(ctx, s.Store, t.Repository)
	if err != nil {
		return err
	}
	freezes, err := s.Store.Freezes(ctx, s.Now())
	if err != nil {
		return err
	}
	if d := WindowOf(c.rules, freezes, t, clustersOf(deployments, t.ID), s.Now()); !d.Open {
		return &Error{Kind: Refused, Code: "window-closed", Message: fmt.Sprintf("%s.%s", d.Reason, opens(d.Next))}
	}
	return nil
}
