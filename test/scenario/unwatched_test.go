package scenario_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	kubernetes "github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

// startsWithoutCluster has a server start while the cluster does not answer, until it has recorded that.
func (w *world) startsWithoutCluster() {
	w.Helper()
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	w.must(err)
	ctx, stop := context.WithCancel(w.Context())
	defer stop()
	told := make(chan struct{}, 100)
	c := kubernetes.New(kubernetes.Options{Name: clusterName, Client: client, Now: w.clock.now, Record: w.store(), Server: "sluice-1:8080", Log: slog.New(slog.DiscardHandler),
		Observe: func(ctx context.Context, o promotion.Observation) error {
			defer func() { told <- struct{}{} }()
			return w.service.Observed(ctx, o)
		}})
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	for range w.seen {
		<-told
	}
	stop()
	w.must(<-done)
	w.settle()
}

// deployment is what is recorded of a target's only one.
func (w *world) deployment(application, environment string) promotion.Deployment {
	w.Helper()
	all, err := w.service.Store.Deployments(w.Context(), application, environment)
	w.must(err)
	if len(all) != 1 {
		w.Fatalf("%s has %d deployments in %s", application, len(all), environment)
	}
	return all[0]
}

func TestWhatNobodyHasSeenSinceIsUnknownToAServerThatStarts(t *testing.T) {
	w := newWorld(t)
	w.asksOfProd(promotion.NeededEvidence{HealthyFor: 24 * time.Hour, Environment: "staging"})
	id := w.atProd("1.1.0")
	w.pass(20 * time.Hour)
	now := w.clock.now()
	slower := promotion.Watch{Cluster: clusterName, Server: "sluice-2:8080", From: now.Add(-time.Hour), To: now.Add(-time.Minute)}
	w.must(w.store().SaveWatch(w.Context(), slower))

	seen := w.nobodyWatches(5 * time.Hour)
	w.startsWithoutCluster()
	d := w.deployment("web", "staging")
	same(w, "sync", d.Sync, promotion.SyncUnknown)
	same(w, "health", d.Health, promotion.HealthUnknown)
	same(w, "what runs", d.ReleaseID, int64(0))
	same(w, "since", d.Since.Equal(seen), true)
	w.contains("the message", d.Message, "cannot be watched since", "no server of Sluice has seen it since")
	gate := w.evidenceGate(id)
	same(w, "verdict", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "was not healthy in staging (cluster-1/web-staging) for that long without interruption")

	w.sees("web", "staging", healthy)
	same(w, "health once it is seen", w.deployment("web", "staging").Health, promotion.Healthy)
	w.pass(23 * time.Hour)
	same(w, "verdict an hour early", w.evidenceGate(id).Verdict, promotion.Wait)
	w.pass(time.Hour)
	same(w, "verdict at last", w.evidenceGate(id).Verdict, promotion.Pass)
}

func TestASoakDoesNotCountWhileNobodySees(t *testing.T) {
	w := newWorld(t)
	p := w.mergedInDev("1.1.0")
	w.sees("web", "dev", synced(p.MergeSHA), healthy, w.running(p.Release))
	w.is(p.ID, promotion.StateLive)
	w.nobodyWatches(time.Hour)
	w.startsWithoutCluster()
	w.is(p.ID, promotion.StateSyncing)
	w.sees("web", "dev", healthy)
	w.is(p.ID, promotion.StateLive)
	w.pass(soak - time.Second)
	w.is(p.ID, promotion.StateLive)
	w.pass(time.Second)
	w.is(p.ID, promotion.StateVerified)
}
