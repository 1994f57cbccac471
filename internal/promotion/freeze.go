package promotion

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Freeze is a one-off exception to the recurring windows, from a web form or the API.
type Freeze struct {
	ID           int64
	Kind         FreezeKind
	Reason       string
	Owner        string   // whom to ask
	Applications []string // names or patterns such as web-*; empty: all
	Environments []string
	Clusters     []string
	StartsAt     time.Time
	EndsAt       time.Time
	CreatedBy    string
	CreatedAt    time.Time
	EndedBy      string // who ended it early
	EndedAt      time.Time
}

// FreezeKind says what a Freeze does to the time that it covers.
type FreezeKind string

// A freeze lets nothing out. A window lets changes out although no recurring window is open; a freeze wins over it.
const (
	KindFreeze FreezeKind = "freeze"
	KindWindow FreezeKind = "window"
)

// Covers tells whether the freeze is about a target. One that no known cluster runs meets those of every cluster.
func (z Freeze) Covers(t Target, clusters []string) bool {
	cluster := len(z.Clusters) == 0 || len(clusters) == 0 ||
		slices.ContainsFunc(clusters, func(name string) bool { return matchesOne(z.Clusters, name) })
	return cluster && matchesOne(z.Applications, t.Application) && matchesOne(z.Environments, t.Environment)
}

// matchesOne tells whether a name is among the patterns; no pattern is for every name.
func matchesOne(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

func (z Freeze) active(at time.Time) bool {
	return !at.Before(z.StartsAt) && at.Before(z.EndsAt) && z.EndedAt.IsZero()
}

// next is when the freeze starts or ends next; zero when it never does.
func (z Freeze) next(at time.Time) time.Time {
	switch {
	case !z.EndedAt.IsZero() || !at.Before(z.EndsAt):
		return time.Time{}
	case at.Before(z.StartsAt):
		return z.StartsAt
	}
	return z.EndsAt
}

// WindowOf says whether changes may reach a target at a moment: by freezes first, then by one-off windows, then by policy.
func WindowOf(rules Rules, freezes []Freeze, t Target, clusters []string, at time.Time) WindowDecision {
	d := decideWindow(rules, freezes, t, clusters, at)
	const most = 1000 // edges to look past; then the answer is that it may change at the last of them
	for edge := 0; !d.Next.IsZero() && edge < most; edge++ {
		next := decideWindow(rules, freezes, t, clusters, d.Next)
		if next.Open != d.Open {
			break
		}
		d.Next = next.Next
	}
	return d
}

// decideWindow decides for one moment; Next is the next edge, at which the answer may stay the same.
func decideWindow(rules Rules, freezes []Freeze, t Target, clusters []string, at time.Time) WindowDecision {
	d := rules.Window(t, clusters, at)
	denied := !d.Open && d.By != "" // by a deny window, which wins over a one-off window; allow windows may merely not be open
	opened := false
	for _, z := range freezes {
		if !z.Covers(t, clusters) {
			continue
		}
		d.Next = earliest(d.Next, z.next(at))
		switch {
		case !z.active(at):
		case z.Kind == KindFreeze:
			d.Open, d.By = false, fmt.Sprintf("freeze %d", z.ID)
			d.Reason = fmt.Sprintf("frozen by %s: %s", z.CreatedBy, z.Reason)
			return d
		case !opened && !denied:
			opened = true
			d.Open, d.By = true, fmt.Sprintf("window %d", z.ID)
			d.Reason = fmt.Sprintf("opened by %s: %s", z.CreatedBy, z.Reason)
		}
	}
	return d
}

func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// PlanFreeze lists the targets that a freeze would be about, and refuses one that makes no sense. It changes nothing.
func (s *Service) PlanFreeze(ctx context.Context, z Freeze) ([]Target, error) {
	switch {
	case z.Kind != KindFreeze && z.Kind != KindWindow:
		return nil, invalid("malformed-freeze", "kind", "kind %q: say freeze or window", z.Kind)
	case strings.TrimSpace(z.Reason) == "":
		return nil, invalid("missing-reason", "reason", "say why: everybody who is held by it reads it")
	case strings.TrimSpace(z.Owner) == "":
		return nil, invalid("missing-owner", "owner", "say whom to ask about it")
	case z.StartsAt.IsZero():
		return nil, invalid("missing-start", "starts_at", "say when it starts; now is a good answer")
	case !z.EndsAt.After(z.StartsAt):
		return nil, invalid("malformed-end", "ends_at", "it has to end after it starts")
	case !z.EndsAt.After(s.Now()):
		return nil, invalid("malformed-end", "ends_at", "it would have ended already")
	}
	for field, patterns := range map[string][]string{"applications": z.Applications, "environments": z.Environments, "clusters": z.Clusters} {
		for _, pattern := range patterns {
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				return nil, invalid("malformed-pattern", field, "%q is no name and no pattern such as web-*", pattern)
			}
		}
	}
	targets, err := s.Store.Targets(ctx)
	if err != nil {
		return nil, err
	}
	deployments, err := s.Store.Deployments(ctx, "", "")
	if err != nil {
		return nil, err
	}
	var covered []Target
	for _, t := range targets {
		if z.Covers(t, clustersOf(deployments, t.ID)) {
			covered = append(covered, t)
		}
	}
	if len(covered) == 0 {
		return nil, invalid("freezes-nothing", "applications", "this is about no target: check the names")
	}
	return covered, nil
}

func clustersOf(deployments []Deployment, targetID int64) []string {
	var clusters []string
	for _, d := range deployments {
		if d.TargetID == targetID && !slices.Contains(clusters, d.Key.Cluster) {
			clusters = append(clusters, d.Key.Cluster)
		}
	}
	return clusters
}

// Freeze stores a one-off freeze or window.
func (s *Service) Freeze(ctx context.Context, by Actor, z Freeze) (Freeze, error) {
	if err := allow(by, "freeze or open a window", RoleReleaseManager, RoleAdmin); err != nil {
		return Freeze{}, err
	}
	covered, err := s.PlanFreeze(ctx, z)
	if err != nil {
		return Freeze{}, err
	}
	z.CreatedBy, z.CreatedAt = by.Name, s.Now()
	err = s.Store.Tx(ctx, func(tx Tx) (err error) {
		if z.ID, err = tx.InsertFreeze(ctx, z); err != nil {
			return fmt.Errorf("store the %s: %w", z.Kind, err)
		}
		e := s.event(ctx, by, string(z.Kind)+".started", fmt.Sprintf("%s of %s from %s to %s: %s", z.Kind, paths(covered), clock(z.StartsAt), clock(z.EndsAt), z.Reason))
		e.Object, e.After = fmt.Sprintf("freeze/%d", z.ID), z
		return s.auditAndWake(ctx, tx, e, covered)
	})
	return z, err
}

// Thaw ends a freeze or window before its time.
func (s *Service) Thaw(ctx context.Context, by Actor, id int64) error {
	if err := allow(by, "end a freeze or window", RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		freezes, err := tx.Freezes(ctx, s.Now())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(freezes, func(z Freeze) bool { return z.ID == id })
		if i < 0 {
			return absent("unknown-freeze", "there is no freeze or window %d that has not ended", id)
		}
		z := freezes[i]
		if err := tx.EndFreeze(ctx, id, by.Name, s.Now()); err != nil {
			return err
		}
		targets, err := tx.Targets(ctx)
		if err != nil {
			return err
		}
		covered := slices.DeleteFunc(targets, func(t Target) bool { return !z.Covers(t, nil) })
		e := s.event(ctx, by, string(z.Kind)+".ended", fmt.Sprintf("%s %d ended by %s", z.Kind, id, by.Name))
		e.Object, e.Before = fmt.Sprintf("freeze/%d", id), z
		return s.auditAndWake(ctx, tx, e, covered)
	})
}

// auditAndWake stores an event and has the promotions of the targets it is about judged anew.
func (s *Service) auditAndWake(ctx context.Context, tx Tx, e AuditEvent, targets []Target) error {
	if err := tx.Audit(ctx, e); err != nil {
		return err
	}
	for _, t := range targets {
		if err := tx.EnqueueTarget(ctx, t.ID); err != nil {
			return err
		}
	}
	return nil
}
