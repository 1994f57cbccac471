package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	promotionLook = 2 * time.Second  // after which a promotion that waits for others to be judged looks again
	placeLasts    = 10 * time.Minute // for which a sync that neither ends nor fails keeps its place
)

// fleet is a world of applications with prod alone, which nobody has to approve and of which few may sync at once.
func fleet(t *testing.T, applications, atOnce int, policy ...string) (w *world, names []string) {
	for n := range applications {
		names = append(names, fmt.Sprintf("shop-%02d", n))
	}
	w = newWorldOf(t, func(files map[string][]byte) {
		images := strings.TrimSuffix(promotion.RepositoryOf(imageIn(t, string(files[overlay("web", "dev")]))), "web")
		clear(files)
		files["sluice.yaml"] = fmt.Appendf(nil, "version: 1\nenvironments:\n  prod:\n    approvals: {count: 0}\n    concurrency: {most: %d}\n%s", atOnce, strings.Join(policy, ""))
		for n, name := range names {
			files["apps/"+name+"/base/deployment.yaml"] = []byte(deployment(name, name+":placeholder"))
			files["apps/"+name+"/base/kustomization.yaml"] = kustomization("resources: [deployment.yaml]")
			files[overlay(name, "prod")] = kustomization("resources: [../../base]", "images:", "- name: "+name,
				"  newName: "+images+name, fmt.Sprintf("  digest: sha256:%064x", n+1))
		}
	})
	for _, name := range names {
		w.sees(name, "prod")
	}
	return w, names
}

// mergedInOnePush asks for a new release of each application in prod and merges all pull requests by one push.
func (w *world) mergedInOnePush(names []string) (ids []int64) {
	w.Helper()
	clone := w.clone()
	for _, r := range w.posts(w.request("1.1.0", names...)).Releases {
		id := w.promotes(r, "prod")
		w.is(id, promotion.StateOpen)
		ids = append(ids, id)
	}
	clone.Git("fetch", "--quiet", "origin")
	clone.Git("checkout", "--quiet", "-B", "main", "origin/main")
	for _, id := range ids {
		clone.Git("merge", "--quiet", "--no-ff", "--no-edit", "origin/"+w.promotion(id).Branch)
	}
	clone.Git("push", "--quiet", "origin", "main")
	w.lookAtEverything()
	return ids
}

// startedSyncs are the promotions whose sync was started, in that order.
func (w *world) startedSyncs() (ids []int64) {
	w.cluster.mu.Lock()
	defer w.cluster.mu.Unlock()
	for _, s := range w.cluster.syncs {
		ids = append(ids, s.PromotionID)
	}
	return ids
}

func TestFiftyApplicationsMergedAtOnceSyncInOrder(t *testing.T) {
	const applications, atOnce = 50, 4
	w, names := fleet(t, applications, atOnce)
	ids := w.mergedInOnePush(names)
	w.pass(promotionLook) // until all were judged

	for live := range applications {
		started := w.startedSyncs()
		if want := min(live+atOnce, applications); len(started) != want {
			t.Fatalf("%d syncs were started while %d are live, want %d; the next waits for: %s", len(started), live, want, w.promotion(ids[len(started)]).WaitsFor)
		}
		if live == applications/2 { // a server is killed while places are taken and others wait
			w.restarts()
			w.lookAtEverything()
		}
		if live == 0 || live == applications/2 {
			last := ids[applications-1]
			g := w.gate(last, promotion.PhaseSync, promotion.GateConcurrency)
			same(w, "verdict of the last", g.Verdict, promotion.Wait)
			w.contains("its reason", g.Reason, fmt.Sprintf("place %d, behind %s in prod", applications-len(started), names[applications-2]))
			w.contains("what it waits for", w.promotion(last).WaitsFor, "line of syncs")
		}
		w.rollsOut(started[live])
	}
	if got := w.startedSyncs(); !slices.Equal(got, ids) {
		t.Errorf("synced in the order %v, want that of the merges %v", got, ids)
	}
	same(w, "still in the line", w.count("SELECT count(*) FROM sync_line WHERE left_at IS NULL"), 0)
}

// What syncs for too long, or fails, does not keep its place.
func TestAStuckSyncLosesItsPlace(t *testing.T) {
	w, names := fleet(t, 3, 1)
	ids := w.mergedInOnePush(names)
	w.pass(promotionLook)
	same(w, "syncs", len(w.startedSyncs()), 1)
	w.pass(placeLasts)
	if got := w.startedSyncs(); !slices.Equal(got, ids[:2]) {
		t.Fatalf("started %v, want %v; the second waits for: %s", got, ids[:2], w.promotion(ids[1]).WaitsFor)
	}
	w.sees(names[1], "prod", syncFailed(w.promotion(ids[1]).MergeSHA, "the object is immutable"))
	w.pass(promotionLook)
	if got := w.startedSyncs(); !slices.Equal(got, ids) {
		t.Errorf("started %v, want %v; the third waits for: %s", got, ids, w.promotion(ids[2]).WaitsFor)
	}
}

// What something else holds is not in the line, also where the line itself holds nobody.
func TestWhatIsHeldIsNotInTheLine(t *testing.T) {
	w, names := fleet(t, 1, 1, "    gates: {concurrency: off, server-dry-run: enforce}\n")
	id := w.mergedInOnePush(names)[0]
	same(w, "verdict of the dry run that is not connected", w.gate(id, promotion.PhaseSync, promotion.GateServerDryRun).Verdict, promotion.Block)
	same(w, "in the line", w.count("SELECT count(*) FROM sync_line WHERE left_at IS NULL"), 0)
	same(w, "syncs", len(w.startedSyncs()), 0)
}
