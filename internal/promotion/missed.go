package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Missed is a promotion that policy would have started, had its release not been marked as rolled back.
type Missed struct {
	TargetID int64
	Reason   string // why policy starts it
	BuildID  int64  // that set it off; zero when none did
}

// startByPolicy starts what policy promotes by itself. What is in the way is recorded; where that is the mark of a rollback alone, it
// starts when the mark is cleared.
func (s *Service) startByPolicy(ctx context.Context, tx Tx, p Promotion) error {
	err := s.startUnlessHeld(ctx, tx, p)
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	if refusal.Code == codeRolledBack {
		missed := Missed{TargetID: p.Target.ID, Reason: p.Reason, BuildID: p.StartedByBuild}
		if err := tx.KeepMissed(ctx, p.Release.ID, missed, s.Now()); err != nil {
			return fmt.Errorf("keep what release %d missed: %w", p.Release.Number, err)
		}
	}
	e := s.releaseEvent(ctx, Sluice(), p.Release, "promotion.not-started", "not promoted by itself: "+refusal.Message)
	e.Environment = p.Target.Environment
	return tx.Audit(ctx, e)
}

// startMissed starts what a release missed while it was marked, as far as policy would start it still.
func (s *Service) startMissed(ctx context.Context, tx Tx, by Actor, r Release, targets []Target) error {
	all, err := tx.TakeMissed(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("read what release %d missed: %w", r.Number, err)
	}
	for _, m := range all {
		i := slices.IndexFunc(targets, func(t Target) bool { return t.ID == m.TargetID })
		if i < 0 {
			continue // its overlay is gone
		}
		wanted, err := s.stillWanted(ctx, tx, r, targets[i])
		if err != nil {
			return err
		}
		if !wanted {
			continue
		}
		p := Promotion{Target: targets[i], Release: r, Kind: KindRelease, RequestedBy: Sluice().Name, RequestedAt: s.Now(), StartedByBuild: m.BuildID,
			Reason: fmt.Sprintf("%s; it waited until %s cleared that it was rolled back", m.Reason, by.Name)}
		if err := s.startByPolicy(ctx, tx, p); err != nil {
			return err
		}
	}
	return nil
}

// stillWanted: policy promotes to the target by itself, and it has no later release of the line by now.
func (s *Service) stillWanted(ctx context.Context, tx Tx, r Release, t Target) (bool, error) {
	policy, err := s.rulesOf(ctx, tx, t.Repository)
	if isRefusal(err) {
		return false, nil // without a policy nothing goes by itself
	} else if err != nil {
		return false, err
	}
	if !policy.rules.For(t).AutomaticPromotion {
		return false, nil
	}
	now, err := tx.LatestRevision(ctx, t.ID)
	if errors.Is(err, ErrNotFound) || err == nil && now.ReleaseID == 0 {
		return true, nil
	} else if err != nil {
		return false, fmt.Errorf("read what main renders for %s: %w", t.Path, err)
	}
	has, err := tx.Release(ctx, now.ReleaseID)
	if err != nil {
		return false, err
	}
	return has.Line != r.Line || has.Number < r.Number, nil
}
