package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// RestoreRequest asks that a target's configuration be what it was at a commit of main.
type RestoreRequest struct {
	Application, Environment string
	Restoration
	ImagesOfToday bool // today's images with the configuration of then; otherwise those of then
	Reason        string
}

// RestorePlan is what a restoration would change, before anybody asks for it.
type RestorePlan struct {
	Target  Target
	Release Release // that the target would run
	Change  Change
	Others  []Target // that share the base and would change too
}

// PlanRestore says what a restoration would change. It changes nothing.
func (s *Service) PlanRestore(ctx context.Context, r RestoreRequest) (RestorePlan, error) {
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return RestorePlan{}, err
	}
	release, err := s.releaseThen(ctx, t, r)
	if err != nil {
		return RestorePlan{Target: t}, err
	}
	return s.planRestoration(ctx, t, release, r.Restoration)
}

// planRestoration is what setting the configuration back would change, with a release's images and charts.
func (s *Service) planRestoration(ctx context.Context, t Target, release Release, r Restoration) (RestorePlan, error) {
	plan := RestorePlan{Target: t, Release: release}
	site, err := s.site(t)
	if err != nil {
		return plan, err
	}
	head, err := site.Repository.Fetch(ctx)
	if err != nil {
		return plan, fmt.Errorf("fetch config repository %s: %w", t.Repository, err)
	}
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return plan, err
	}
	plan.Change, err = s.restored(ctx, site, t, head, r, wantedOf(plan.Release, policy))
	if err != nil {
		return plan, invalid("cannot-restore", "commit", "%s cannot be restored: %v", t.Path, err)
	}
	if plan.Change.empty() {
		return plan, conflict("already-current", "main has this configuration of %s already: there is nothing to restore", t.Path)
	}
	plan.Others, err = s.alsoChanged(ctx, site, t, head, plan.Change)
	return plan, err
}

// Restore starts a promotion that sets a target's configuration back. What is open for the target gives way to it.
func (s *Service) Restore(ctx context.Context, by Actor, r RestoreRequest) (Promotion, error) {
	if err := allow(by, "restore configuration", RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return Promotion{}, invalid("missing-reason", "reason", "say why: approvers read it, and so does whoever asks later")
	}
	plan, err := s.PlanRestore(ctx, r)
	if err != nil {
		return Promotion{}, err
	}
	p := Promotion{Target: plan.Target, Release: plan.Release, Kind: KindRollback, Restore: r.Restoration,
		RequestedBy: by.Name, RequestedAt: s.Now(), Reason: r.Reason}
	return s.begin(ctx, by, p)
}

// releaseThen is the release whose images the target would run: those that main had at the commit, or those it has today.
func (s *Service) releaseThen(ctx context.Context, t Target, r RestoreRequest) (Release, error) {
	if r.Commit == "" {
		return Release{}, invalid("missing-commit", "commit", "say which commit of main to restore %s from", t.Path)
	}
	revisions, err := s.Store.RevisionsOf(ctx, t.ID, historyShown)
	if err != nil {
		return Release{}, fmt.Errorf("read the history of %s: %w", t.Path, err)
	}
	for i, v := range revisions {
		if v.Commit.SHA != r.Commit {
			continue
		}
		if r.ImagesOfToday {
			v = revisions[0]
		}
		if v.ReleaseID == 0 {
			return Release{}, conflict("unknown-release", "%s ran no known release at %s", t.Path, short(revisions[i].Commit.SHA))
		}
		return s.Store.Release(ctx, v.ReleaseID)
	}
	return Release{}, invalid("unknown-commit", "commit", "commit %s did not change what %s renders: choose one of its history", short(r.Commit), t.Path)
}

// historyShown is how many of a target's revisions can be gone back to.
const historyShown = 200

// restored is the change that sets a target's configuration back and then gives it these images and charts.
func (s *Service) restored(ctx context.Context, site Site, t Target, head string, r Restoration, w Wanted) (Change, error) {
	if r.Revert {
		return s.reverted(ctx, site, t, head, r.Commit)
	}
	today, err := site.Repository.Tree(ctx, head)
	if err != nil {
		return Change{}, err
	}
	then, err := site.Repository.Tree(ctx, r.Commit)
	if err != nil {
		return Change{}, fmt.Errorf("read commit %s: %w", short(r.Commit), err)
	}
	back, err := s.Manifests.Restore(today, then, t.Path, r)
	if err != nil {
		return Change{}, err
	}
	restored, err := site.Repository.Patched(ctx, head, back.Files, back.Deletes)
	if err != nil {
		return Change{}, err
	}
	set, err := s.Manifests.Set(restored, t.Path, w)
	if err != nil {
		return Change{}, err
	}
	maps.Copy(back.Files, set.Files)
	after, err := site.Repository.Patched(ctx, head, back.Files, back.Deletes)
	if err != nil {
		return Change{}, err
	}
	change, err := s.Manifests.Compare(today, after, t.Path)
	change.Files, change.Deletes, change.Notes = back.Files, back.Deletes, back.Notes
	for _, object := range change.Added {
		change.Notes = append(change.Notes, object+" comes back: it was deleted since")
	}
	return change, err
}

// alsoChanged lists the other targets whose rendering a change alters.
func (s *Service) alsoChanged(ctx context.Context, site Site, t Target, head string, c Change) ([]Target, error) {
	before, err := site.Repository.Tree(ctx, head)
	if err != nil {
		return nil, err
	}
	after, err := site.Repository.Patched(ctx, head, c.Files, c.Deletes)
	if err != nil {
		return nil, err
	}
	touched := slices.Concat(c.Deletes, slices.Collect(maps.Keys(c.Files)))
	return s.changedBetween(ctx, t.Repository, before, after, touched, t.ID)
}

// changedBetween lists the targets of a config repository, but one, that render something else after than before.
// One that can be rendered on one side only is changed.
func (s *Service) changedBetween(ctx context.Context, repository string, before, after fs.FS, touched []string, except int64) ([]Target, error) {
	all, err := s.Store.Targets(ctx)
	if err != nil {
		return nil, err
	}
	var changed []Target
	for _, t := range all {
		if t.Repository != repository || t.ID == except || !mayChange(t, all, touched) {
			continue
		}
		old, oldErr := s.Manifests.Render(before, t.Path)
		now, nowErr := s.Manifests.Render(after, t.Path)
		if (oldErr == nil) != (nowErr == nil) || old.Hash != now.Hash {
			changed = append(changed, t)
		}
	}
	return changed, nil
}

func (s *Service) targetNamed(ctx context.Context, application, environment string) (Target, error) {
	if application == "" {
		return Target{}, invalid("missing-application", "application", "say which application")
	}
	if environment == "" {
		return Target{}, invalid("missing-environment", "environment", "say which environment of %s", application)
	}
	t, err := s.Store.TargetNamed(ctx, application, environment)
	if errors.Is(err, ErrNotFound) {
		return t, invalid("unknown-target", "environment", "%s has no environment %s: there is no such overlay on main", application, environment)
	}
	return t, err
}
