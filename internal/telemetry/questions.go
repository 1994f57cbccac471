package telemetry

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/internal/promotion"
)

func questions() []question {
	return []question{repositories(), promotions(), gates(), exceptions(), deployments(), audit(), jobs()}
}

func repositories() question {
	faults := describe("policy_faults", "Faults in the policy on a config repository's main branch; while there are any, the last good policy stays in force.", "repository")
	since := describe("policy_in_force_since_seconds", "Unix time since which the policy in force of a config repository holds; 0: none was read yet.", "repository")
	look := describe("repository_last_look_timestamp_seconds", "Unix time of the last look at a config repository, also a failed one; 0: never.", "repository")
	problem := describe("repository_problem", "1 when the last look at a config repository failed, else 0.", "repository")
	return question{"config repositories", []*prometheus.Desc{faults, since, look, problem},
		func(ctx context.Context, store Store, _ time.Time) ([]prometheus.Metric, error) {
			rows, err := store.RepositoryStates(ctx)
			var all []prometheus.Metric
			for _, r := range rows {
				all = append(all, gauge(faults, float64(r.PolicyFaults), r.Name), gauge(since, unix(r.PolicySince), r.Name),
					gauge(look, unix(r.LookedAt), r.Name), gauge(problem, number(r.Problem), r.Name))
			}
			return all, err
		}}
}

func promotions() question {
	unfinished := describe("promotions", "Unfinished promotions of an environment by state.", "environment", "state")
	waiting := describe("promotion_oldest_waiting_seconds", "Age of the oldest promotion of an environment that is not live yet and has not failed.", "environment")
	return question{"promotions", []*prometheus.Desc{unfinished, waiting},
		func(ctx context.Context, store Store, at time.Time) ([]prometheus.Metric, error) {
			rows, err := store.PromotionCounts(ctx)
			var all []prometheus.Metric
			oldest := map[string]time.Duration{}
			for _, p := range rows {
				all = append(all, gauge(unfinished, float64(p.Count), p.Environment, string(p.State)))
				if p.State != promotion.StateLive && p.State != promotion.StateFailed {
					oldest[p.Environment] = max(oldest[p.Environment], at.Sub(p.OldestRequestedAt))
				}
			}
			for _, environment := range slices.Sorted(maps.Keys(oldest)) {
				all = append(all, gauge(waiting, oldest[environment].Seconds(), environment))
			}
			return all, err
		}}
}

func gates() question {
	holding := describe("gate_holding", "Promotions of an environment that an enforced gate stops now.", "gate", "environment")
	return question{"gates", []*prometheus.Desc{holding},
		func(ctx context.Context, store Store, _ time.Time) ([]prometheus.Metric, error) {
			rows, err := store.HoldingGates(ctx)
			var all []prometheus.Metric
			for _, g := range rows {
				all = append(all, gauge(holding, float64(g.Promotions), g.Gate, g.Environment))
			}
			return all, err
		}}
}

func exceptions() question {
	violations := describe("violations_open", "Violations that nobody has reviewed yet.")
	overrides := describe("overrides_in_force", "Overrides that open gates now.")
	unreviewed := describe("overrides_unreviewed", "Overrides that nobody has reviewed yet, expired ones included.")
	holds := describe("holds", "Holds on a target, or on everything.")
	freezes := describe("freezes_active", "One-off freezes that hold now; recurring windows of the policy are not counted.")
	return question{"violations, overrides, holds and freezes", []*prometheus.Desc{violations, overrides, unreviewed, holds, freezes},
		func(ctx context.Context, store Store, at time.Time) ([]prometheus.Metric, error) {
			e, err := store.ExceptionCounts(ctx, at)
			return []prometheus.Metric{gauge(violations, float64(e.ViolationsOpen)), gauge(overrides, float64(e.OverridesInForce)),
				gauge(unreviewed, float64(e.OverridesUnreviewed)), gauge(holds, float64(e.Holds)), gauge(freezes, float64(e.FreezesActive))}, err
		}}
}

func deployments() question {
	count := describe("deployments", "Deployments of targets in a cluster by sync and health.", "cluster", "sync", "health")
	observed := describe("deployment_observed_timestamp_seconds", "Unix time of the newest change seen in a deployment of a cluster; a quiet cluster has an old one.", "cluster")
	return question{"deployments", []*prometheus.Desc{count, observed},
		func(ctx context.Context, store Store, _ time.Time) ([]prometheus.Metric, error) {
			rows, err := store.DeploymentCounts(ctx)
			var all []prometheus.Metric
			newest := map[string]float64{}
			for _, d := range rows {
				all = append(all, gauge(count, float64(d.Count), d.Cluster, d.Sync, d.Health))
				newest[d.Cluster] = max(newest[d.Cluster], unix(d.NewestObservedAt))
			}
			for _, cluster := range slices.Sorted(maps.Keys(newest)) {
				all = append(all, gauge(observed, newest[cluster], cluster))
			}
			return all, err
		}}
}

func audit() question {
	unsealed := describe("audit_events_unsealed", "Audit events after the newest sealed one that are not sealed yet, counted up to 10000.")
	oldest := describe("audit_oldest_unsealed_seconds", "Age of the oldest of the unsealed audit events; 0 without any.")
	return question{"audit", []*prometheus.Desc{unsealed, oldest},
		func(ctx context.Context, store Store, at time.Time) ([]prometheus.Metric, error) {
			backlog, err := store.AuditBacklog(ctx, at)
			return []prometheus.Metric{gauge(unsealed, float64(backlog.Unsealed)),
				gauge(oldest, max(0, at.Sub(backlog.OldestAt)).Seconds())}, err
		}}
}

func jobs() question {
	count := describe("jobs", "Jobs of the queue that are to run, run, or were given up (discarded), by kind.", "state", "kind")
	return question{"jobs", []*prometheus.Desc{count},
		func(ctx context.Context, store Store, _ time.Time) ([]prometheus.Metric, error) {
			rows, err := store.JobCounts(ctx)
			var all []prometheus.Metric
			for _, j := range rows {
				all = append(all, gauge(count, float64(j.Count), j.State, j.Kind))
			}
			return all, err
		}}
}

// unix is 0 for never.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
