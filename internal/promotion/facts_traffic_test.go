package promotion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

var (
	web  = map[string]string{"app": "web"}
	live = promotion.LiveWorkload{Present: true, Selector: web, Replicas: some(4), Room: rollback.Yes}
)

func some(n int) *int { return &n }

// deployment is one of four replicas that keeps all of them while it is changed.
func deployment(changes ...func(*promotion.Workload)) promotion.Workload {
	w := promotion.Workload{Kind: "Deployment", Name: "web", Strategy: "RollingUpdate", Replicas: some(4), MaxUnavailable: "0", MaxSurge: "1",
		Selector: web, Labels: web, Probed: true}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func rendering(workloads ...promotion.Workload) *promotion.Needs {
	return &promotion.Needs{Workloads: workloads, Services: []promotion.Selection{{Name: "web", Selector: web}}}
}

func running(l promotion.LiveWorkload) promotion.ClusterFacts {
	return promotion.ClusterFacts{Workloads: map[string]promotion.LiveWorkload{"Deployment/web": l, "StatefulSet/web": l, "DaemonSet/web": l}}
}

// evicting is a cluster in which pods of the Deployment, and one of the StatefulSet, may be evicted.
func evicting(e promotion.Evictions) promotion.ClusterFacts {
	c := running(live)
	c.Evictions = map[string]promotion.Evictions{"Deployment/web": e, "StatefulSet/web": {Allowed: some(1)}}
	return c
}

// TestMaxUnavailable holds what Kubernetes documents of each kind's defaults and of its rounding.
func TestMaxUnavailable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind, unavailable, surge string
		replicas                 *int
		want                     *int
	}{
		"a number":                             {"Deployment", "2", "1", some(4), some(2)},
		"a share is rounded down":              {"Deployment", "30%", "1", some(4), some(1)},
		"a Deployment's own is a quarter":      {"Deployment", "", "", some(8), some(2)},
		"a quarter of three is none":           {"Deployment", "", "", some(3), some(0)},
		"none, and a surge that rounds up":     {"Deployment", "0", "1%", some(4), some(0)},
		"none and no surge is one":             {"Deployment", "10%", "0", some(4), some(1)},
		"a share of nobody knows how many":     {"Deployment", "25%", "1", nil, nil},
		"a number of nobody knows how many":    {"Deployment", "1", "1", nil, some(1)},
		"what is no number":                    {"Deployment", "most", "1", some(4), nil},
		"a StatefulSet's own is one":           {"StatefulSet", "", "", some(3), some(1)},
		"a DaemonSet's own is one":             {"DaemonSet", "", "", some(12), some(1)},
		"a DaemonSet that surges keeps all":    {"DaemonSet", "0", "1", some(12), some(0)},
		"a DaemonSet's share is rounded up":    {"DaemonSet", "10%", "", some(12), some(2)},
		"a StatefulSet's share, too":           {"StatefulSet", "10%", "", some(3), some(1)},
		"less than none":                       {"Deployment", "-1", "1", some(4), nil},
		"a hundred per cent leaves none of it": {"Deployment", "100%", "1", some(4), some(4)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := deployment(func(w *promotion.Workload) {
				w.Kind, w.MaxUnavailable, w.MaxSurge, w.Replicas = test.kind, test.unavailable, test.surge, test.replicas
			})
			l := live
			l.Replicas = nil
			got, _ := promotion.TrafficFacts(rendering(w), rendering(w), running(l))
			if diff := cmp.Diff(test.want, got.MaxUnavailable); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTrafficFacts(t *testing.T) {
	t.Parallel()
	type facts = rollback.Traffic
	with := func(change func(*promotion.LiveWorkload)) promotion.ClusterFacts {
		l := live
		change(&l)
		return running(l)
	}
	tests := map[string]struct {
		back, now *promotion.Needs
		cluster   promotion.ClusterFacts
		differs   func(*facts)
	}{
		"all is well":         {rendering(deployment()), rendering(deployment()), running(live), func(*facts) {}},
		"nothing is rendered": {nil, rendering(deployment()), running(live), func(f *facts) { *f = facts{} }},
		"a Service leads elsewhere": {rendering(deployment(func(w *promotion.Workload) { w.Labels = map[string]string{"app": "shop"} })), rendering(deployment()),
			running(live), func(f *facts) { f.ServiceSelectsOld = rollback.No }},
		"pods that nobody probes": {rendering(deployment(func(w *promotion.Workload) { w.Probed = false })), rendering(deployment()),
			running(live), func(f *facts) { f.ReadinessProbe = rollback.No }},
		"no Service leads to pods that nobody probes": {&promotion.Needs{Workloads: []promotion.Workload{deployment(func(w *promotion.Workload) { w.Probed = false })}},
			nil, running(live), func(*facts) {}},
		"another selector than main's": {rendering(deployment()), rendering(deployment(func(w *promotion.Workload) { w.Selector = map[string]string{"app": "web", "v": "2"} })),
			running(live), func(f *facts) { f.SelectorUnchanged = rollback.No }},
		"another selector than the cluster's": {rendering(deployment()), rendering(deployment()),
			with(func(l *promotion.LiveWorkload) { l.Selector = map[string]string{"app": "old"} }), func(f *facts) { f.SelectorUnchanged = rollback.No }},
		"a selector of the cluster's that is more than labels": {rendering(deployment()), nil,
			with(func(l *promotion.LiveWorkload) { l.Selector = nil }), func(f *facts) { f.SelectorUnchanged = rollback.Unread }},
		"a cluster that has none yet": {rendering(deployment()), rendering(deployment()),
			with(func(l *promotion.LiveWorkload) { *l = promotion.LiveWorkload{Room: rollback.Yes} }), func(*facts) {}},
		"a cluster that says nothing": {rendering(deployment()), rendering(deployment()), promotion.ClusterFacts{},
			func(f *facts) { f.SelectorUnchanged, f.SurgeRoom = rollback.Unread, rollback.Unread }},
		"no room": {rendering(deployment()), rendering(deployment()), with(func(l *promotion.LiveWorkload) { l.Room = rollback.No }),
			func(f *facts) { f.SurgeRoom = rollback.No }},
		"room that is not needed": {rendering(deployment(func(w *promotion.Workload) { w.MaxUnavailable = "1" })), nil,
			with(func(l *promotion.LiveWorkload) { l.Room = rollback.No }), func(f *facts) { f.MaxUnavailable = some(1) }},
		"replicas that something else scales": {rendering(deployment(func(w *promotion.Workload) { w.Replicas = nil })), nil,
			with(func(l *promotion.LiveWorkload) { l.Replicas = some(7) }), func(f *facts) { f.Replicas = some(7) }},
		"replicas that nobody knows": {rendering(deployment(func(w *promotion.Workload) { w.Replicas = nil })), nil,
			with(func(l *promotion.LiveWorkload) { l.Replicas = nil }), func(f *facts) { f.Replicas = nil }},
		"none wanted": {rendering(deployment(func(w *promotion.Workload) { w.Replicas = some(0) })), nil, running(live),
			func(f *facts) { f.Replicas = some(0) }},
		"pods that somebody deletes": {rendering(deployment(func(w *promotion.Workload) { w.Strategy = "OnDelete" })), nil, running(live),
			func(f *facts) { f.Strategy, f.SwitchEvictsPods = rollback.Unread, nil }},
		"pods that nobody may evict": {rendering(deployment(func(w *promotion.Workload) { w.Strategy = "OnDelete" })), nil,
			evicting(promotion.Evictions{Allowed: some(0), Budget: "web"}), func(f *facts) {
				f.Strategy, f.SwitchEvictsPods, f.PDBDisruptionsAllowed = rollback.Unread, nil, some(0)
			}},
		"the fewest of two that may be evicted": {rendering(deployment(func(w *promotion.Workload) { w.Strategy = "OnDelete" }),
			deployment(func(w *promotion.Workload) { w.Kind, w.Strategy = "StatefulSet", "OnDelete" })), nil,
			evicting(promotion.Evictions{Allowed: some(2), Budget: "web"}), func(f *facts) {
				f.Strategy, f.SwitchEvictsPods, f.PDBDisruptionsAllowed = rollback.Unread, nil, some(1)
			}},
		"a budget that no rollout heeds": {rendering(deployment()), nil, evicting(promotion.Evictions{Allowed: some(0), Budget: "web"}), func(*facts) {}},
		"all at once": {rendering(deployment(func(w *promotion.Workload) { w.Strategy = "Recreate" })), nil, running(live),
			func(f *facts) { f.Strategy = rollback.Recreate }},
		"a canary": {rendering(deployment(func(w *promotion.Workload) { w.Strategy = "Canary" })), nil, running(live),
			func(f *facts) { f.Strategy, f.OldStack = rollback.Canary, rollback.Unread }},
		"the worse of two": {rendering(deployment(), deployment(func(w *promotion.Workload) {
			w.Name, w.Replicas, w.Strategy, w.Labels = "worker", some(2), "Recreate", map[string]string{"app": "worker"}
		})), nil, running(live), func(f *facts) {
			f.Replicas, f.Strategy, f.SelectorUnchanged, f.SurgeRoom = some(2), rollback.Recreate, rollback.Unread, rollback.Unread
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			evicts := false
			want := facts{OldStack: rollback.NotUsed, SwitchEvictsPods: &evicts, ServiceSelectsOld: rollback.Yes, SelectorUnchanged: rollback.Yes,
				ReadinessProbe: rollback.Yes, Strategy: rollback.RollingUpdate, SurgeRoom: rollback.Yes, Replicas: some(4), MaxUnavailable: some(0)}
			test.differs(&want)
			got, _ := promotion.TrafficFacts(test.back, test.now, test.cluster)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestABudgetThatLetsNoPodGoIsTold: only of pods that somebody has to take away.
func TestABudgetThatLetsNoPodGoIsTold(t *testing.T) {
	t.Parallel()
	none := evicting(promotion.Evictions{Allowed: some(0), Budget: "keep-web"})
	for strategy, want := range map[string][]string{"RollingUpdate": nil,
		"OnDelete": {"PodDisruptionBudget keep-web lets no pod of Deployment/web be evicted now, and they are replaced only when somebody takes them away"}} {
		w := rendering(deployment(func(w *promotion.Workload) { w.Strategy = strategy }))
		if _, notes := promotion.TrafficFacts(w, w, none); !cmp.Equal(want, notes) {
			t.Errorf("%s: %q", strategy, notes)
		}
	}
}
