package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Seen is what a deployment was seen to be from one moment to another.
type Seen struct {
	Deployment string // its cluster and name
	ReleaseID  int64  // zero when what ran is no release
	Sync       SyncStatus
	Health     HealthStatus
	From, To   time.Time // To is zero while it still is
}

// watched judges evidence that nobody posts: what Sluice itself saw in an environment.
func (s *Service) watched(ctx context.Context, f *situation, needed NeededEvidence) GateResult {
	t, err := s.Store.TargetNamed(ctx, f.Target.Application, needed.Environment)
	if errors.Is(err, ErrNotFound) {
		return block("%s is asked for, and %s has no environment of that name", needed, f.Target.Application)
	} else if err != nil {
		return block("what ran in %s could not be read: %v", needed.Environment, err)
	}
	length := max(needed.HealthyFor, needed.DriftFreeFor)
	seen, err := s.Store.Seen(ctx, t.ID, f.Release.ID, f.now.Add(-length))
	if err != nil {
		return block("what ran in %s could not be read: %v", needed.Environment, err)
	}
	if len(seen) == 0 {
		return wait("%s is not known: nothing was seen to run there", needed)
	}
	result := pass("%s", needed)
	for len(seen) > 0 {
		end := slices.IndexFunc(seen, func(o Seen) bool { return o.Deployment != seen[0].Deployment })
		if end < 0 {
			end = len(seen)
		}
		one := f.healthyLongEnough(seen[:end], needed)
		if needed.DriftFreeFor > 0 {
			one = f.inSyncLongEnough(seen[:end], needed)
		}
		if one.Verdict == Block || one.Verdict == Wait && result.Verdict == Pass {
			result = one
		}
		seen = seen[end:]
	}
	return result
}

// healthyLongEnough asks that the release was once healthy in a deployment for long enough without interruption, and not degraded since.
func (f *situation) healthyLongEnough(seen []Seen, needed NeededEvidence) GateResult {
	var since, at time.Time // since when it has been healthy, and up to when that is known
	var broken Seen
	enough := false
	for _, o := range seen {
		switch {
		case o.ReleaseID != f.Release.ID:
			since = time.Time{}
			continue
		case o.Health != Healthy:
			since = time.Time{}
			if o.Health == Degraded || o.Health == Missing {
				enough, broken = false, o
			}
			continue
		case since.IsZero() || !o.From.Equal(at):
			since = o.From
		}
		if at = o.To; at.IsZero() {
			at = f.now
		}
		if at.Sub(since) >= needed.HealthyFor {
			enough, broken = true, Seen{}
		}
	}
	where := needed.Environment + " (" + seen[0].Deployment + ")"
	goesOn := !since.IsZero() && seen[len(seen)-1].To.IsZero()
	switch {
	case enough:
		return pass("%s", needed)
	case goesOn:
		return until(since.Add(needed.HealthyFor), wait("%s: release %d has been healthy in %s since %s", needed, f.Release.Number, where, clock(since)))
	case broken.Deployment != "":
		return block("%s: release %d was %s in %s at %s, and has not been healthy for long enough since", needed, f.Release.Number, broken.Health, where, clock(broken.From))
	}
	return wait("%s: release %d was not healthy in %s for that long without interruption", needed, f.Release.Number, where)
}

// inSyncLongEnough asks that a deployment is in sync, whatever it runs, and was nothing else for long enough.
func (f *situation) inSyncLongEnough(seen []Seen, needed NeededEvidence) GateResult {
	var since, at time.Time
	for _, o := range seen {
		switch {
		case o.Sync != Synced:
			since = time.Time{}
		case since.IsZero() || !o.From.Equal(at):
			since = o.From
		}
		at = o.To
	}
	last := seen[len(seen)-1]
	where := needed.Environment + " (" + last.Deployment + ")"
	switch {
	case !last.To.IsZero() || since.IsZero():
		return wait("%s: %s is %s since %s", needed, where, last.Sync, clock(last.From))
	case f.now.Sub(since) < needed.DriftFreeFor:
		return until(since.Add(needed.DriftFreeFor), wait("%s: %s has been in sync since %s", needed, where, clock(since)))
	}
	return pass("%s", needed)
}

// enqueueWatchers has the application's promotions looked at whose policy asks for what is seen in a target.
func (s *Service) enqueueWatchers(ctx context.Context, tx Tx, t Target) error {
	rules, err := s.rulesOf(ctx, tx, t.Repository)
	if isRefusal(err) {
		return nil
	} else if err != nil {
		return err
	}
	targets, err := tx.TargetsOf(ctx, t.ApplicationID)
	if err != nil {
		return fmt.Errorf("list the environments of %s: %w", t.Application, err)
	}
	for _, other := range targets {
		watches := slices.ContainsFunc(rules.rules.For(other).Evidence, func(n NeededEvidence) bool { return n.watched() && n.Environment == t.Environment })
		if !watches || other.ID == t.ID {
			continue
		}
		if err := tx.EnqueueTarget(ctx, other.ID); err != nil {
			return err
		}
	}
	return nil
}
