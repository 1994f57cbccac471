package scenario_test

import (
	"errors"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// asksOfProd has prod ask for evidence.
func (w *world) asksOfProd(needed promotion.NeededEvidence) {
	w.policies.change = func(t promotion.Target, p *promotion.EnvironmentPolicy) {
		if t.Environment == "prod" {
			p.Evidence = []promotion.NeededEvidence{needed}
		}
	}
}

func (w *world) evidenceGate(id int64) promotion.GateResult {
	w.Helper()
	return w.gate(id, promotion.PhaseMerge, promotion.GateEvidence)
}

func TestAReleaseIsToBeHealthyForATime(t *testing.T) {
	w := newWorld(t)
	w.asksOfProd(promotion.NeededEvidence{HealthyFor: 24 * time.Hour, Environment: "staging"})
	id := w.atProd("1.1.0")
	r := w.promotion(id).Release
	gate := w.evidenceGate(id)
	same(w, "verdict at first", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "healthy for 24h in staging", "release 2 has been healthy in staging (cluster-1/web-staging) since")
	first := gate.Until

	w.pass(20 * time.Hour)
	w.sees("web", "staging", health(promotion.Degraded, "crashes"))
	gate = w.evidenceGate(id) // nothing but the observation had it looked at
	same(w, "verdict when degraded", gate.Verdict, promotion.Block)
	w.contains("the gate", gate.Reason, "release 2 was Degraded in staging")
	w.pass(time.Hour)
	w.sees("web", "staging", healthy)
	again := w.evidenceGate(id).Until
	same(w, "it begins anew", again.After(first.Add(20*time.Hour)), true)
	w.pass(23 * time.Hour)
	same(w, "verdict an hour early", w.evidenceGate(id).Verdict, promotion.Wait)
	w.pass(time.Hour)
	same(w, "verdict at last", w.evidenceGate(id).Verdict, promotion.Pass)

	// Another release takes its place there, and is not healthy for that long.
	newer := w.inStaging("1.2.0")
	w.lookAtEverything()
	same(w, "verdict of what was replaced", w.evidenceGate(id).Verdict, promotion.Pass)
	_, err := w.service.Cancel(w.Context(), rita, id, "the newer one")
	w.must(err)
	w.settle()
	gate = w.evidenceGate(w.promotes(newer, "prod"))
	same(w, "verdict of the newer", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "release 3 has been healthy")
	same(w, "the older's digest", r.Artifacts[0].Digest != newer.Artifacts[0].Digest, true)
}

func TestEveryDeploymentIsToBeHealthyForATime(t *testing.T) {
	w := newWorld(t)
	w.asksOfProd(promotion.NeededEvidence{HealthyFor: time.Hour, Environment: "staging"})
	id := w.atProd("1.1.0")
	w.pass(30 * time.Minute)
	w.seesIn("cluster-2", "web", "staging", healthy, w.running(w.promotion(id).Release))
	w.pass(30 * time.Minute)
	gate := w.evidenceGate(id)
	same(w, "verdict with one for half as long", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "cluster-2/web-staging")
	w.pass(30 * time.Minute)
	same(w, "verdict", w.evidenceGate(id).Verdict, promotion.Pass)
}

func TestAnEnvironmentIsToBeFreeOfDrift(t *testing.T) {
	w := newWorld(t)
	id, _ := w.wantsNoDrift()
	gate := w.evidenceGate(id)
	same(w, "verdict at first", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "free of drift for 2h in staging", "it was never compared")
	w.comparing(0)
	gate = w.evidenceGate(id)
	w.contains("the gate", gate.Reason, "has been in sync and without drift since")
	w.comparing(2 * time.Hour)
	same(w, "verdict after the time", w.evidenceGate(id).Verdict, promotion.Pass)

	for _, status := range []promotion.SyncStatus{promotion.OutOfSync, promotion.SyncUnknown} {
		w.sees("web", "staging", func(o *promotion.Observation) { o.Sync = status })
		gate = w.evidenceGate(id)
		same(w, "verdict when "+string(status), gate.Verdict, promotion.Wait)
		w.contains("the gate", gate.Reason, "is "+string(status)+" since")
		w.comparing(3 * time.Hour)
		same(w, "verdict for as long as it is", w.evidenceGate(id).Verdict, promotion.Wait)
		w.sees("web", "staging", func(o *promotion.Observation) { o.Sync = promotion.Synced })
		w.comparing(time.Hour)
		same(w, "verdict too early", w.evidenceGate(id).Verdict, promotion.Wait)
		w.comparing(time.Hour)
		same(w, "verdict when it is over", w.evidenceGate(id).Verdict, promotion.Pass)
	}
}

// wantsNoDrift has prod ask for two hours without drift in staging, where an inspector compares.
func (w *world) wantsNoDrift() (id int64, i *inspector) {
	w.asksOfProd(promotion.NeededEvidence{DriftFreeFor: 2 * time.Hour, Environment: "staging"})
	return w.atProd("1.1.0"), w.inspected()
}

// comparing lets time pass, and has staging compared with Git at its end and every few minutes before.
func (w *world) comparing(d time.Duration) {
	w.Helper()
	const between = 5 * time.Minute
	for ; d > between; d -= between {
		w.clock.pass(between)
		w.compares("staging")
	}
	w.pass(d)
	w.compares("staging")
	w.lookAtEverything()
}

// What Argo CD says is in sync may differ from Git all the same: it compares only fields that Git names.
func TestRecordedDriftIsNotFreeOfDrift(t *testing.T) {
	for name, test := range map[string]struct {
		now, over func(*world, *inspector)
		says      string
	}{
		"a field that somebody changed": {
			now:  func(_ *world, i *inspector) { i.found.Differences = []promotion.Drift{scaled("7")} },
			over: func(_ *world, i *inspector) { i.found.Differences = nil }, says: "1 fields"},
		"a cluster that cannot be compared": {
			now:  func(_ *world, i *inspector) { i.err = errors.New("it does not answer") },
			over: func(_ *world, i *inspector) { i.err = nil }, says: "it does not answer"},
		"an object that cannot be read": {
			now:  func(_ *world, i *inspector) { i.found.Unread = []string{"Secret shop/web"} },
			over: func(_ *world, i *inspector) { i.found.Unread = nil }, says: "Secret shop/web could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id, i := w.wantsNoDrift()
			w.comparing(0)
			w.comparing(2 * time.Hour)
			same(w, "verdict", w.evidenceGate(id).Verdict, promotion.Pass)
			test.now(w, i)
			w.comparing(time.Minute)
			gate := w.evidenceGate(id)
			same(w, "verdict while it is so", gate.Verdict, promotion.Wait)
			w.contains("the gate", gate.Reason, test.says)
			test.over(w, i)
			w.comparing(time.Minute)
			same(w, "verdict when it is over", w.evidenceGate(id).Verdict, promotion.Wait)
			w.comparing(time.Hour)
			same(w, "verdict too early", w.evidenceGate(id).Verdict, promotion.Wait)
			w.comparing(time.Hour)
			same(w, "verdict after the time", w.evidenceGate(id).Verdict, promotion.Pass)
		})
	}
}

// An excused difference is no drift, and looks that stop are no evidence.
func TestWhatCountsAsDrift(t *testing.T) {
	w := newWorld(t)
	id, i := w.wantsNoDrift()
	excused := scaled("7")
	excused.Excuse = "an autoscaler sets it"
	i.found.Differences = []promotion.Drift{excused}
	w.comparing(0)
	w.comparing(2 * time.Hour)
	same(w, "verdict", w.evidenceGate(id).Verdict, promotion.Pass)
	w.pass(3 * time.Hour) // nobody compares
	w.lookAtEverything()
	gate := w.evidenceGate(id)
	same(w, "verdict when nobody compared", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "it was last compared at")
	w.comparing(0)
	same(w, "verdict of one look", w.evidenceGate(id).Verdict, promotion.Wait)
	w.comparing(2 * time.Hour)
	same(w, "verdict after the time", w.evidenceGate(id).Verdict, promotion.Pass)
}

// Time in which no server watched is no evidence: a short one does not count, a long one interrupts.
func TestTimeThatNobodyWatchedIsNoEvidence(t *testing.T) {
	for name, test := range map[string]struct {
		away time.Duration
		left time.Duration // of the hour that is asked for, when somebody watches again
	}{
		"a restart": {30 * time.Second, 30 * time.Minute},
		"an outage": {5 * time.Minute, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.asksOfProd(promotion.NeededEvidence{HealthyFor: time.Hour, Environment: "staging"})
			id := w.atProd("1.1.0")
			w.pass(30*time.Minute - soak)
			w.nobodyWatches(test.away)
			w.pass(test.left - time.Minute)
			w.lookAtEverything()
			gate := w.evidenceGate(id)
			same(w, "verdict too early", gate.Verdict, promotion.Wait)
			w.contains("the gate", gate.Reason, "has been healthy in staging")
			w.pass(time.Minute + time.Second)
			same(w, "verdict after the time", w.evidenceGate(id).Verdict, promotion.Pass)
		})
	}
}

// Days in which the server was down end, and nothing is known of now.
func TestNobodyWatchesNow(t *testing.T) {
	w := newWorld(t)
	w.asksOfProd(promotion.NeededEvidence{HealthyFor: time.Hour, Environment: "staging"})
	id := w.atProd("1.1.0")
	w.nobodyWatches(48 * time.Hour)
	w.lookAtEverything()
	gate := w.evidenceGate(id)
	same(w, "verdict", gate.Verdict, promotion.Wait)
	w.contains("the gate", gate.Reason, "nobody watches")
}

// What is live while nobody watches is not verified for that.
func TestASoakThatNobodyWatched(t *testing.T) {
	w := newWorld(t)
	out := w.posts(w.request("1.1.0", "web"))
	w.settle()
	id := out.Promotions[0].ID
	w.rollsOut(id)
	w.nobodyWatches(time.Hour)
	w.lookAtEverything()
	w.is(id, promotion.StateLive)
	w.pass(soak - time.Second)
	w.is(id, promotion.StateLive)
	w.pass(2 * time.Second)
	w.is(id, promotion.StateVerified)
}

func TestWhatNobodySawHolds(t *testing.T) {
	for name, test := range map[string]struct {
		environment, says string
		verdict           promotion.Verdict
	}{
		"an environment without deployments":      {"prod", "nothing was seen to run there", promotion.Wait},
		"an environment that there is not":        {"canary", "has no environment of that name", promotion.Block},
		"an environment that runs something else": {"dev", "was not healthy in dev", promotion.Wait},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, func(map[string][]byte) {})
			w.asksOfProd(promotion.NeededEvidence{HealthyFor: time.Hour, Environment: test.environment})
			id := w.atProd("1.1.0")
			w.inDev("1.2.0") // before the other was there for long
			w.pass(48 * time.Hour)
			gate := w.evidenceGate(id)
			same(w, "verdict", gate.Verdict, test.verdict)
			w.contains("the gate", gate.Reason, test.says)
		})
	}
}
