package promotion

import (
	"context"
	"fmt"
	"time"
)

// What a deployment was seen to be is known to have lasted only while somebody watched its cluster. A server that is down and a
// cluster that does not answer leave a gap: what happened in it is unknown, and no evidence.

// Watch is a time in which a server watched a cluster without a gap.
type Watch struct {
	Cluster  string
	Server   string // host and port
	From, To time.Time
}

const (
	watchBeat = 5 * time.Second // how often whoever watches says so
	watchGap  = time.Minute     // for how long nobody may watch until that interrupts, such as when Sluice is started anew
)

// watchedIn are the parts of a time in which somebody watched, in order. Watches come oldest first, and several servers' overlap.
func watchedIn(watches []Watch, from, to time.Time) (parts []Watch) {
	for _, w := range watches {
		w.From, w.To = latest(w.From, from), earliest(w.To, to)
		if w.From.Before(w.To) {
			parts = append(parts, w)
			from = w.To
		}
	}
	return parts
}

// stretch is a time in which something was seen to be so without interruption.
type stretch struct {
	since, at time.Time     // from when, and up to when it is known; zero: it is not so
	lasted    time.Duration // of that, what was watched
}

// goesOn adds what was watched of a time in which it was so, and tells whether that was long enough at any moment.
func (k *stretch) goesOn(watches []Watch, from, to time.Time, long time.Duration) (enough bool) {
	if k.since.IsZero() {
		k.since, k.at = from, from
	}
	for _, p := range watchedIn(watches, from, to) {
		if p.From.Sub(k.at) > watchGap {
			*k = stretch{since: p.From}
		}
		k.at, k.lasted = p.To, k.lasted+p.To.Sub(p.From)
		enough = enough || k.lasted >= long
	}
	return enough
}

// known tells whether it is still so, as far as somebody watches.
func (k *stretch) known(now time.Time) bool { return !k.since.IsZero() && now.Sub(k.at) <= watchGap }

// until is when it has lasted long enough if nothing interrupts it: not before somebody says that it was watched until then.
func (k *stretch) until(now time.Time, long time.Duration) time.Time {
	return latest(k.at.Add(long-k.lasted), now.Add(watchBeat))
}

// lookAtSoak finds how long a live promotion is known to have been live: in the deployment that was watched least.
func (s *Service) lookAtSoak(ctx context.Context, f *situation) error {
	if f.LiveAt.IsZero() || !f.VerifiedAt.IsZero() || f.policy.Soak == 0 {
		return nil
	}
	for i, d := range f.deployments {
		watches, err := s.Store.Watches(ctx, d.Key.Cluster, f.LiveAt)
		if err != nil {
			return fmt.Errorf("read when cluster %s was watched: %w", d.Key.Cluster, err)
		}
		var live stretch
		live.goesOn(watches, f.LiveAt, f.now, f.policy.Soak)
		if i == 0 || live.lasted < f.soaked.lasted {
			f.soaked = live
		}
	}
	return nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
