package promotion

import (
	"context"
	"errors"
	"fmt"
)

// A rollback holds its target, so that policy does not bring back at once what it goes back from. The hold ends by itself only with a
// rollback that ends unmerged; one that is merged leaves it until somebody resumes the target.

// holdForRollback keeps a target that goes back to an earlier release from being promoted forward again by itself.
func (s *Service) holdForRollback(ctx context.Context, tx Tx, by Actor, p Promotion) error {
	current, err := tx.LatestRevision(ctx, p.Target.ID)
	if p.Kind != KindRollback || errors.Is(err, ErrNotFound) || err == nil && current.ReleaseID == p.Release.ID {
		return nil
	} else if err != nil {
		return err
	}
	return s.holdWith(ctx, tx, by, p)
}

func (s *Service) holdWith(ctx context.Context, tx Tx, by Actor, p Promotion) error {
	h := Hold{Target: p.Target, HeldBy: by.Name, HeldAt: s.Now(), Rollback: p.ID,
		Reason: fmt.Sprintf("promotion %d goes back to release %d (%s): %s", p.ID, p.Release.Number, p.Release.Version, p.Reason)}
	return s.hold(ctx, tx, by, h, []Target{p.Target})
}

// endHoldOf ends the hold that an abandoned rollback made, unless a person holds the target since. Another rollback that is open
// takes it on; otherwise what policy held back starts.
func (s *Service) endHoldOf(ctx context.Context, tx Tx, p Promotion) error {
	if p.Kind != KindRollback || p.Open() || p.PullRequest == PullRequestMerged {
		return nil
	}
	h, err := holdOn(ctx, tx, p.Target.ID)
	if err != nil || h.Rollback != p.ID {
		return err
	}
	why := fmt.Sprintf("promotion %d, which made it, was %s before it changed anything", p.ID, p.State())
	if err := s.endHold(ctx, tx, Sluice(), h, why, []Target{p.Target}); err != nil {
		return err
	}
	open, err := tx.OpenOn(ctx, p.Target.ID)
	if err != nil {
		return fmt.Errorf("read what is open for %s: %w", p.Target.Path, err)
	}
	for _, other := range open {
		if err := s.holdForRollback(ctx, tx, Actor{Name: other.RequestedBy, Kind: Person}, other); err != nil {
			return err
		}
	}
	return s.startHeldBack(ctx, tx, h, "promotion "+fmt.Sprint(p.ID)+" was "+string(p.State()))
}

// holdOn is the hold of one target, or with no target that of everything; zero when there is none.
func holdOn(ctx context.Context, tx Tx, targetID int64) (Hold, error) {
	holds, err := tx.HoldsOf(ctx, targetID)
	if err != nil {
		return Hold{}, fmt.Errorf("read what is held: %w", err)
	}
	for _, h := range holds {
		if h.Target.ID == targetID {
			return h, nil
		}
	}
	return Hold{}, nil
}
