package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Hold keeps a target as it is: no release is promoted there by itself, merged or synced until somebody resumes it. A rollback
// passes. Without a target it holds everything, rollbacks too.
type Hold struct {
	ID     int64
	Target Target // zero: everything
	Reason string
	HeldBy string
	HeldAt time.Time

	Rollback int64 // the promotion that made the hold, which ends with it if that ends unmerged; zero: a person holds it
}

// HoldRequest names what to hold: a target, or everything when both names are empty.
type HoldRequest struct {
	Application, Environment, Reason string
}

// Hold stops a target, or everything.
func (s *Service) Hold(ctx context.Context, by Actor, r HoldRequest) error {
	if err := allow(by, "hold a target", RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return invalid("missing-reason", "reason", "say why: everybody who is held by it reads it")
	}
	targets, err := s.heldBy(ctx, r)
	if err != nil {
		return err
	}
	h := Hold{Reason: r.Reason, HeldBy: by.Name, HeldAt: s.Now()}
	if r.Application != "" {
		h.Target = targets[0]
	}
	return s.Store.Tx(ctx, func(tx Tx) error { return s.hold(ctx, tx, by, h, targets) })
}

func (s *Service) hold(ctx context.Context, tx Tx, by Actor, h Hold, targets []Target) error {
	created, err := tx.InsertHold(ctx, h)
	if err != nil || !created {
		return err // held already
	}
	e := s.event(ctx, by, "hold.started", fmt.Sprintf("%s held: %s", h.what(), h.Reason))
	e.Object, e.Application, e.Environment = "hold", h.Target.Application, h.Target.Environment
	return s.auditAndWake(ctx, tx, e, targets)
}

// Resume ends a hold. What only a rollback's hold kept policy from starting starts.
func (s *Service) Resume(ctx context.Context, by Actor, r HoldRequest) error {
	if err := allow(by, "resume a target", RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	targets, err := s.heldBy(ctx, r)
	if err != nil {
		return err
	}
	var id int64
	if r.Application != "" {
		id = targets[0].ID
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		h, err := holdOn(ctx, tx, id)
		if err != nil || h.ID == 0 {
			return err
		}
		if err := s.endHold(ctx, tx, by, h, "resumed by "+by.Name, targets); err != nil {
			return err
		}
		return s.startHeldBack(ctx, tx, h, by.Name+" resumed it")
	})
}

func (s *Service) endHold(ctx context.Context, tx Tx, by Actor, h Hold, why string, targets []Target) error {
	released, err := tx.ReleaseHold(ctx, h.Target.ID, by.Name, s.Now())
	if err != nil || !released {
		return err
	}
	e := s.event(ctx, by, "hold.ended", why)
	e.Object, e.Application, e.Environment = "hold", h.Target.Application, h.Target.Environment
	return s.auditAndWake(ctx, tx, e, targets)
}

// heldBy lists the targets that a hold is about.
func (s *Service) heldBy(ctx context.Context, r HoldRequest) ([]Target, error) {
	if r.Application == "" && r.Environment == "" {
		return s.Store.Targets(ctx)
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	return []Target{t}, err
}

func (h Hold) what() string {
	if h.Target.ID == 0 {
		return "everything is"
	}
	return h.Target.Application + " in " + h.Target.Environment + " is"
}

// holdReleased asks that nobody holds the target.
func (s *Service) holdReleased(_ context.Context, f *situation) GateResult {
	for _, h := range f.holds {
		if h.Target.ID != 0 && f.Kind == KindRollback {
			continue
		}
		return wait("%s held by %s: %s. Somebody has to resume it.", h.what(), h.HeldBy, h.Reason).with(map[string]any{"hold": h.ID})
	}
	if marks := f.Release.RolledBack; len(marks) > 0 && f.Kind == KindRelease && f.RequestedBy == Sluice().Name {
		return wait("Release %d (%s) was %s. Nobody asked for it here: somebody has to clear that, or cancel this and ask for it.", f.Release.Number, f.Release.Version, marks[0]).
			with(map[string]any{"rolled_back_by": marks[0].PromotionID})
	}
	return pass("nobody holds it")
}
