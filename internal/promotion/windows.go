package promotion

import (
	"context"
	"slices"
	"time"
)

// TargetWindows says when changes may reach a target.
type TargetWindows struct {
	Target Target
	Now    WindowDecision
	Open   []Interval // within the range asked for
	Closed []Interval
	Beside []DeploymentWindows // of the engine's own projects
}

// Interval is a time in which one decision holds.
type Interval struct {
	From, To   time.Time
	By, Reason string
}

// Windows says for every target when changes may reach it in a range, by policy, freezes and one-off windows. A target whose
// policy cannot be read is closed throughout, and the reason says why.
func (s *Service) Windows(ctx context.Context, from, to time.Time) ([]TargetWindows, error) {
	const longest = 400 * 24 * time.Hour
	if !to.After(from) || to.Sub(from) > longest {
		return nil, invalid("malformed-range", "to", "the range has to end after it starts, and within 400 days")
	}
	targets, err := s.Store.Targets(ctx)
	if err != nil {
		return nil, err
	}
	deployments, err := s.Store.Deployments(ctx, "", "")
	if err != nil {
		return nil, err
	}
	freezes, err := s.Store.Freezes(ctx, from)
	if err != nil {
		return nil, err
	}
	all, listed := make([]TargetWindows, len(targets)), map[string]projects{}
	for i, t := range targets {
		decide, err := s.decider(ctx, t, deployments, freezes)
		if err != nil {
			return nil, err
		}
		all[i] = TargetWindows{Target: t, Now: decide(s.Now())}
		all[i].fill(decide, from, to)
		all[i].Beside = s.besides(ctx, deployments, t.ID, listed, decide, from, to)
	}
	return all, nil
}

// decider decides for a target by policy, freezes and one-off windows.
func (s *Service) decider(ctx context.Context, t Target, deployments []Deployment, freezes []Freeze) (func(time.Time) WindowDecision, error) {
	c, err := s.rulesOf(ctx, s.Store, t.Repository)
	if isRefusal(err) {
		return func(time.Time) WindowDecision { return WindowDecision{Reason: "no policy can be read"} }, nil
	} else if err != nil {
		return nil, err
	}
	clusters := clustersOf(deployments, t.ID)
	return func(at time.Time) WindowDecision { return WindowOf(c.rules, freezes, t, clusters, at) }, nil
}

// ProjectWindows is what the engine's own projects say of a target beside its policy, and where the two disagree in a range.
func (s *Service) ProjectWindows(ctx context.Context, t Target, from, to time.Time) ([]DeploymentWindows, error) {
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	freezes, err := s.Store.Freezes(ctx, from)
	if err != nil {
		return nil, err
	}
	decide, err := s.decider(ctx, t, deployments, freezes)
	if err != nil {
		return nil, err
	}
	return s.besides(ctx, deployments, t.ID, map[string]projects{}, decide, from, to), nil
}

// WindowZones are the time zones that the sync windows in force are kept in, sorted.
func (s *Service) WindowZones(ctx context.Context) ([]string, error) {
	var zones []string
	for name := range s.Sites {
		c, err := s.rulesOf(ctx, s.Store, name)
		if isRefusal(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		zones = append(zones, c.rules.Zones()...)
	}
	slices.Sort(zones)
	return slices.Compact(zones), nil
}

// fill walks from edge to edge.
func (w *TargetWindows) fill(decide func(time.Time) WindowDecision, from, to time.Time) {
	for at := from; at.Before(to); {
		d := decide(at)
		end := to
		if !d.Next.IsZero() && d.Next.Before(to) {
			end = d.Next
		}
		interval := Interval{From: at, To: end, By: d.By, Reason: d.Reason}
		if d.Open {
			w.Open = append(w.Open, interval)
		} else {
			w.Closed = append(w.Closed, interval)
		}
		at = end
	}
}
