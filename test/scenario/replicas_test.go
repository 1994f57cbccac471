package scenario_test

import (
	"errors"
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
	same(w, "stretches that end before they begin", w.count("SELECT count(*) FROM deployment_observations WHERE replaced_at < observed_at"), 0)
}
