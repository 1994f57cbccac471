package scenario_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Two servers watch one cluster. What one of them was slow to tell does not undo what the other has seen since.
func TestWhatAnotherServerHasSeenLaterStays(t *testing.T) {
	w := newProdWorld(t)
	crashes := health(promotion.Degraded, "It crashes.")
	at := w.clone().Remote("main")
	w.sees("web", "prod", synced(at), healthy)
	now := func() promotion.HealthStatus {
		all, err := w.service.Store.DeploymentsOf(w.Context(), w.target("web", "prod").ID)
		w.must(err)
		return all[0].Health
	}
	slow := w.seen[promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: "web-prod"}]
	slow.ObservedAt = w.clock.now().Add(time.Second)
	w.pass(2 * time.Second)
	w.sees("web", "prod", crashes)
	if err := w.service.Observed(w.Context(), slow); !errors.Is(err, promotion.ErrOutdated) {
		t.Errorf("an older observation was answered with %v", err)
	}
	same(w, "health", now(), promotion.Degraded)

	crashes(&slow)
	w.must(w.service.Observed(w.Context(), slow))

	away := slow
	away.Sync, away.Health, away.Message = promotion.SyncUnknown, promotion.HealthUnknown, "The cluster is away."
	w.must(w.service.Observed(w.Context(), away))
	same(w, "health while nobody knows", now(), promotion.HealthUnknown)
}

// Two servers see an Application for the first time at once. The one that has seen it earlier, and tells it later, is told so.
func TestWhatTwoServersSeeForTheFirstTime(t *testing.T) {
	w := newProdWorld(t)
	first := promotion.Observation{Key: promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: "new"},
		Sync: promotion.Synced, Health: promotion.Healthy, ObservedAt: w.clock.now()}
	second := first
	second.Health, second.ObservedAt = promotion.Progressing, first.ObservedAt.Add(time.Millisecond)
	save := func(o promotion.Observation, before func()) error {
		return w.store().Tx(w.Context(), func(tx promotion.Tx) error {
			_, err := tx.SaveObservation(w.Context(), o, 0, 0)
			before()
			return err
		})
	}
	late := make(chan error, 1)
	w.must(save(second, func() {
		go func() { late <- save(first, func() {}) }()
		w.awaitLock()
	}))
	if err := <-late; !errors.Is(err, promotion.ErrOutdated) {
		t.Errorf("the earlier one was answered with %v", err)
	}
	same(w, "stretches", w.count("SELECT count(*) FROM deployment_observations o JOIN deployments d ON d.id = o.deployment_id WHERE d.name = 'new'"), 1)
}

// awaitLock waits until somebody waits for a lock of the database.
func (w *world) awaitLock() {
	w.Helper()
	for w.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 0 {
		w.must(w.Context().Err())
		runtime.Gosched()
	}
}
