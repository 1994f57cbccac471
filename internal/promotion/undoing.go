package promotion

import (
	"context"
	"errors"
	"fmt"
)

// Undoing is the way back to a release that undoes the promotion which replaced it, and nothing else.
type Undoing struct {
	Promotion int64  // that replaced the release; zero when none did
	Problem   string // why it cannot be undone alone, with what is in the way; empty when there is a verdict
	Verdict   RollbackVerdict

	merge string // commit of main that is undone
}

// ways are those by which a release can be gone back to.
func (u Undoing) ways() []Way {
	if u.Problem != "" {
		return []Way{ImagesOnly, ImagesAndConfig}
	}
	return []Way{ImagesOnly, ImagesAndConfig, Revert}
}

// undoings are those of each release, in their order. A later change in the same lines is named with file and line.
func (s *Service) undoings(ctx context.Context, t Target, releases []Release) ([]Undoing, error) {
	if len(releases) == 0 {
		return nil, nil
	}
	site, err := s.site(t)
	if err != nil {
		return nil, err
	}
	known, err := s.Store.Repository(ctx, t.Repository)
	if err != nil {
		return nil, fmt.Errorf("read config repository %s: %w", t.Repository, err)
	}
	revisions, err := s.Store.RevisionsOf(ctx, t.ID, historyShown)
	if err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", t.Path, err)
	}
	all, faults := make([]Undoing, len(releases)), make([]error, len(releases))
	each(releases, func(i int) {
		all[i], faults[i] = s.undoing(ctx, site, t, known.Head, releases[i], replacedBy(revisions, releases[i].ID))
	})
	return all, errors.Join(faults...)
}

// replacedBy is the promotion that took a target from a release, when it had it last; zero when no promotion did.
func replacedBy(newestFirst []TargetRevision, release int64) int64 {
	for i, v := range newestFirst {
		if v.ReleaseID == release && i > 0 {
			return newestFirst[i-1].PromotionID
		}
	}
	return 0
}

func (s *Service) undoing(ctx context.Context, site Site, t Target, head string, to Release, promotion int64) (Undoing, error) {
	u := Undoing{Promotion: promotion}
	if promotion == 0 {
		u.Problem = "no promotion is known to have replaced it"
		return u, nil
	}
	undone, err := s.Store.Promotion(ctx, promotion)
	if err != nil {
		return u, fmt.Errorf("read promotion %d: %w", promotion, err)
	}
	u.merge = undone.MergeSHA
	_, after, err := s.undone(ctx, site, t, head, undone)
	switch {
	case isRefusal(err):
		u.Problem = err.Error()
		return u, nil
	case err == nil && after.ID != to.ID:
		u.Problem = fmt.Sprintf("without promotion %d alone it would run %s", promotion, after.Version)
	}
	return u, err
}
