package promotion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// RollbackMark says of a release that an environment was rolled back from it. Until somebody clears it, no environment gets the
// release by itself.
type RollbackMark struct {
	PromotionID int64 // the rollback
	Environment string
	By          string // who asked for the rollback
	Reason      string // of the rollback
	At          time.Time
}

func (m RollbackMark) String() string {
	return fmt.Sprintf("rolled back in %s by %s (promotion %d): %s", m.Environment, m.By, m.PromotionID, strings.TrimSuffix(m.Reason, "."))
}

// markRelease marks the release that a merged rollback leaves, if it is a later one.
func (s *Service) markRelease(ctx context.Context, tx Tx, p Promotion, left int64) error {
	if left == 0 || left == p.Release.ID {
		return nil
	}
	r, err := tx.Release(ctx, left)
	if err != nil {
		return fmt.Errorf("read what promotion %d rolls back: %w", p.ID, err)
	}
	if r.Number < p.Release.Number {
		return nil
	}
	marked, err := tx.MarkRolledBack(ctx, r.ID, p.ID, s.Now())
	if err != nil || !marked {
		return err
	}
	targets, err := tx.TargetsOf(ctx, r.ApplicationID)
	if err != nil {
		return err
	}
	message := fmt.Sprintf("release %d (%s) was rolled back in %s by promotion %d: no environment gets it by itself until somebody clears that", r.Number, r.Version, p.Target.Environment, p.ID)
	e := s.releaseEvent(ctx, Sluice(), r, "release.rolled-back", message)
	e.Environment = p.Target.Environment
	return s.auditAndWake(ctx, tx, e, targets)
}

// leftBy is the release that main had in a target before a rollback was merged; zero when it was none.
func leftBy(ctx context.Context, tx Tx, p Promotion, before Promotion) (int64, error) {
	if before.Release.ID != 0 {
		return before.Release.ID, nil
	}
	revisions, err := tx.RevisionsOf(ctx, p.Target.ID, 2)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, fmt.Errorf("read the history of %s: %w", p.Target.Path, err)
	}
	for _, v := range revisions {
		if v.Commit.SHA != p.MergeSHA {
			return v.ReleaseID, nil
		}
	}
	return 0, nil
}

// codeRolledBack is of the refusal that only a mark is the cause of.
const codeRolledBack = "rolled-back"

// refuseRolledBack keeps what Sluice would promote by itself from going where nobody asked for it.
func refuseRolledBack(ctx context.Context, tx Tx, r Release) error {
	now, err := tx.Release(ctx, r.ID)
	if err == nil && len(now.RolledBack) > 0 {
		err = conflict(codeRolledBack, "release %d (%s) was %s. Somebody has to clear that first, or ask for the promotion.", now.Number, now.Version, now.RolledBack[0])
	}
	return err
}

// ClearRollback takes the marks off a release: policy may promote it by itself again, and does so where the mark alone kept it from it.
func (s *Service) ClearRollback(ctx context.Context, by Actor, id int64, reason string) (r Release, err error) {
	if err := allow(by, "clear a release that was rolled back", RoleReleaseManager, RoleAdmin); err != nil {
		return Release{}, err
	}
	if strings.TrimSpace(reason) == "" {
		return Release{}, invalid("missing-reason", "reason", "say why it may be promoted by itself again, although it was rolled back")
	}
	err = s.Store.Tx(ctx, func(tx Tx) error {
		if r, err = tx.Release(ctx, id); err != nil {
			return unknown(err, "unknown-release", "there is no release %d", id)
		}
		marks := r.RolledBack
		if len(marks) == 0 {
			return conflict("not-rolled-back", "release %d (%s) has no mark: it was not rolled back, or somebody has cleared that", r.Number, r.Version)
		}
		if err := tx.ClearRollbackMarks(ctx, id, by.Name, strings.TrimSpace(reason), s.Now()); err != nil {
			return fmt.Errorf("clear release %d: %w", r.Number, err)
		}
		targets, err := tx.TargetsOf(ctx, r.ApplicationID)
		if err != nil {
			return err
		}
		r.RolledBack = nil
		e := s.releaseEvent(ctx, by, r, "release.cleared", fmt.Sprintf("release %d (%s) may be promoted by itself again: %s", r.Number, r.Version, reason))
		e.Before = map[string]any{"rolled_back": marks}
		if err := s.auditAndWake(ctx, tx, e, targets); err != nil {
			return err
		}
		return s.startMissed(ctx, tx, by, r)
	})
	return r, err
}
