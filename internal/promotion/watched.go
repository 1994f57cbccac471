package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Seen is what a deployment was seen to be from one moment to another.
type Seen struct {
	Deployment DeploymentKey
	ReleaseID  int64 // zero when what ran is no release
	Sync       SyncStatus
	Health     HealthStatus
	From, To   time.Time // To is zero while it still is
}

func (o Seen) where() string { return o.Deployment.Cluster + "/" + o.Deployment.Name }

// until is up to when it was so, as far as anybody knows.
func (o Seen) until(now time.Time) time.Time {
	if o.To.IsZero() {
		return now
	}
	return o.To
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
	looks, err := s.Store.DriftLooks(ctx, t.ID)
	if err != nil {
		return block("what drifts in %s could not be read: %v", needed.Environment, err)
	}
	result := pass("%s", needed)
	for len(seen) > 0 {
		end := slices.IndexFunc(seen, func(o Seen) bool { return o.Deployment != seen[0].Deployment })
		if end < 0 {
			end = len(seen)
		}
		one := s.seenLongEnough(ctx, f, seen[:end], looks, needed)
		if one.Verdict == Block || one.Verdict == Wait && result.Verdict == Pass {
			result = one
		}
		seen = seen[end:]
	}
	return result
}

// seenLongEnough judges what one deployment was seen to be.
func (s *Service) seenLongEnough(ctx context.Context, f *situation, seen []Seen, looks []DriftLook, needed NeededEvidence) GateResult {
	watches, err := s.Store.Watches(ctx, seen[0].Deployment.Cluster, seen[0].From)
	if err != nil {
		return block("when cluster %s was watched could not be read: %v", seen[0].Deployment.Cluster, err)
	}
	if needed.HealthyFor > 0 {
		return f.healthyLongEnough(seen, watches, needed)
	}
	var look DriftLook
	if i := slices.IndexFunc(looks, func(l DriftLook) bool { return l.Deployment == seen[0].Deployment }); i >= 0 {
		look = looks[i]
	}
	return f.inSyncLongEnough(seen, watches, look, needed)
}

// healthyLongEnough asks that the release was once healthy in a deployment for long enough without interruption, and not degraded since.
func (f *situation) healthyLongEnough(seen []Seen, watches []Watch, needed NeededEvidence) GateResult {
	var healthy stretch
	var at time.Time
	var broken Seen
	enough := false
	for _, o := range seen {
		if !o.From.Equal(at) || o.ReleaseID != f.Release.ID || o.Health != Healthy {
			healthy = stretch{}
		}
		at = o.To
		switch {
		case o.ReleaseID != f.Release.ID:
		case o.Health == Degraded || o.Health == Missing:
			enough, broken = false, o
		case o.Health == Healthy && healthy.goesOn(watches, o.From, o.until(f.now), needed.HealthyFor):
			enough, broken = true, Seen{}
		}
	}
	where, last := needed.Environment+" ("+seen[0].where()+")", seen[len(seen)-1]
	switch {
	case enough:
		return pass("%s", needed)
	case last.To.IsZero() && healthy.known(f.now):
		return until(healthy.until(f.now, needed.HealthyFor), wait("%s: release %d has been healthy in %s since %s", needed, f.Release.Number, where, clock(healthy.since)))
	case last.To.IsZero() && last.Health == Healthy && last.ReleaseID == f.Release.ID:
		return wait("%s: nobody watches what release %d does in %s: %s", needed, f.Release.Number, where, lastWatched(watches))
	case broken.Deployment.Name != "":
		return block("%s: release %d was %s in %s at %s, and has not been healthy for long enough since", needed, f.Release.Number, broken.Health, where, clock(broken.From))
	}
	return wait("%s: release %d was not healthy in %s for that long without interruption", needed, f.Release.Number, where)
}

// inSyncLongEnough asks that a deployment is as Git says, whatever it runs, and was nothing else for long enough: by what the engine
// says and by what Sluice itself compared.
func (f *situation) inSyncLongEnough(seen []Seen, watches []Watch, look DriftLook, needed NeededEvidence) GateResult {
	var inSync stretch
	var at time.Time
	clean := latest(look.KnownSince, look.DriftedUntil)
	for _, o := range seen {
		if !o.From.Equal(at) || o.Sync != Synced {
			inSync = stretch{}
		}
		if at = o.To; o.Sync == Synced && !clean.After(o.until(f.now)) {
			inSync.goesOn(watches, latest(o.From, clean), o.until(f.now), needed.DriftFreeFor)
		}
	}
	where, last := needed.Environment+" ("+seen[0].where()+")", seen[len(seen)-1]
	switch {
	case !last.To.IsZero() || last.Sync != Synced:
		return wait("%s: %s is %s since %s", needed, where, last.Sync, clock(last.From))
	case look.Drifting > 0:
		return wait("%s: %d fields in %s are not as Git says", needed, look.Drifting, where)
	case look.KnownSince.IsZero() || f.now.Sub(look.LookedAt) > driftPatience:
		return wait("%s: whether %s is as Git says is not known: %s", needed, where, look.unknown())
	case !inSync.known(f.now):
		return wait("%s: nobody watches %s: %s", needed, where, lastWatched(watches))
	case inSync.lasted < needed.DriftFreeFor:
		return until(inSync.until(f.now, needed.DriftFreeFor), wait("%s: %s has been in sync and without drift since %s", needed, where, clock(inSync.since)))
	}
	return pass("%s", needed)
}

// unknown says why what drifts is not known.
func (l DriftLook) unknown() string {
	switch {
	case l.Problem != "":
		return l.Problem
	case l.LookedAt.IsZero():
		return "it was never compared"
	case len(l.Unchecked) > 0 && l.KnownSince.IsZero():
		return strings.Join(l.Unchecked, "; ")
	}
	return "it was last compared at " + clock(l.LookedAt)
}

func lastWatched(watches []Watch) string {
	if len(watches) == 0 {
		return "nobody did since it is so"
	}
	var last time.Time
	for _, w := range watches {
		last = latest(last, w.To)
	}
	return "the last who did went at " + clock(last)
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
