package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Override opens gates of a target for a time: break-glass. Somebody else reviews it afterwards.
type Override struct {
	ID          int64
	Target      Target
	Gates       []string
	Reason      string
	Incident    string // a link
	GivenBy     string
	GivenByKind ActorKind // empty when it was stored before kinds were
	GivenAt     time.Time
	ExpiresAt   time.Time
	DueAt       time.Time // from when on it is to be reviewed: first used, or expired; only of a list
	ReviewedBy  string
	ReviewedAt  time.Time
	Review      string
}

// OverrideRequest asks for an override.
type OverrideRequest struct {
	Application, Environment string
	Gates                    []string
	Reason, Incident         string
	ExpiresAt                time.Time
}

// longestOverride bounds how long glass stays broken.
const longestOverride = 24 * time.Hour

// Overridable lists the gates that an override can open. The others say what a change is, not whether it may go out.
func Overridable() []string {
	return []string{GateUpstreamVerified, GateArtifactAvailable, GateApprovals, GateEvidence, GateSyncWindow, GateHold, GateRollbackSafe,
		GateDeletions, GateBranchProtected, GateServerDryRun, GateConcurrency}
}

// Override opens gates of a target.
func (s *Service) Override(ctx context.Context, by Actor, r OverrideRequest) (Override, error) {
	if err := allow(by, "override gates", RoleBreakGlass); err != nil {
		return Override{}, err
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return Override{}, err
	}
	o := Override{Target: t, Gates: r.Gates, Reason: r.Reason, Incident: r.Incident, GivenBy: by.Name, GivenByKind: by.Kind, GivenAt: s.Now(), ExpiresAt: r.ExpiresAt}
	switch {
	case len(o.Gates) == 0:
		return o, invalid("missing-gates", "gates", "say which gates to open: %s", strings.Join(Overridable(), ", "))
	case strings.TrimSpace(o.Reason) == "":
		return o, invalid("missing-reason", "reason", "say why: it stands on the pull request and on the board")
	case !isLink(o.Incident):
		return o, invalid("malformed-url", "incident", "%q is no http or https address", o.Incident)
	case !o.ExpiresAt.After(o.GivenAt) || o.ExpiresAt.Sub(o.GivenAt) > longestOverride:
		return o, invalid("malformed-expiry", "expires_at", "it has to end within %s from now", longestOverride)
	}
	for _, g := range o.Gates {
		if !slices.Contains(Overridable(), g) {
			return o, invalid("unknown-gate", "gates", "%s cannot be overridden: only %s can", g, strings.Join(Overridable(), ", "))
		}
	}
	err = s.Store.Tx(ctx, func(tx Tx) (err error) {
		if o.ID, err = tx.InsertOverride(ctx, o); err != nil {
			return fmt.Errorf("store the override: %w", err)
		}
		e := s.event(ctx, by, "override.given", fmt.Sprintf("%s of %s in %s opened until %s: %s", strings.Join(o.Gates, ", "), t.Application, t.Environment, clock(o.ExpiresAt), o.Reason))
		e.Object, e.Application, e.Environment, e.After = fmt.Sprintf("override/%d", o.ID), t.Application, t.Environment, o
		if err := s.notify(ctx, tx, o.notification(NotifyOverride, "", e.Message)); err != nil {
			return err
		}
		return s.auditAndWake(ctx, tx, e, []Target{t})
	})
	return o, err
}

// ReviewOverride closes an override's review. Whoever gave it cannot.
func (s *Service) ReviewOverride(ctx context.Context, by Actor, id int64, review string) error {
	if err := allow(by, "review overrides", RoleApprover, RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	if strings.TrimSpace(review) == "" {
		return invalid("missing-review", "review", "say what you found: whether it was needed, and what follows from it")
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		o, err := tx.LockOverride(ctx, id)
		if err != nil {
			return unknown(err, "unknown-override", "there is no override %d", id)
		}
		switch {
		case o.GivenBy == by.Name:
			return conflict("own-override", "you gave this override yourself: somebody else has to review it")
		case o.ReviewedBy != "":
			return conflict("reviewed", "%s has reviewed it already", o.ReviewedBy)
		}
		o.ReviewedBy, o.ReviewedAt, o.Review = by.Name, s.Now(), review
		if err := tx.SaveOverride(ctx, o); err != nil {
			return err
		}
		e := s.event(ctx, by, "override.reviewed", fmt.Sprintf("override %d of %s reviewed: %s", id, o.GivenBy, review))
		e.Object, e.Application, e.Environment = fmt.Sprintf("override/%d", id), o.Target.Application, o.Target.Environment
		return tx.Audit(ctx, e)
	})
}

// overridden marks the results that an override in force lets through, until it expires.
func (f *situation) overridden(g GateResult) GateResult {
	if g.Verdict == Pass {
		return g
	}
	for _, o := range f.overrides {
		switch {
		case !slices.Contains(o.Gates, g.Gate) || !f.now.Before(o.ExpiresAt):
		case f.holders.lost(o.giver(), []Role{RoleBreakGlass}) != "":
			g.Reason += fmt.Sprintf(" The override by %[1]s is void: %[1]s no longer has the role %[2]s.", o.GivenBy, RoleBreakGlass)
		default:
			g.Override = o.ID
			g.Until = earliest(g.Until, o.ExpiresAt)
			g.Reason += fmt.Sprintf(" Overridden by %s until %s: %s", o.GivenBy, clock(o.ExpiresAt), o.Reason)
			return g
		}
	}
	return g
}
