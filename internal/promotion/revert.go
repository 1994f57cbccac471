package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// reverted is the change that undoes on a head of main exactly what a commit of it did. What was changed since in the same
// lines refuses the whole, with file and line.
func (s *Service) reverted(ctx context.Context, site Site, t Target, head, undone string) (Change, error) {
	commit, err := site.Repository.Commit(ctx, undone)
	if err != nil {
		return Change{}, fmt.Errorf("read commit %s: %w", short(undone), err)
	}
	var trees [3]fs.FS
	for i, at := range []string{commit.Parent, commit.SHA, head} {
		if trees[i], err = site.Repository.Tree(ctx, at); err != nil {
			return Change{}, fmt.Errorf("read commit %s: %w", short(at), err)
		}
	}
	back, err := s.Manifests.Revert(trees[0], trees[1], trees[2], commit.Changed)
	if err != nil {
		return Change{}, fmt.Errorf("what %s changed cannot be undone alone: %w", short(undone), err)
	}
	after, err := site.Repository.Patched(ctx, head, back.Files, back.Deletes)
	if err != nil {
		return Change{}, err
	}
	change, err := s.Manifests.Compare(trees[2], after, t.Path)
	change.Files, change.Deletes, change.Notes = back.Files, back.Deletes, back.Notes
	for _, object := range change.Added {
		change.Notes = append(change.Notes, object+" comes back: the change deleted it")
	}
	return change, err
}

// plannedRevert is the promotion that would undo another one's change, and what it would change today.
func (s *Service) plannedRevert(ctx context.Context, r GoBackRequest) (Promotion, RestorePlan, error) {
	switch {
	case r.Promotion == 0:
		return Promotion{}, RestorePlan{}, invalid("missing-promotion", "promotion", "say which promotion's change to undo")
	case r.To != "" || r.Base || r.Secrets:
		return Promotion{}, RestorePlan{}, invalid("revert-alone", "way", "by %s exactly a promotion's change is undone: neither a release, nor a base, nor secrets can be chosen", Revert)
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return Promotion{}, RestorePlan{}, err
	}
	undone, err := s.Store.Promotion(ctx, r.Promotion)
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && undone.Target.ID != t.ID:
		return Promotion{}, RestorePlan{}, invalid("unknown-promotion", "promotion", "%s in %s has no promotion %d", t.Application, t.Environment, r.Promotion)
	case err != nil:
		return Promotion{}, RestorePlan{}, err
	case undone.MergeSHA == "":
		return Promotion{}, RestorePlan{}, conflict("not-merged", "promotion %d was not merged: there is nothing to undo", r.Promotion)
	}
	plan, err := s.planRevert(ctx, t, undone)
	return Promotion{Target: t, Release: plan.Release, Restore: Restoration{Commit: undone.MergeSHA, Revert: true}}, plan, err
}

func (s *Service) planRevert(ctx context.Context, t Target, undone Promotion) (RestorePlan, error) {
	plan := RestorePlan{Target: t}
	site, err := s.site(t)
	if err != nil {
		return plan, err
	}
	head, err := site.Repository.Fetch(ctx)
	if err != nil {
		return plan, fmt.Errorf("fetch config repository %s: %w", t.Repository, err)
	}
	if plan.Change, plan.Release, err = s.undone(ctx, site, t, head, undone); err != nil {
		return plan, err
	}
	plan.Others, err = s.alsoChanged(ctx, site, t, head, plan.Change)
	return plan, err
}

// undone is what undoing a promotion changes on a head of main, and the release that the target runs then.
func (s *Service) undone(ctx context.Context, site Site, t Target, head string, p Promotion) (Change, Release, error) {
	change, err := s.reverted(ctx, site, t, head, p.MergeSHA)
	if err != nil {
		return change, Release{}, conflict("cannot-revert", "promotion %d cannot be reverted: %v", p.ID, err)
	}
	if change.empty() {
		return change, Release{}, conflict("already-current", "main has nothing of promotion %d any more: there is nothing to undo", p.ID)
	}
	r, err := s.releaseAfter(ctx, t, change)
	return change, r, err
}

// releaseAfter is the release that a target runs after a change. Another than today's must have been verified in it.
func (s *Service) releaseAfter(ctx context.Context, t Target, c Change) (Release, error) {
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return Release{}, err
	}
	var refs []string
	for _, image := range c.After.Images {
		refs = append(refs, policy.PostedAs(image.Reference))
	}
	current, err := s.Store.LatestRevision(ctx, t.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Release{}, fmt.Errorf("read what main renders for %s: %w", t.Path, err)
	}
	id, err := s.Store.ReleaseOf(ctx, t.ApplicationID, refs, c.After.Charts, current.ReleaseID)
	if err != nil {
		return Release{}, fmt.Errorf("find the release that %s would run: %w", t.Path, err)
	}
	if id == 0 {
		return Release{}, conflict("unknown-release", "%s would run no known release without that change", t.Path)
	}
	r, err := s.Store.Release(ctx, id)
	if err != nil || r.ID == current.ReleaseID {
		return r, err
	}
	return r, s.refuseUnverified(ctx, t, r)
}
