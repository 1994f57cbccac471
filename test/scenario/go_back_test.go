package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// back asks that web go back in an environment by its images alone.
func back(environment, to string) promotion.GoBackRequest {
	return promotion.GoBackRequest{Application: "web", Environment: environment, Way: promotion.ImagesOnly, To: to, Reason: "it loses orders"}
}

func (w *world) startsBack(r promotion.GoBackRequest) promotion.Promotion {
	w.Helper()
	p, err := w.service.StartRollback(w.Context(), rita, r)
	w.must(err)
	w.settle()
	return w.promotion(p.ID)
}

// verifiedInProd brings web's version to prod and has it verified there.
func (w *world) verifiedInProd(version string) promotion.Promotion {
	w.Helper()
	p := w.mergedInProd(version)
	w.verifies(p.ID)
	return w.promotion(p.ID)
}

func TestGoingBackByImagesIsARollback(t *testing.T) {
	w := newProdWorld(t)
	first := w.verifiedInProd("1.1.0")
	second := w.verifiedInProd("1.2.0")
	third := w.atProd("1.3.0")
	w.approves(ada, third)

	plan, err := w.service.PlanRollback(w.Context(), back("prod", "1.1.0"))
	w.must(err)
	w.contains("the plan", plan.Change.Diff, first.Release.Artifacts[0].Digest)

	p := w.startsBack(back("prod", "1.1.0"))
	same(w, "kind", p.Kind, promotion.KindRollback)
	same(w, "state", p.State(), promotion.StateOpen)
	w.contains("the title", w.pullRequest(p.ID).Title, "back to 1.1.0")
	w.is(third, promotion.StateSuperseded)
	gone := w.promotion(third)
	same(w, "replaced by", gone.SupersededBy, p.ID)
	w.contains("why", gone.DecisionReason, "a rollback to 1.1.0 goes first", "approved by ada")
	same(w, "its pull request", w.pullRequest(third).State, promotion.PullRequestClosed)
	holds, err := w.service.Store.HoldsOf(w.Context(), w.target("web", "prod").ID)
	w.must(err)
	same(w, "holds", len(holds), 1)
	w.contains("the hold", holds[0].Reason, "1.1.0", "it loses orders")

	again := w.startsBack(back("prod", "1.1.0"))
	same(w, "asked again", again.ID, p.ID)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.is(second.ID, promotion.StateRolledBack)
	w.contains("the overlay", w.file(overlay("web", "prod")), first.Release.Artifacts[0].Digest)
}

func TestGoingBackIsRefusedWithAReason(t *testing.T) {
	w := newProdWorld(t)
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	w.posts(w.request("1.3.0", "web"))
	for code, change := range map[string]func(*promotion.GoBackRequest){
		"missing-reason":      func(r *promotion.GoBackRequest) { r.Reason = " " },
		"missing-way":         func(r *promotion.GoBackRequest) { r.Way = "" },
		"unknown-way":         func(r *promotion.GoBackRequest) { r.Way = "undo" },
		"images-only":         func(r *promotion.GoBackRequest) { r.Base = true },
		"missing-release":     func(r *promotion.GoBackRequest) { r.To = "" },
		"unknown-release":     func(r *promotion.GoBackRequest) { r.To = "9.9.9" },
		"never-verified-here": func(r *promotion.GoBackRequest) { r.To = "1.3.0" },
		"already-current":     func(r *promotion.GoBackRequest) { r.To = "1.2.0" },
		"unknown-target":      func(r *promotion.GoBackRequest) { r.Environment = "nowhere" },
	} {
		r := back("prod", "1.1.0")
		change(&r)
		_, err := w.service.StartRollback(w.Context(), rita, r)
		w.refused(err, code)
	}
	_, err := w.service.StartRollback(w.Context(), ada, back("prod", "1.1.0"))
	w.refused(err, "forbidden")
}

// The configuration of then is that of the newest commit at which the target had the release.
func TestGoingBackWithTheConfiguration(t *testing.T) {
	w := newProdWorld(t)
	first := w.verifiedInProd("1.1.0")
	w.edits(overlay("web", "prod"), "count: 4", "count: 6")
	before := w.file(overlay("web", "prod"))
	w.verifiedInProd("1.2.0")
	w.edits(overlay("web", "prod"), "count: 6", "count: 9")
	r := back("prod", "1.1.0")
	r.Way = promotion.ImagesAndConfig
	p := w.startsBack(r)
	same(w, "release", p.Release.ID, first.Release.ID)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	same(w, "the overlay", w.file(overlay("web", "prod")), before)
}

func TestThePolicyMayAskLessOfARollback(t *testing.T) {
	w := newProdWorld(t)
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	w.clone().Push("main", "sluice.yaml", "version: 1\nenvironments:\n  prod:\n    rollback: {approvals: 0, windows: ignore}\nwindows:\n"+
		"  - {name: never on weekdays, kind: deny, schedule: '0 0 * * *', duration: 24h, timezone: UTC}\n")
	w.settle()
	p := w.startsBack(back("prod", "1.1.0"))
	same(w, "approvals", w.gate(p.ID, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)
	window := w.gate(p.ID, promotion.PhaseMerge, promotion.GateSyncWindow)
	same(w, "window", window.Verdict, promotion.Pass)
	w.contains("the reason", window.Reason, "whatever the sync windows say")

	_, err := w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindFreeze, Reason: "an audit", Owner: "dora",
		Environments: []string{"prod"}, StartsAt: w.clock.now(), EndsAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	w.settle()
	w.lookAtEverything()
	same(w, "window when frozen", w.gate(p.ID, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Wait)
}

// BenchmarkGoingBack is what a person waits for who has clicked: until the pull request is open.
func BenchmarkGoingBack(b *testing.B) {
	w := newWorldOf(b, onlyProd)
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	for b.Loop() {
		p := w.startsBack(back("prod", "1.1.0"))
		if p.State() != promotion.StateOpen {
			b.Fatalf("state %s", p.State())
		}
		b.StopTimer()
		_, err := w.service.Cancel(b.Context(), rita, p.ID, "once more")
		w.must(err)
		w.settle()
		b.StartTimer()
	}
}

// The gate asks of a rollback whether the target can go there, and somebody else may let a named unknown stand.
func TestARollbackIsAskedWhetherItCanGoThere(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{lacks: func(f *promotion.ClusterFacts) { f.Unread = []string{"its nodes may not be listed"} }})
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	p := w.startsBack(back("prod", "1.1.0"))
	gate := w.gate(p.ID, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "Going back to 1.1.0 is unknown", "nodes may not be listed")

	accept := promotion.AcceptRequest{Promotion: p.ID, Unknown: "platforms-unread", Reason: "all nodes are amd64", ExpiresAt: w.clock.now().Add(time.Hour)}
	_, err := w.service.AcceptUnknown(w.Context(), rita, accept)
	w.refused(err, "own-promotion")
	_, err = w.service.AcceptUnknown(w.Context(), ada, accept)
	w.must(err)
	w.settle()
	gate = w.gate(p.ID, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict once accepted", gate.Verdict, promotion.Pass)
	pr, err := w.host.PullRequest(w.Context(), repository, w.promotion(p.ID).Number)
	w.must(err)
	w.contains("the body", pr.Body, "accepted by ada")
}

func TestARollbackBehindADroppedColumnIsUnsafe(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	first := w.request("1.4.1", "web")
	first.Migrations = plain(files(parcels, addsTracking))
	w.runsInProd(w.posts(first).Releases[0])
	second := w.request("1.4.2", "web")
	second.Migrations = plain(files(parcels, addsTracking, dropsNote))
	w.runsInProd(w.posts(second).Releases[0])
	p := w.startsBack(back("prod", "1.4.1"))
	gate := w.gate(p.ID, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "1.4.1", "0003_note.sql:3 drops a column")
	check, err := w.service.CheckRollback(w.Context(), promotion.RollbackRequest{Application: "web", Environment: "prod"})
	w.must(err)
	if barred := check.PointOfNoReturn(); barred == nil || barred.Release.Version != "1.4.1" {
		w.Errorf("the point of no return is %+v, want 1.4.1", barred)
	}
	w.contains("what is said of it", strings.Join(check.Candidates[0].Images.Notes, "\n"), "0003_note.sql:3 drops a column")
}
