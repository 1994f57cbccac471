package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A hotfix is a release on a line of its own that goes past the environments before its target, with a reason and its own number
// of approvals. What it skips is not forgotten: from when it is live, each of those environments is owed the release, until it or
// a newer one of its line is verified there, or somebody waives that.

// Owed is a release that an environment is owed since a hotfix went past it.
type Owed struct {
	Target      Target // which is owed it
	Release     Release
	PromotionID int64  // the hotfix
	LiveIn      string // the environment that has it
	Since       time.Time
}

// WaiveRequest says that an environment need not get a release that it is owed.
type WaiveRequest struct {
	Application, Environment string
	Release                  string // its id or version
	Reason                   string
}

// refuseHotfix finds what is wrong in the request itself.
func refuseHotfix(r PromoteRequest) error {
	switch {
	case !r.Hotfix:
		return nil
	case strings.TrimSpace(r.Reason) == "":
		return invalid("missing-reason", "reason", "say why it cannot wait: a hotfix goes past the environments before %s", r.Environment)
	case len(r.With) > 0:
		return invalid("malformed-hotfix", "hotfix", "a hotfix goes to one environment: ask for each by itself")
	}
	return nil
}

// refuseOwnLine: a hotfix is of another line than what the environments before are at. One of their line is verified there, or
// goes past them by break-glass; and one that need not go past anything is no hotfix.
func refuseOwnLine(ctx context.Context, tx Tx, p Promotion) error {
	if !p.Hotfix {
		return nil
	}
	upstream, verified, err := verifiedUpstream(ctx, tx, p)
	if err != nil {
		return err
	}
	if len(verified) == len(upstream) {
		return conflict("nothing-to-skip", "release %d (%s) need not go past anything to %s: promote it as usual", p.Release.Number, p.Release.Version, p.Target.Environment)
	}
	for _, t := range upstream {
		v, err := tx.LatestRevision(ctx, t.ID)
		if errors.Is(err, ErrNotFound) || err == nil && v.ReleaseID == 0 {
			continue
		} else if err != nil {
			return err
		}
		there, err := tx.Release(ctx, v.ReleaseID)
		if err != nil {
			return err
		}
		if there.Line == p.Release.Line && verified[t.ID] == 0 {
			return conflict("not-its-own-line", "release %d (%s) is of line %s, and so is what %s has: promote it there first. A hotfix is of a line of its own; in an emergency an override opens the gate %s.",
				p.Release.Number, p.Release.Version, p.Release.Line, t.Environment, GateUpstreamVerified)
		}
	}
	return nil
}

// lookAtSkipped finds what a hotfix goes past.
func (s *Service) lookAtSkipped(ctx context.Context, f *situation) error {
	if !f.Hotfix {
		return nil
	}
	all, err := s.Store.Targets(ctx)
	if err != nil {
		return fmt.Errorf("read the environments before %s: %w", f.Target.Environment, err)
	}
	before := slices.DeleteFunc(all, func(t Target) bool { return t.ApplicationID != f.Target.ApplicationID || t.Rank >= f.Target.Rank })
	verified, err := s.Store.VerifiedOn(ctx, f.Release.ID, targetIDs(before))
	if err != nil {
		return fmt.Errorf("read what was verified before %s: %w", f.Target.Environment, err)
	}
	f.skipped = slices.DeleteFunc(before, func(t Target) bool { return verified[t.ID] != 0 })
	return nil
}

// skips tells whether it goes past an environment, so that nothing can be found out about the release there.
func (f *situation) skips(environment string) bool {
	return slices.ContainsFunc(f.skipped, func(t Target) bool { return t.Environment == environment })
}

// bodyHotfix tells reviewers what they are asked to make up for.
func (f *situation) bodyHotfix(b *strings.Builder) {
	fmt.Fprintf(b, "**Hotfix**: it goes past %s, which will be owed it. Its own number of approvals holds it: %d.\n\n", environments(f.skipped), f.policy.Approvals)
}

// Waive says that an environment need not get what it is owed.
func (s *Service) Waive(ctx context.Context, by Actor, r WaiveRequest) error {
	if err := allow(by, "waive what is owed", RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return invalid("missing-reason", "reason", "say why %s need not get it", r.Environment)
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return err
	}
	release, err := s.findRelease(ctx, PromoteRequest{Application: r.Application, Release: r.Release})
	if err != nil {
		return err
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		owed, err := tx.Owed(ctx, t.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(owed, func(o Owed) bool { return o.Release.ID == release.ID })
		if i < 0 {
			return conflict("not-owed", "%s in %s is not owed release %d (%s)", t.Application, t.Environment, release.Number, release.Version)
		}
		created, err := tx.InsertWaiver(ctx, owed[i], by.Name, r.Reason, s.Now())
		if err != nil || !created {
			return err
		}
		e := s.releaseEvent(ctx, by, release, "release.waived", fmt.Sprintf("%s need not get release %d (%s): %s", t.Environment, release.Number, release.Version, r.Reason))
		e.Environment, e.PromotionID = t.Environment, owed[i].PromotionID
		return tx.Audit(ctx, e)
	})
}
