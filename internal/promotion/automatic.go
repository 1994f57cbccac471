package promotion

import (
	"context"
	"fmt"
	"slices"
)

// startAutomatic starts the promotions that policy starts by itself: to the first environments when a release is complete, to
// those after an environment when it is verified there. A target that is held, or busy with a promotion the release does not
// supersede, is left alone, and that is recorded.
func (s *Service) startAutomatic(ctx context.Context, tx Tx, r Release, verified Target, buildID int64) error {
	targets, err := tx.TargetsOf(ctx, r.ApplicationID)
	if err != nil {
		return err
	}
	for _, t := range targets {
		policy, err := s.rulesOf(ctx, tx, t.Repository)
		if err != nil && !isRefusal(err) {
			return err
		}
		if err != nil || !policy.rules.For(t).AutomaticPromotion {
			continue // without a policy nothing goes by itself
		}
		upstream := UpstreamOf(t, targets)
		follows := slices.ContainsFunc(upstream, func(u Target) bool { return u.ID == verified.ID })
		if verified.ID == 0 && len(upstream) > 0 || verified.ID != 0 && !follows {
			continue
		}
		p := Promotion{Target: t, Release: r, Kind: KindRelease, RequestedBy: Sluice().Name, RequestedAt: s.Now(),
			Reason: "by policy: every new release goes to " + t.Environment, StartedByBuild: buildID}
		if verified.ID != 0 {
			p.Reason = fmt.Sprintf("by policy: what is verified in %s goes to %s", verified.Environment, t.Environment)
		}
		if err := s.startByPolicy(ctx, tx, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) startUnlessHeld(ctx context.Context, tx Tx, p Promotion, holds []Hold) error {
	if err := refuseHeld(holds); err != nil {
		return err
	}
	if err := refuseRolledBack(ctx, tx, p.Release); err != nil {
		return err
	}
	_, err := s.start(ctx, tx, Sluice(), p)
	return err
}

// codeHeldByRollback is of the refusal that only a rollback's own hold is the cause of, not a person's.
const codeHeldByRollback = "held-by-rollback"

func refuseHeld(holds []Hold) error {
	if len(holds) == 0 {
		return nil
	}
	first, code := holds[0], codeHeldByRollback
	if i := slices.IndexFunc(holds, func(h Hold) bool { return h.Rollback == 0 }); i >= 0 {
		first, code = holds[i], "held"
	}
	return conflict(code, "%s held by %s: %s", first.what(), first.HeldBy, first.Reason)
}
