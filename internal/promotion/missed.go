package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Missed is a promotion that policy would have started, had a rollback not marked its release or held its target.
type Missed struct {
	ReleaseID, TargetID int64
	Reason              string // why policy starts it
	BuildID             int64  // that set it off; zero when none did
	HoldID              int64  // a rollback's, which kept it from starting; zero: the release's mark did
}

// startByPolicy starts what policy promotes by itself. What is in the way is recorded; where that is a rollback alone, by its mark or
// its hold, it starts when that ends.
func (s *Service) startByPolicy(ctx context.Context, tx Tx, p Promotion) error {
	holds, err := tx.HoldsOf(ctx, p.Target.ID)
	if err != nil {
		return err
	}
	err = s.startUnlessHeld(ctx, tx, p, holds)
	var refusal *Error
	if !errors.As(err, &refusal) {
		return err
	}
	if refusal.Code == codeRolledBack || refusal.Code == codeHeldByRollback {
		missed := Missed{ReleaseID: p.Release.ID, TargetID: p.Target.ID, Reason: p.Reason, BuildID: p.StartedByBuild}
		if refusal.Code == codeHeldByRollback {
			missed.HoldID = holds[0].ID
		}
		if err := tx.KeepMissed(ctx, missed, s.Now()); err != nil {
			return fmt.Errorf("keep what release %d missed: %w", p.Release.Number, err)
		}
	}
	e := s.releaseEvent(ctx, Sluice(), p.Release, "promotion.not-started", "not promoted by itself: "+refusal.Message)
	e.Environment = p.Target.Environment
	return tx.Audit(ctx, e)
}

// startMissed starts what a release missed while it was marked.
func (s *Service) startMissed(ctx context.Context, tx Tx, by Actor, r Release) error {
	missed, err := tx.TakeMissed(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("read what release %d missed: %w", r.Number, err)
	}
	return s.startWanted(ctx, tx, missed, "it waited until "+by.Name+" cleared that it was rolled back")
}

// startHeldBack starts what a rollback's hold kept from starting.
func (s *Service) startHeldBack(ctx context.Context, tx Tx, h Hold, ended string) error {
	missed, err := tx.TakeHeldBack(ctx, h.ID)
	if err != nil {
		return fmt.Errorf("read what %s held back from: %w", h.what(), err)
	}
	return s.startWanted(ctx, tx, missed, "it was held back until "+ended)
}

// startWanted starts what was missed, as far as policy would start it still.
func (s *Service) startWanted(ctx context.Context, tx Tx, missed []Missed, waited string) error {
	for _, m := range missed {
		r, err := tx.Release(ctx, m.ReleaseID)
		if err != nil {
			return err
		}
		if err := tx.LockApplication(ctx, r.ApplicationID); err != nil {
			return err
		}
		targets, err := tx.TargetsOf(ctx, r.ApplicationID)
		if err != nil {
			return err
		}
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
			Reason: m.Reason + "; " + waited}
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
