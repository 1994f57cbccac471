package scenario_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// mergedInDev posts a version of web, whose promotion to dev is merged.
func (w *world) mergedInDev(version string) promotion.Promotion {
	w.Helper()
	id := w.posts(w.request(version, "web")).Promotions[0].ID
	w.settle()
	w.is(id, promotion.StateMerged)
	return w.promotion(id)
}

func TestSyncedIsOnlyWhatContainsTheMerge(t *testing.T) {
	w := newWorld(t)
	before := w.clone().Remote("main")
	w.sees("web", "dev", synced(before), healthy, w.running(w.release(w.desired("web", "dev").ReleaseID)))
	p := w.mergedInDev("1.1.0")

	for what, change := range map[string]change{
		"an older revision":      synced(before),
		"an unknown revision":    synced(strings.Repeat("a", 40)),
		"no revision":            synced(""),
		"the promotion's branch": func(o *promotion.Observation) { o.TargetRevision = p.Branch },
	} {
		w.sees("web", "dev", change, w.running(p.Release)) // even though its digests run already
		t.Log(what)
		w.is(p.ID, promotion.StateMerged)
	}
	w.sees("web", "dev", syncing(p.MergeSHA))
	w.is(p.ID, promotion.StateSyncing)
	same(w, "synced at", w.promotion(p.ID).SyncedAt.IsZero(), true)

	later := w.edits("README.md", "What runs where", "What runs where,")
	w.sees("web", "dev", synced(later), healthy)
	w.is(p.ID, promotion.StateLive)
	same(w, "synced at", w.promotion(p.ID).SyncedAt.IsZero(), false)
}

func TestLiveIsOnlyWhatRunsByItsDigestAlone(t *testing.T) {
	w := newWorld(t)
	old := w.release(w.desired("web", "dev").ReleaseID)
	w.sees("web", "dev", synced(w.clone().Remote("main")), healthy, w.running(old))
	p := w.mergedInDev("1.1.0")
	a := p.Release.Artifacts[0]
	now := container{a.Reference(), a.Repository + "@" + w.platformDigest(a.Repository, a.Digest)}
	then := container{old.Artifacts[0].Reference(), old.Artifacts[0].Reference()}

	for _, step := range []struct {
		what  string
		state promotion.State
		seen  []change
	}{
		{"the old digest still runs", promotion.StateSyncing, []change{synced(p.MergeSHA), healthy, containers(then)}},
		{"both run", promotion.StateSyncing, []change{containers(now, then)}},
		{"the old one runs under the new one's name", promotion.StateSyncing, []change{containers(container{a.Reference(), then.id})}},
		{"nothing runs", promotion.StateSyncing, []change{containers()}},
		{"a container has not started", promotion.StateSyncing, []change{containers(now, container{a.Reference(), ""})}},
		{"it is progressing", promotion.StateSyncing, []change{health(promotion.Progressing, "1 of 2 pods ready"), containers(now)}},
		{"its health is not known", promotion.StateSyncing, []change{health(promotion.HealthUnknown, "")}},
		{"it is out of sync", promotion.StateSyncing, []change{healthy, func(o *promotion.Observation) { o.Sync = promotion.OutOfSync }}},
		{"it runs by its platform's digest", promotion.StateLive, []change{synced(p.MergeSHA)}},
		{"both run again", promotion.StateSyncing, []change{containers(now, then)}},
		{"it runs by the index's digest", promotion.StateLive, []change{runningByIndex(p.Release)}},
		{"with a sidecar of somebody else's", promotion.StateLive, []change{containers(now, container{"mesh/proxy:1", "mesh/proxy@" + a.Digest[:70] + "0"})}},
		{"from a mirror of the registry", promotion.StateLive, []change{containers(container{a.Reference(), "mirror.example.test/shop/web@" + a.Digest})}},
	} {
		w.sees("web", "dev", step.seen...)
		t.Log(step.what)
		w.is(p.ID, step.state)
	}
	w.pass(soak - 2*time.Second)
	w.sees("web", "dev", containers(now, then)) // the soak begins anew
	w.sees("web", "dev", containers(now))
	w.pass(soak - 2*time.Second)
	w.is(p.ID, promotion.StateLive)
	w.pass(soak)
	w.is(p.ID, promotion.StateVerified)
	w.sees("web", "dev", health(promotion.Degraded, "crash loop"), containers(then))
	w.lookAtEverything()
	w.is(p.ID, promotion.StateVerified)
}

func TestAFailureIsDiagnosedAndRecovers(t *testing.T) {
	w := newWorld(t)
	p := w.mergedInDev("1.1.0")
	w.sees("web", "dev", synced(p.MergeSHA), w.running(p.Release), health(promotion.Degraded, "pod web-1 restarts again and again: exit code 1"))
	w.is(p.ID, promotion.StateFailed)
	w.contains("the failure", w.promotion(p.ID).Failure, "web-dev", clusterName, "exit code 1")
	w.contains("what it waits for", w.promotion(p.ID).WaitsFor, "exit code 1")
	w.sees("web", "dev", health(promotion.Degraded, "pod web-2 cannot pull its image"))
	w.contains("the failure", w.promotion(p.ID).Failure, "cannot pull")

	w.sees("web", "dev", healthy)
	w.is(p.ID, promotion.StateLive)
	same(w, "failure", w.promotion(p.ID).Failure, "")
	w.pass(soak)
	w.is(p.ID, promotion.StateVerified)
}

func TestANewerMergeOvertakesWhatIsNotLiveYet(t *testing.T) {
	w := newWorld(t)
	w.inDev("1.1.0")
	verified := w.newest("web", "dev")
	failed := w.mergedInDev("1.2.0")
	w.sees("web", "dev", synced(failed.MergeSHA), w.running(failed.Release), health(promotion.Degraded, "crash loop"))
	w.is(failed.ID, promotion.StateFailed)

	slow := w.mergedInDev("1.3.0") // which the failed one did not block
	w.is(failed.ID, promotion.StateSuperseded)
	same(w, "superseded by", w.promotion(failed.ID).SupersededBy, slow.ID)
	w.sees("web", "dev", syncing(slow.MergeSHA))
	w.is(slow.ID, promotion.StateSyncing)

	newest := w.mergedInDev("1.4.0")
	w.is(slow.ID, promotion.StateSuperseded)
	w.verifies(newest.ID)
	w.is(verified, promotion.StateVerified)
	w.is(failed.ID, promotion.StateSuperseded)
	for _, id := range []int64{failed.ID, slow.ID} {
		w.contains("the audit", strings.Join(w.audited(id), " "), "promotion.overtaken")
	}
}

// What is live and not verified yet when a newer one is merged never becomes verified.
func TestANewerMergeOvertakesWhatIsLiveOnceItIsReplaced(t *testing.T) {
	w := newWorld(t)
	first := w.mergedInDev("1.1.0")
	w.rollsOut(first.ID)
	second := w.mergedInDev("1.2.0")
	w.is(first.ID, promotion.StateLive)
	w.rollsOut(second.ID)
	w.is(first.ID, promotion.StateSuperseded)
	w.pass(soak)
	w.is(first.ID, promotion.StateSuperseded)
	w.is(second.ID, promotion.StateVerified)
}

// mergedInProd is a promotion of web to prod, approved and merged.
func (w *world) mergedInProd(version string) promotion.Promotion {
	w.Helper()
	id := w.approvedAtProd(version)
	w.merges(rita, id)
	return w.promotion(id)
}

func TestProdIsSyncedOnceBySluice(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", synced(w.clone().Remote("main")), w.running(w.release(w.desired("web", "prod").ReleaseID)))
	p := w.mergedInProd("1.1.0")

	w.is(p.ID, promotion.StateSyncing)
	same(w, "syncs", len(w.cluster.syncs), 1)
	same(w, "the sync", w.cluster.syncs[0], promotion.SyncRequest{PromotionID: p.ID, Revision: p.MergeSHA, InitiatedBy: "sluice"})
	w.contains("the audit", strings.Join(w.audited(p.ID), " "), "promotion.merged promotion.sync-started")
	w.lookAtEverything()
	w.sees("web", "prod", syncing(p.MergeSHA))
	w.lookAtEverything()
	_, err := w.service.Sync(w.Context(), rita, p.ID)
	w.must(err)
	w.settle()
	same(w, "syncs", len(w.cluster.syncs), 1)
	w.verifies(p.ID)
	same(w, "syncs", len(w.cluster.syncs), 1)
	_, err = w.service.Sync(w.Context(), rita, p.ID)
	w.must(err)
	w.settle()
	same(w, "syncs", len(w.cluster.syncs), 1)
}

func TestSomebodyElsesOperationIsNeverReplaced(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	w.sees("web", "prod", healthy)
	w.cluster.busy = true
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	_, _, err = w.service.Advance(w.Context(), id)
	if !errors.Is(err, promotion.ErrOperationRunning) {
		t.Fatalf("error is %v, want one that has the work tried again", err)
	}
	w.is(id, promotion.StateMerged)
	w.cluster.busy = false
	w.settle()
	w.is(id, promotion.StateSyncing)
	same(w, "syncs", len(w.cluster.syncs), 1)
}

func TestAFailedSyncCanBeStartedAgain(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", healthy)
	p := w.mergedInProd("1.1.0")
	same(w, "syncs", len(w.cluster.syncs), 1)
	w.sees("web", "prod", syncFailed(p.MergeSHA, "admission webhook denied the request"))
	w.is(p.ID, promotion.StateFailed)
	w.contains("the failure", w.promotion(p.ID).Failure, "admission webhook")
	w.lookAtEverything()
	same(w, "syncs, since nothing is retried by itself", len(w.cluster.syncs), 1)

	_, err := w.service.Retry(w.Context(), rita, p.ID)
	w.must(err)
	w.settle()
	same(w, "syncs after rita's retry", len(w.cluster.syncs), 2)
	w.verifies(p.ID)
}

func TestATargetThatRunsInTwoClustersIsLiveWhenBothAre(t *testing.T) {
	w := newWorld(t)
	p := w.mergedInDev("1.1.0")
	w.seesIn("cluster-2", "web", "dev", healthy)
	w.sees("web", "dev", synced(p.MergeSHA), healthy, w.running(p.Release))
	if state := w.promotion(p.ID); state.State() == promotion.StateLive || !state.SyncedAt.IsZero() {
		t.Errorf("the promotion is %s although one cluster has not applied it", state.State())
	}
	w.seesIn("cluster-2", "web", "dev", synced(p.MergeSHA), healthy, w.running(p.Release))
	w.is(p.ID, promotion.StateLive)
}

// An Application that follows another repository, or another folder, says nothing about the target.
func TestAnApplicationOfAnotherRepositoryIsNotTheTargets(t *testing.T) {
	w := newWorld(t)
	p := w.mergedInDev("1.1.0")
	for _, other := range []change{
		w.adding("web", "dev", map[string]any{"repoURL": "https://git.example.test/other/config.git"}),
		w.adding("web", "dev", map[string]any{"repoURL": ""}),
		w.adding("web", "dev", map[string]any{"path": "apps/web/overlays"}),
		w.adding("web", "dev", map[string]any{"targetRevision": "v1"}),
		func(o *promotion.Observation) { o.EngineObject = nil },
	} {
		w.sees("web", "dev", other, synced(p.MergeSHA), w.running(p.Release))
		w.is(p.ID, promotion.StateMerged)
	}
	w.contains("what it waits for", w.promotion(p.ID).WaitsFor, "No Argo CD Application deploys apps/web/overlays/dev")
}
