package promotion

import (
	"context"
	"fmt"
	"strings"
)

// GoBackRequest asks that a target go back to what it was.
type GoBackRequest struct {
	Application, Environment string
	Way                      Way
	To                       string // id or version of a release that was verified in the target; not of a revert
	Promotion                int64  // of a revert: whose change is undone
	Base                     bool   // with the configuration: also what the application's other environments share
	Secrets                  bool   // with the configuration: files with secrets too; otherwise today's stay
	Reason                   string
}

// PlanRollback says what going back would change, before anybody asks for it. It changes nothing.
func (s *Service) PlanRollback(ctx context.Context, r GoBackRequest) (RestorePlan, error) {
	_, plan, err := s.plannedRollback(ctx, r)
	return plan, err
}

// StartRollback starts a promotion of kind rollback. What is open for the target gives way to it, and the target is held from being
// promoted forward again by itself. Asking again for what is under way returns it.
func (s *Service) StartRollback(ctx context.Context, by Actor, r GoBackRequest) (Promotion, error) {
	if err := allow(by, "roll back", RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return Promotion{}, invalid("missing-reason", "reason", "say why: approvers read it, and so does whoever asks later")
	}
	p, _, err := s.plannedRollback(ctx, r)
	if err != nil {
		return Promotion{}, err
	}
	p.Kind, p.RequestedBy, p.RequestedAt, p.Reason = KindRollback, by.Name, s.Now(), r.Reason
	return s.begin(ctx, by, p)
}

// plannedRollback is the promotion that a request would start, and what it would change.
func (s *Service) plannedRollback(ctx context.Context, r GoBackRequest) (Promotion, RestorePlan, error) {
	if r.Way == Revert {
		return s.plannedRevert(ctx, r)
	}
	if r.Promotion != 0 {
		return Promotion{}, RestorePlan{}, invalid("not-a-revert", "way", "a promotion's change is undone by %s alone", Revert)
	}
	switch r.Way {
	case ImagesOnly:
		if r.Base || r.Secrets {
			return Promotion{}, RestorePlan{}, invalid("images-only", "way", "by images alone neither a base nor secrets go back: choose %s", ImagesAndConfig)
		}
	case ImagesAndConfig:
	case "":
		return Promotion{}, RestorePlan{}, invalid("missing-way", "way", "say how to go back: %s, %s or %s", ImagesOnly, ImagesAndConfig, Revert)
	default:
		return Promotion{}, RestorePlan{}, invalid("unknown-way", "way", "%q is no way back: choose %s, %s or %s", r.Way, ImagesOnly, ImagesAndConfig, Revert)
	}
	t, release, err := s.candidate(ctx, r)
	if err != nil {
		return Promotion{}, RestorePlan{}, err
	}
	p := Promotion{Target: t, Release: release}
	if r.Way == ImagesOnly {
		plan, err := s.planImages(ctx, t, release)
		return p, plan, err
	}
	commit, err := s.configurationOf(ctx, t, release)
	if err != nil {
		return p, RestorePlan{}, err
	}
	p.Restore = Restoration{Commit: commit, Base: r.Base, Secrets: r.Secrets}
	plan, err := s.PlanRestore(ctx, RestoreRequest{Application: t.Application, Environment: t.Environment, Restoration: p.Restore})
	return p, plan, err
}

// candidate is the release that is gone back to. Only what worked in the target is one.
func (s *Service) candidate(ctx context.Context, r GoBackRequest) (Target, Release, error) {
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return t, Release{}, err
	}
	if strings.TrimSpace(r.To) == "" {
		return t, Release{}, invalid("missing-release", "to", "say which release of %s to go back to: its id or its version", t.Application)
	}
	release, err := s.findRelease(ctx, PromoteRequest{Application: t.Application, Release: r.To})
	if err != nil {
		return t, Release{}, inField(err, "to")
	}
	return t, release, s.refuseUnverified(ctx, t, release)
}

// configurationOf is the newest commit of main at which the target had the release.
func (s *Service) configurationOf(ctx context.Context, t Target, r Release) (string, error) {
	backs := []goingBack{{candidate: r}}
	if err := s.findConfigurations(ctx, t, backs); err != nil {
		return "", err
	}
	if backs[0].commit == "" {
		return "", conflict("unknown-configuration", "no commit of main is known to have had %s in %s: go back by its images alone", r.Version, t.Environment)
	}
	return backs[0].commit, nil
}

// planImages is the earlier release's digests and charts with today's configuration.
func (s *Service) planImages(ctx context.Context, t Target, r Release) (RestorePlan, error) {
	plan := RestorePlan{Target: t, Release: r}
	site, err := s.site(t)
	if err != nil {
		return plan, err
	}
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return plan, err
	}
	head, err := site.Repository.Fetch(ctx)
	if err != nil {
		return plan, fmt.Errorf("fetch config repository %s: %w", t.Repository, err)
	}
	tree, err := site.Repository.Tree(ctx, head)
	if err != nil {
		return plan, err
	}
	if plan.Change, err = s.Manifests.Set(tree, t.Path, wantedOf(r, policy)); err != nil {
		return plan, invalid("cannot-go-back", "to", "%s cannot be changed to %s: %v", t.Path, r.Version, err)
	}
	plan.Change.Notes = chartsLeft(r, plan.Change.After.Charts)
	if plan.Change.empty() {
		return plan, conflict("already-current", "main has %s in %s already: there is nothing to go back to", r.Version, t.Environment)
	}
	return plan, nil
}
