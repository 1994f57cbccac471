package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// lookAtLine reads who syncs and who waits to, once the promotion can be among them.
func (s *Service) lookAtLine(ctx context.Context, f *situation) (err error) {
	if f.PullRequest == PullRequestMerged && f.policy.SyncBySluice {
		f.line, err = s.line(ctx, s.Store)
	}
	return err
}

// line is everybody in the line, those among them whose gates nobody has evaluated yet.
func (s *Service) line(ctx context.Context, known Reader) ([]Lined, error) {
	all, err := known.SyncLine(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the line of syncs: %w", err)
	}
	unjudged, err := known.MergedUnjudged(ctx, s.Now().Add(-unjudgedFor))
	if err != nil {
		return nil, fmt.Errorf("read which promotions were merged just now: %w", err)
	}
	for _, u := range unjudged {
		if len(u.Clusters) == 0 || slices.ContainsFunc(all, func(l Lined) bool { return l.PromotionID == u.ID }) {
			continue
		}
		rules, err := s.rulesOf(ctx, known, u.Target.Repository)
		if err != nil {
			continue // without a policy its gate holds it
		}
		policy := rules.rules.For(u.Target)
		if !policy.SyncBySluice {
			continue
		}
		l := linedOf(u.Promotion, policy, u.Clusters)
		l.MergedAt, l.JoinedAt, l.Unjudged = u.At, u.At, true
		all = append(all, l)
	}
	return all, nil
}

// JustMerged is a promotion whose pull request was merged, known from it or from another promotion of the same pull request.
type JustMerged struct {
	Promotion
	Clusters []string
	At       time.Time
}

func linedOf(p Promotion, policy EnvironmentPolicy, clusters []string) Lined {
	l := Lined{PromotionID: p.ID, Application: p.Target.Application, Environment: p.Target.Environment, Clusters: clusters,
		Priority: policy.SyncPriority, Most: policy.SyncsAtOnce, MergedAt: p.MergedAt}
	if p.Kind == KindRollback {
		l.Priority = PriorityRollback
	}
	return l
}

// inLine is the promotion itself in the line, as of now when it is not there yet.
func (f *situation) inLine() Placed {
	all := slices.Clone(f.line)
	if _, in := f.lined(); !in {
		l := linedOf(*f.Promotion, f.policy, f.clusters())
		l.JoinedAt = f.now
		all = append(slices.DeleteFunc(all, func(l Lined) bool { return l.PromotionID == f.ID }), l)
	}
	placed := Line(all, f.now)
	i := slices.IndexFunc(placed, func(p Placed) bool { return p.PromotionID == f.ID })
	if i < 0 {
		return Placed{Has: true} // it syncs for longer than a place lasts
	}
	return placed[i]
}

// lined is the promotion as it stands in the line; ok is false when it does not.
func (f *situation) lined() (l Lined, ok bool) {
	i := slices.IndexFunc(f.line, func(l Lined) bool { return l.PromotionID == f.ID && !l.Unjudged })
	if i < 0 {
		return Lined{}, false
	}
	return f.line[i], true
}

func (f *situation) clusters() []string { return clustersOf(f.deployments, f.Target.ID) }

// concurrency asks that not too many targets sync at once in a cluster. It is judged last: only what nothing else holds is in the line.
func (s *Service) concurrency(_ context.Context, f *situation) GateResult {
	if len(f.deployments) == 0 {
		return pass("nothing is deployed: there is nothing to sync")
	}
	if !f.ready {
		return wait("It joins the line of syncs when nothing else holds it.")
	}
	me := f.inLine()
	inputs := map[string]any{"most": f.policy.SyncsAtOnce, "clusters": f.clusters()}
	switch {
	case me.Has:
		return pass("it has its place among those that sync").with(inputs)
	case me.May:
		return pass("at most %d sync at once in %s, and there is room", f.policy.SyncsAtOnce, strings.Join(f.clusters(), ", ")).with(inputs)
	}
	inputs["place"] = me.Number
	r := wait("In the line of syncs at place %d%s: at most %d targets that Sluice syncs may do so at once in %s.", me.Number, me.behind(), f.policy.SyncsAtOnce,
		strings.Join(f.clusters(), ", ")).with(inputs)
	for _, l := range f.line {
		switch {
		case l.Unjudged:
			r.Until = earliest(r.Until, f.now.Add(time.Second))
		case !l.StartedAt.IsZero() && l.until().After(f.now):
			r.Until = earliest(r.Until, l.until())
		}
	}
	return r
}

func (p Placed) behind() string {
	if p.Behind == nil {
		return ""
	}
	return fmt.Sprintf(", behind %s in %s", p.Behind.Application, p.Behind.Environment)
}

// keepLine has the promotion join the line, or leave it, as the gates and the cluster say. Who leaves gives their place to the next.
func (s *Service) keepLine(ctx context.Context, f *situation) error {
	place, lined := f.lined()
	syncs := f.PullRequest == PullRequestMerged && f.policy.SyncBySluice && len(f.deployments) > 0 &&
		f.LiveAt.IsZero() && f.Failure == "" && !f.State().Finished()
	begun := !f.SyncStartedAt.IsZero() || !f.SyncedAt.IsZero()
	in := syncs && (f.ready || begun)
	switch {
	case !lined && in && !begun:
		return s.Store.Tx(ctx, func(tx Tx) error { return tx.JoinSyncLine(ctx, linedOf(*f.Promotion, f.policy, f.clusters()), f.now) })
	case lined && !in:
		return s.Store.Tx(ctx, func(tx Tx) error { return s.leaveLine(ctx, tx, f) })
	case lined && begun && place.StartedAt.IsZero(): // somebody else started it: it takes a place all the same
		return s.Store.Tx(ctx, func(tx Tx) error { return tx.TakeSyncPlace(ctx, f.ID, f.now) })
	}
	return nil
}

func (s *Service) leaveLine(ctx context.Context, tx Tx, f *situation) error {
	if err := tx.LeaveSyncLine(ctx, f.ID, f.now); err != nil {
		return err
	}
	all, err := s.line(ctx, tx)
	if err != nil {
		return err
	}
	var next []int64
	for _, p := range Line(all, f.now) {
		if p.May {
			next = append(next, p.PromotionID)
		}
	}
	return advanceEach(ctx, tx, next)
}

// takePlace takes a place before the sync is started, so that two servers never take the last one. forced is for what the gate does not hold.
func (s *Service) takePlace(ctx context.Context, f *situation, forced bool) (taken bool, err error) {
	err = s.Store.Tx(ctx, func(tx Tx) error {
		taken = false
		if err := tx.LockSyncLine(ctx); err != nil {
			return err
		}
		if f.line, err = s.line(ctx, tx); err != nil {
			return err
		}
		me := f.inLine()
		switch {
		case me.Has:
			taken = true
			return nil
		case !me.May && !forced:
			return nil
		}
		if _, lined := f.lined(); !lined {
			if err := tx.JoinSyncLine(ctx, me.Lined, f.now); err != nil {
				return err
			}
		}
		taken = true
		return tx.TakeSyncPlace(ctx, f.ID, f.now)
	})
	return taken, err
}

// holdsLine tells whether the gate is held to: policy enforces it, and nobody overrode it.
func holdsLine(gates []GateResult) bool {
	return slices.ContainsFunc(gates, func(g GateResult) bool { return g.Gate == GateConcurrency && g.Mode == Enforce && g.Override == 0 })
}
