package scenario_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// inspector answers what a cluster would, and keeps what it was asked about.
type inspector struct {
	found  promotion.Inspection
	dryRun promotion.DryRun
	err    error
	asked  promotion.Desired
}

func (i *inspector) Differences(_ context.Context, _ promotion.DeploymentKey, want promotion.Desired) (promotion.Inspection, error) {
	i.asked = want
	return i.found, i.err
}

func (i *inspector) DryRun(_ context.Context, _ promotion.DeploymentKey, want promotion.Desired) (promotion.DryRun, error) {
	i.asked = want
	return i.dryRun, i.err
}

func (w *world) inspected() *inspector {
	i := &inspector{}
	w.service.Inspectors = map[string]promotion.Inspector{clusterName: i}
	return i
}

func scaled(have string) promotion.Drift {
	return promotion.Drift{Object: "Deployment.apps shop/web", Path: "spec.replicas", Want: "2", Have: have, Class: promotion.DriftHuman, Owner: "kubectl scale", Manager: "kubectl"}
}

// compares looks for the drift of web in prod, and gives what is open.
func (w *world) compares(environment string) []promotion.Drift {
	w.Helper()
	key := promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: "web-" + environment}
	w.must(w.service.LookForDriftOf(w.Context(), "web", environment, key))
	return w.drifts(environment, true)
}

func (w *world) drifts(environment string, open bool) []promotion.Drift {
	w.Helper()
	t, err := w.service.Store.TargetNamed(w.Context(), "web", environment)
	w.must(err)
	all, err := w.service.Store.Drifts(w.Context(), t.ID, open, 100)
	w.must(err)
	return all
}

func (w *world) driftLook(environment string) promotion.DriftLook {
	w.Helper()
	t, err := w.service.Store.TargetNamed(w.Context(), "web", environment)
	w.must(err)
	all, err := w.service.Store.DriftLooks(w.Context(), t.ID)
	w.must(err)
	same(w, "looks", len(all), 1)
	return all[0]
}

func TestDriftIsRecordedFromFirstSeenUntilResolved(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	at := w.clone().Remote("main")
	w.sees("web", "prod", synced(at), healthy)
	same(w, "drift at first", len(w.compares("prod")), 0)
	same(w, "objects compared", len(i.asked.Objects) > 0, true)
	same(w, "revision", w.driftLook("prod").Revision, at)

	i.found.Differences = []promotion.Drift{scaled("5")}
	first := w.compares("prod")
	same(w, "drift", len(first), 1)
	w.pass(time.Minute)
	again := w.compares("prod")
	same(w, "first seen", again[0].FirstSeen.Equal(first[0].FirstSeen), true)
	same(w, "last seen moves", again[0].LastSeen.After(first[0].LastSeen), true)
	i.found.Differences = []promotion.Drift{scaled("6")}
	changed := w.compares("prod")
	same(w, "the field", changed[0].ID, first[0].ID)
	same(w, "what it is now", changed[0].Have, "6")

	violations, err := w.service.Store.Violations(w.Context(), true, 10)
	w.must(err)
	same(w, "violations", len(violations), 1)
	same(w, "its kind", violations[0].Kind, promotion.ViolationEdited)
	w.contains("the violation", violations[0].Message, "spec.replicas", "kubectl scale")

	i.found = promotion.Inspection{Unread: []string{"Deployment.apps shop/web"}}
	same(w, "drift of what cannot be read", len(w.compares("prod")), 1)
	i.found = promotion.Inspection{}
	same(w, "drift at the end", len(w.compares("prod")), 0)
	resolved := w.drifts("prod", false)[0]
	same(w, "resolved", resolved.ResolvedAt.After(resolved.LastSeen) && !resolved.LastSeen.Before(first[0].FirstSeen), true)
	events, err := w.service.Store.AuditEvents(w.Context(), promotion.AuditFilter{Application: "web", Environment: "prod", Limit: 50})
	w.must(err)
	var said []string
	for _, e := range events {
		said = append(said, e.Action)
	}
	w.contains("the audit", strings.Join(said, " "), "drift.found", "drift.resolved")
}

func TestDriftThatCannotBeKnownIsUnknown(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	w.sees("web", "prod", synced(""), healthy)
	w.compares("prod")
	w.contains("the problem", w.driftLook("prod").Problem, "nothing was ever synced")

	w.sees("web", "prod", synced(w.clone().Remote("main")))
	i.found.Differences = []promotion.Drift{scaled("5")}
	w.compares("prod")
	good := w.driftLook("prod")
	same(w, "problem", good.Problem, "")
	i.err = errors.New("the API server does not answer")
	w.pass(time.Minute)
	same(w, "what was known stays", len(w.compares("prod")), 1)
	since := w.driftLook("prod").ProblemSince
	w.pass(time.Minute)
	w.compares("prod")
	look := w.driftLook("prod")
	w.contains("the problem", look.Problem, "does not answer")
	same(w, "unknown since", look.ProblemSince.Equal(since), true)
	same(w, "last known", look.LookedAt.Equal(good.LookedAt), true)

	w.sees("web", "prod", syncing(w.clone().Remote("main")))
	i.err, i.found = nil, promotion.Inspection{}
	same(w, "while a sync runs nothing is looked at", len(w.compares("prod")), 1)
}

func TestTwoWritersTakeTurns(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	w.sees("web", "prod", synced(w.clone().Remote("main")), healthy)
	for n := range 3 {
		i.found.Differences = []promotion.Drift{scaled("5")}
		open := w.compares("prod")
		same(w, "oscillates", open[0].Oscillates(), n == 2)
		w.pass(time.Minute)
		i.found = promotion.Inspection{}
		w.compares("prod")
	}
	w.pass(2 * time.Hour)
	i.found.Differences = []promotion.Drift{scaled("5")}
	same(w, "oscillates hours later", w.compares("prod")[0].Oscillates(), false)
}

func outOfSync(o *promotion.Observation) { o.Sync, o.ComparedRevision = promotion.OutOfSync, "" }

// An engine that heals puts the field right between two looks, which both find it drifting.
func TestAnEngineThatHealsTakesTurnsUnseen(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	at := w.clone().Remote("main")
	w.sees("web", "prod", synced(at), healthy)
	added := promotion.Drift{Object: "Deployment.apps shop/web", Path: "spec.template.metadata.annotations.note", Have: "mine", Class: promotion.DriftHuman}
	i.found.Differences = []promotion.Drift{scaled("5"), added}
	w.sees("web", "prod", outOfSync)
	for n := range 3 {
		open := w.compares("prod")
		at := slices.IndexFunc(open, func(d promotion.Drift) bool { return d.Path == "spec.replicas" })
		same(w, "oscillates", open[at].Oscillates(), n == 2)
		same(w, "how often what Git does not have was found", open[1-at].Times, 1)
		w.pass(time.Minute)
		same(w, "how often it was found while nobody touched it", w.compares("prod")[at].Times, n+1)
		w.pass(time.Minute)
		w.sees("web", "prod", synced(w.clone().Remote("main")))
		w.pass(time.Second)
		w.sees("web", "prod", outOfSync)
	}
	same(w, "all of them", len(w.drifts("prod", false)), 4)
}

func TestARollbackByHandIsNamed(t *testing.T) {
	w := newWorld(t)
	i := w.inspected()
	before := w.clone().Remote("main")
	old := w.release(w.desired("web", "dev").ReleaseID)
	w.sees("web", "dev", synced(before), healthy, w.running(old))
	p := w.mergedInDev("1.1.0")
	w.sees("web", "dev", synced(p.MergeSHA), healthy, w.running(old)) // on its way
	w.compares("dev")
	same(w, "nothing is rolled back", w.driftLook("dev").Rollback, "")
	w.rollsOut(p.ID)

	image := promotion.Drift{Object: "Deployment.apps shop/web", Path: "spec.template.spec.containers[web].image", Class: promotion.DriftHuman}
	for manager, says := range map[string]string{"kubectl-rollout": "`kubectl rollout undo`", "kubectl": "`kubectl rollout undo`", "helm": "`helm rollback`", "kubectl-edit": "was set by kubectl edit"} {
		image.Manager, image.Operation, image.Owner = manager, "Update", strings.Replace(manager, "-", " ", 1)
		i.found.Differences = []promotion.Drift{image}
		w.sees("web", "dev", w.running(old))
		w.compares("dev")
		w.contains("the rollback", w.driftLook("dev").Rollback, old.Version+" runs", "Git says 1.1.0", says)
	}
	i.found = promotion.Inspection{}
	w.sees("web", "dev", synced(before))
	w.compares("dev")
	w.contains("the rollback", w.driftLook("dev").Rollback, "argocd app rollback")
	w.sees("web", "dev", synced(p.MergeSHA), w.running(p.Release))
	w.compares("dev")
	same(w, "the rollback at the end", w.driftLook("dev").Rollback, "")
}

func TestEveryDeploymentIsComparedInTurn(t *testing.T) {
	w := newProdWorld(t)
	w.inspected()
	w.sees("web", "prod", synced(w.clone().Remote("main")), healthy)
	w.seesIn("cluster-2", "web", "prod", healthy) // that no inspector is connected to
	w.must(w.service.LookForDrift(w.Context()))
	work := w.takeWork()
	same(w, "work", len(work), 1)
	same(w, "its kind", work[0].Kind, promotion.WorkDrift)
}

func TestADryRunIsReported(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	w.sees("web", "prod", healthy)
	gate := func(version string) promotion.GateResult {
		w.Helper()
		p := w.mergedInProd(version)
		gates, err := w.service.Store.Gates(w.Context(), p.ID)
		w.must(err)
		for _, g := range gates {
			if g.Gate == promotion.GateServerDryRun {
				w.is(p.ID, promotion.StateSyncing) // it is reported only
				w.verifies(p.ID)
				return g
			}
		}
		w.Fatal("no gate server-dry-run")
		return promotion.GateResult{}
	}
	i.dryRun = promotion.DryRun{Passed: 3, Unchecked: []string{"Job shop/migrate: its name is made at the sync"}}
	g := gate("1.1.0")
	same(w, "verdict", g.Verdict, promotion.Pass)
	w.contains("the reason", g.Reason, "takes 3 objects", "Unchecked: cluster-1: Job shop/migrate")
	i.dryRun = promotion.DryRun{Passed: 2, Refused: []string{"Service shop/web: spec.ports: Required value"}}
	g = gate("1.2.0")
	same(w, "verdict", g.Verdict, promotion.Block)
	w.contains("the reason", g.Reason, "would refuse", "Service shop/web")
	i.err = errors.New("connection refused")
	g = gate("1.3.0")
	same(w, "verdict", g.Verdict, promotion.Block)
	w.contains("the reason", g.Reason, "unknown whether", "connection refused")
}

func TestLiveObjectsAreRestoredOnlyWhereSluiceSyncs(t *testing.T) {
	w := newWorld(t)
	restore := func(by promotion.Actor, environment string) error {
		return w.service.RestoreLive(w.Context(), by, "web", environment)
	}
	at := w.clone().Remote("main")
	w.sees("web", "dev", synced(at), healthy)
	w.refused(restore(rita, "dev"), "synced-by-engine")
	w.refused(restore(vera, "prod"), "forbidden")
	w.refused(restore(rita, "nowhere"), "unknown-target")
	w.refused(restore(rita, "prod"), "nothing-synced")

	w.sees("web", "prod", synced(at), healthy)
	w.must(restore(rita, "prod"))
	same(w, "syncs", len(w.cluster.syncs), 1)
	same(w, "the sync", w.cluster.syncs[0], promotion.SyncRequest{Revision: at, InitiatedBy: "rita", Restores: true})
	w.cluster.busy = true
	w.refused(restore(rita, "prod"), "operation-running")
	w.cluster.busy = false
	_, err := w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindFreeze, Reason: "quarter's end", Owner: "dora",
		Environments: []string{"prod"}, StartsAt: w.clock.now(), EndsAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	w.refused(restore(rita, "prod"), "window-closed")
}

func TestDriftIsReadPageByPage(t *testing.T) {
	w := newProdWorld(t)
	i := w.inspected()
	w.sees("web", "prod", synced(w.clone().Remote("main")), healthy)
	for _, path := range []string{"a", "b", "c"} {
		d := scaled("5")
		d.Path = path
		i.found.Differences = append(i.found.Differences, d)
	}
	w.compares("prod")
	i.found.Differences = i.found.Differences[1:] // a is as Git says again
	w.compares("prod")

	paths := func(f promotion.DriftFilter) (paths string, last int64) {
		all, err := w.service.Store.DriftPage(w.Context(), f)
		w.must(err)
		for _, d := range all {
			paths, last = paths+d.Path, d.ID
		}
		return paths, last
	}
	first, last := paths(promotion.DriftFilter{Limit: 2})
	same(w, "first page", first, "cb")
	second, _ := paths(promotion.DriftFilter{Before: last, Limit: 2})
	same(w, "second page", second, "a")
	open, _ := paths(promotion.DriftFilter{Application: "web", Environment: "prod", Open: true, Limit: 10})
	same(w, "what is open", open, "cb")
	other, _ := paths(promotion.DriftFilter{Application: "web", Environment: "dev", Limit: 10})
	same(w, "another environment's", other, "")
}

// The log of a crash changes with each restart. That is no other state, and no history.
func TestTheLogOfACrashIsNoHistory(t *testing.T) {
	w := newProdWorld(t)
	ended := func(log string) change {
		return func(o *promotion.Observation) {
			o.RunningImages = []promotion.ContainerImage{{Pod: "web-0", Container: "web", ImageID: "example/web@sha256:aa", Ended: promotion.LastEnd{ExitCode: 3, Log: log}}}
		}
	}
	w.sees("web", "prod", health(promotion.Degraded, "crashes again and again"), ended("first"))
	w.sees("web", "prod", ended("second"))
	same(w, "the log", w.deployment("web", "prod").RunningImages[0].Ended.Log, "second")
	entries, err := w.service.Store.History(w.Context(), promotion.HistoryFilter{Application: "web", Limit: 10})
	w.must(err)
	same(w, "entries of history", len(entries), 1)
}
