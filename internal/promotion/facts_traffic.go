package promotion

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// trafficFacts says whether requests can be led to the candidate's pods. Where a target has several workloads, what holds for the
// worst of them holds.
func trafficFacts(st goingBack, c ClusterFacts, g *gathered) {
	if st.back == nil {
		return // all unread
	}
	evicts := false // a rollout deletes pods
	t := rollback.Traffic{OldStack: rollback.NotUsed, SwitchEvictsPods: &evicts, ServiceSelectsOld: rollback.Yes, SelectorUnchanged: rollback.Yes,
		ReadinessProbe: rollback.Yes, Strategy: rollback.RollingUpdate, SurgeRoom: rollback.Yes}
	for _, service := range st.back.Services {
		if !slices.ContainsFunc(st.back.Workloads, service.leadsTo) {
			t.ServiceSelectsOld = rollback.No
			g.Notes = append(g.Notes, "Service "+service.Name+" leads to none of the pods")
		}
	}
	for _, w := range st.back.Workloads {
		st.workloadFacts(w, c.Workloads[w.key()], &t, g)
		if w.ReplacedByHand() {
			g.Notes = append(g.Notes, evictionFacts(w, c.Evictions[w.key()], &t)...)
		}
	}
	if t.OldStack == rollback.Running && slices.ContainsFunc(st.back.Workloads, func(w Workload) bool { return !sideBySide(w) }) {
		t.OldStack = rollback.ScaledDown // not of the others: they are rolled
	}
	g.Traffic = t
}

// sideBySide: the new pods start beside the old ones, and only then requests are led to them.
func sideBySide(w Workload) bool {
	s := strategyOf(w)
	return s == rollback.Canary || s == rollback.BlueGreen
}

func (st goingBack) workloadFacts(w Workload, live LiveWorkload, t *rollback.Traffic, g *gathered) {
	t.SelectorUnchanged = worst(saysNo, t.SelectorUnchanged, st.selectorUnchanged(w, live))
	if slices.ContainsFunc(st.back.Services, func(s Selection) bool { return s.leadsTo(w) }) && !w.Probed {
		t.ReadinessProbe = rollback.No
	}
	t.Strategy = worst([]rollback.State{rollback.Unread, rollback.Canary, rollback.BlueGreen, rollback.Recreate, rollback.RollingUpdate}, t.Strategy, strategyOf(w))
	if sideBySide(w) {
		st.switchFacts(w, live, t, g)
	}
	replicas := w.Replicas
	if replicas == nil {
		replicas = live.Replicas
	}
	t.Replicas = fewest(t.Replicas, replicas, w.key() == st.back.Workloads[0].key())
	unavailable := maxUnavailable(w, replicas)
	t.MaxUnavailable = fewest(t.MaxUnavailable, unavailable, w.key() == st.back.Workloads[0].key())
	if sideBySide(w) || unavailable == nil || *unavailable == 0 {
		t.SurgeRoom = worst(saysNo, t.SurgeRoom, live.Room)
	}
}

// evictionFacts are of a workload whose pods somebody has to take away. Whether they evict them, which a disruption budget can refuse, or
// delete them, which none can, is theirs to choose, and so not known.
func evictionFacts(w Workload, e Evictions, t *rollback.Traffic) (notes []string) {
	t.PDBDisruptionsAllowed = fewest(t.PDBDisruptionsAllowed, e.Allowed, t.SwitchEvictsPods != nil)
	t.SwitchEvictsPods = nil
	if e.Allowed != nil && *e.Allowed == 0 && e.Budget != "" {
		notes = append(notes, "PodDisruptionBudget "+e.Budget+" lets no pod of "+w.key()+" be evicted now, and they are replaced only when somebody takes them away")
	}
	return notes
}

var saysNo = []rollback.State{rollback.No, rollback.Unread, rollback.Yes}

// selectorUnchanged compares with what the cluster has, and with what is rendered now and may not have reached it yet.
func (st goingBack) selectorUnchanged(w Workload, live LiveWorkload) rollback.State {
	if st.now != nil {
		for _, o := range st.now.Workloads {
			if o.key() == w.key() && (w.Selector == nil || !maps.Equal(o.Selector, w.Selector)) {
				return rollback.No
			}
		}
	}
	switch {
	case !live.Present && live.Room == "":
		return rollback.Unread // nobody has answered
	case !live.Present:
		return rollback.Yes // nothing is there that could not be changed
	case live.Selector == nil || w.Selector == nil:
		return rollback.Unread
	case maps.Equal(live.Selector, w.Selector):
		return rollback.Yes
	}
	return rollback.No
}

func strategyOf(w Workload) rollback.State {
	switch s := rollback.State(w.Strategy); s {
	case rollback.RollingUpdate, rollback.Recreate, rollback.BlueGreen, rollback.Canary:
		return s
	}
	return rollback.Unread // OnDelete: somebody has to delete the pods
}

// maxUnavailable is how many pods may be missing in a rollout, as Kubernetes reckons: a share is rounded down for a Deployment,
// where one that comes to nothing without a surge is one pod, and up for the other kinds. Nil when it cannot be told.
func maxUnavailable(w Workload, replicas *int) *int {
	said, up := cmp.Or(w.MaxUnavailable, "25%"), false
	if w.Kind == "StatefulSet" || w.Kind == "DaemonSet" {
		said, up = cmp.Or(w.MaxUnavailable, "1"), true
	}
	n, ok := pods(said, replicas, up)
	if !ok {
		return nil
	}
	if n == 0 && w.Kind == "Deployment" {
		if more, known := pods(cmp.Or(w.MaxSurge, "25%"), replicas, true); known && more == 0 {
			n = 1
		}
	}
	return &n
}

// pods reads a number of pods, or a share of the replicas.
func pods(text string, replicas *int, up bool) (int, bool) {
	share, isShare := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(share)
	switch {
	case err != nil || n < 0:
		return 0, false
	case !isShare:
		return n, true
	case replicas == nil:
		return 0, false
	case up:
		return (n**replicas + 99) / 100, true
	}
	return n * *replicas / 100, true
}

// fewest keeps the smaller of two, nil where either was not read.
func fewest(a, b *int, first bool) *int {
	switch {
	case first:
		return b
	case a == nil || b == nil:
		return nil
	case *b < *a:
		return b
	}
	return a
}
