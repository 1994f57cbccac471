package promotion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicehq/sluice/internal/rollback"
)

// declared is what the policy says that a target depends on, and what is known of it.
type declared struct {
	targets []rollback.DependedTarget
	metrics []rollback.DependedMetric
	notes   []string // of what is not as it must be, a sentence each
	unread  []string // what could not be found out and why, a sentence each
}

func (d declared) unknown() bool { return len(d.unread) > 0 }

// declaredFacts asks about every dependency at once; what has not answered when ctx ends is unread. A target is no dependency of itself:
// it must be able to go back when it is ill.
func (s *Service) declaredFacts(ctx context.Context, t Target, needed []NeededEvidence) declared {
	needed = slices.DeleteFunc(slices.Clone(needed), func(n NeededEvidence) bool {
		return n.Threshold.Query == "" && n.Name == t.Application && cmp.Or(n.Environment, t.Environment) == t.Environment
	})
	states, said := make([]rollback.State, len(needed)), make([]string, len(needed))
	each(needed, func(i int) {
		if needed[i].Environment == "" && needed[i].Threshold.Query == "" {
			needed[i].Environment = t.Environment
		}
		states[i], said[i] = s.dependency(ctx, needed[i])
	})
	var d declared
	for i, n := range needed {
		if n.Threshold.Query != "" {
			d.metrics = append(d.metrics, rollback.DependedMetric{Name: n.Name, Query: n.Threshold.Query, Wanted: n.Threshold.String(), Kept: states[i]})
		} else {
			d.targets = append(d.targets, rollback.DependedTarget{Target: n.Name + "/" + n.Environment, Healthy: states[i]})
		}
		switch states[i] {
		case rollback.No:
			d.notes = append(d.notes, said[i])
		case rollback.Unread:
			d.unread = append(d.unread, said[i])
		}
	}
	return d
}

// dependency says whether one is as it must be: yes, no or unread, and a sentence of what is wrong.
func (s *Service) dependency(ctx context.Context, n NeededEvidence) (rollback.State, string) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience.source())
	defer cancel()
	type answer struct {
		state rollback.State
		said  string
	}
	ask := s.targetHealth
	if n.Threshold.Query != "" {
		ask = s.metricKept
	}
	a, answered := awaited(ctx, func() answer {
		state, said := ask(ctx, n)
		return answer{state, said}
	})
	if !answered {
		return rollback.Unread, fmt.Sprintf("%s gave no answer in time", n)
	}
	return a.state, a.said
}

// targetHealth is what is seen now: a target must be healthy in each of its deployments.
func (s *Service) targetHealth(ctx context.Context, n NeededEvidence) (rollback.State, string) {
	t, err := s.Store.TargetNamed(ctx, n.Name, n.Environment)
	if errors.Is(err, ErrNotFound) {
		return rollback.Unread, fmt.Sprintf("%s, which the policy says it depends on, is no target that is known", n)
	} else if err != nil {
		return rollback.Unread, fmt.Sprintf("%s could not be read: %v", n, err)
	}
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	switch {
	case err != nil:
		return rollback.Unread, fmt.Sprintf("the health of %s could not be read: %v", n, err)
	case len(deployments) == 0:
		return rollback.Unread, fmt.Sprintf("nothing was ever seen to run of %s", n)
	}
	state, said := rollback.Yes, ""
	for _, d := range deployments {
		switch {
		case d.Health == Healthy:
		case d.Health == HealthUnknown || d.Health == "":
			if state == rollback.Yes {
				state, said = rollback.Unread, fmt.Sprintf("the health of %s is not known (%s)", n, d.Key.Name)
			}
		default:
			return rollback.No, fmt.Sprintf("%s is %s (%s)", n, d.Health, d.Key.Name)
		}
	}
	return state, said
}

// metricKept asks over the metric's time until now. What it was is not said: each moment would make another verdict of it.
func (s *Service) metricKept(ctx context.Context, n NeededEvidence) (rollback.State, string) {
	if s.Metrics == nil {
		return rollback.Unread, fmt.Sprintf("%s is not known: this server is connected to no Prometheus", n)
	}
	now := s.Now().Truncate(time.Second)
	lowest, highest, err := s.Metrics.Over(ctx, n.Threshold.Query, now.Add(-n.Threshold.For), now)
	switch {
	case err != nil:
		return rollback.Unread, fmt.Sprintf("%s is not known: %v", n, err)
	case n.Threshold.broken(lowest, highest):
		return rollback.No, fmt.Sprintf("%s: it was not", n)
	}
	return rollback.Yes, ""
}
