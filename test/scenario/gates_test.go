package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// The clock of every scenario starts on Monday 2 March 2026 at 09:00 UTC.
var start = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

func TestASyncWindowHoldsTheMergeAndTheSync(t *testing.T) {
	w := newProdWorld(t)
	w.edits("README.md", "# ", "# The ")
	w.clone().Push("main", "sluice.yaml", `version: 1
windows:
- {name: working hours, kind: allow, schedule: 0 10 * * 1-5, duration: 6h, timezone: UTC, environments: [prod]}
environments:
  prod: {window: {least_left: 30m}}
`)
	w.settle()
	id := w.approvedAtProd("1.1.0")
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow)
	same(w, "verdict before the window", gate.Verdict, promotion.Wait)
	same(w, "until", gate.Until.UTC(), start.Add(time.Hour))
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")

	w.pass(time.Hour)
	same(w, "verdict in the window", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Pass)
	state, _ = w.gates(w.promotion(id).Number)
	same(w, "status in the window", state, "success")

	w.pass(5*time.Hour + 30*time.Minute) // half an hour is left, which is not enough
	same(w, "verdict at the window's end", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Wait)
	state, _ = w.gates(w.promotion(id).Number)
	same(w, "status at the window's end", state, "pending")

	w.pass(18*time.Hour + 30*time.Minute) // 10:00 on Tuesday
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

func TestASyncWaitsForTheWindowToo(t *testing.T) {
	w := newProdWorld(t)
	closed := false
	w.policies.window = func(promotion.Target, time.Time) promotion.WindowDecision {
		return promotion.WindowDecision{Open: !closed, Reason: "as the test says", By: "test"}
	}
	id := w.approvedAtProd("1.1.0")
	main := w.desired("web", "prod")
	w.clone().MergeByHand(w.promotion(id).Branch, "--no-ff", "-m", "by hand")
	closed = true
	w.sees("web", "prod", synced(main.Commit.SHA), healthy, w.running(w.release(main.ReleaseID)))
	w.settle()
	same(w, "syncs while it is closed", len(w.cluster.syncs), 0)
	closed = false
	w.lookAtEverything()
	same(w, "syncs when it is open", len(w.cluster.syncs), 1)
}

func TestAFreezeHoldsWhateverTheWindowsSay(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	request := promotion.Freeze{Kind: promotion.KindFreeze, Reason: "the big sale", Owner: "ops", Environments: []string{"prod*"},
		StartsAt: start, EndsAt: start.Add(48 * time.Hour)}
	for code, change := range map[string]func(*promotion.Freeze){
		"malformed-freeze":  func(z *promotion.Freeze) { z.Kind = "thaw" },
		"missing-reason":    func(z *promotion.Freeze) { z.Reason = "" },
		"missing-owner":     func(z *promotion.Freeze) { z.Owner = " " },
		"missing-start":     func(z *promotion.Freeze) { z.StartsAt = time.Time{} },
		"malformed-end":     func(z *promotion.Freeze) { z.EndsAt = z.StartsAt },
		"malformed-pattern": func(z *promotion.Freeze) { z.Applications = []string{"[web"} },
		"freezes-nothing":   func(z *promotion.Freeze) { z.Applications = []string{"nothing-*"} },
	} {
		z := request
		change(&z)
		_, err := w.service.Freeze(w.Context(), rita, z)
		w.refused(err, code)
	}
	_, err := w.service.Freeze(w.Context(), ada, request)
	w.refused(err, "forbidden")

	z, err := w.service.Freeze(w.Context(), rita, request)
	w.must(err)
	w.settle()
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow)
	same(w, "verdict", gate.Verdict, promotion.Wait)
	w.contains("the reason", gate.Reason, "frozen by rita", "the big sale")
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")

	_, err = w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindWindow, Reason: "just this once", Owner: "ops",
		StartsAt: start, EndsAt: start.Add(time.Hour)})
	w.must(err)
	w.settle()
	same(w, "verdict with a window beside the freeze", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Wait)

	w.must(w.service.Thaw(w.Context(), rita, z.ID))
	w.settle()
	same(w, "verdict after it", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Pass)
	w.refused(w.service.Thaw(w.Context(), rita, z.ID), "unknown-freeze")
}

func TestAOneOffWindowOpensWhatNoRecurringOneDoes(t *testing.T) {
	w := newProdWorld(t)
	w.policies.window = func(_ promotion.Target, at time.Time) promotion.WindowDecision {
		return promotion.WindowDecision{Reason: "no allow window is active"}
	}
	id := w.approvedAtProd("1.1.0")
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Wait)
	_, err := w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindWindow, Reason: "just this once", Owner: "ops",
		StartsAt: start, EndsAt: start.Add(time.Hour)})
	w.must(err)
	w.settle()
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow)
	same(w, "verdict in the window", gate.Verdict, promotion.Pass)
	same(w, "until", gate.Until.UTC(), start.Add(time.Hour))
	w.pass(time.Hour)
	same(w, "verdict after it", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Wait)
}

func TestAHoldStopsReleasesAndNotRollbacks(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	hold := promotion.HoldRequest{Application: "web", Environment: "prod"}
	w.refused(w.service.Hold(w.Context(), rita, hold), "missing-reason")
	hold.Reason = "we look at something"
	w.refused(w.service.Hold(w.Context(), ada, hold), "forbidden")
	w.must(w.service.Hold(w.Context(), rita, hold))
	w.settle()
	w.contains("what it waits for", w.promotion(id).WaitsFor, "web in prod is held by rita", "we look at something")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
	w.must(w.service.Hold(w.Context(), rita, hold)) // held already
	w.must(w.service.Resume(w.Context(), rita, hold))
	w.settle()
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

func TestTheStopButtonStopsEverything(t *testing.T) {
	w := newWorld(t)
	w.must(w.service.Hold(w.Context(), rita, promotion.HoldRequest{Reason: "stop"}))
	r := w.released("1.1.0", "web")
	same(w, "promotions started", len(w.texts("SELECT id::text FROM promotions")), 0)
	w.contains("the audit", strings.Join(w.texts("SELECT message FROM audit_events WHERE action = 'promotion.not-started'"), "\n"), "everything is held by rita")
	w.must(w.service.Resume(w.Context(), rita, promotion.HoldRequest{}))
	w.is(w.promotes(r, "dev"), promotion.StateMerged)
}

func TestEvidenceIsAskedFor(t *testing.T) {
	w := newProdWorld(t)
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) {
		p.Evidence = []promotion.NeededEvidence{{Name: "integration-tests", Environment: "staging"}}
	}
	id := w.approvedAtProd("1.1.0")
	verdict := func() promotion.Verdict { return w.gate(id, promotion.PhaseMerge, promotion.GateEvidence).Verdict }
	same(w, "verdict without any", verdict(), promotion.Wait)
	post := func(source, result, environment string) {
		t.Helper()
		_, err := w.service.PostEvidence(w.Context(), ci, promotion.EvidenceRequest{Application: "web", Release: "1.1.0",
			Evidence: promotion.Evidence{Name: "integration-tests", Environment: environment, Source: source, Verdict: result}})
		w.must(err)
		w.settle()
	}
	post("suite", "pass", "dev")
	same(w, "verdict with that of another environment", verdict(), promotion.Wait)
	post("suite", "fail", "staging")
	same(w, "verdict of a failure", verdict(), promotion.Block)
	post("suite", "pass", "staging")
	same(w, "verdict of a newer success by the same source", verdict(), promotion.Pass)
	post("other", "fail", "staging")
	same(w, "verdict when another source contradicts", verdict(), promotion.Block)
	post("other", "pass", "staging")
	same(w, "verdict when it agrees", verdict(), promotion.Pass)
	same(w, "kept", w.count("SELECT count(*) FROM evidence"), 5)

	for code, r := range map[string]promotion.EvidenceRequest{
		"missing-name":      {Application: "web", Release: "1.1.0", Evidence: promotion.Evidence{Verdict: "pass"}},
		"malformed-verdict": {Application: "web", Release: "1.1.0", Evidence: promotion.Evidence{Name: "x", Verdict: "perhaps"}},
		"malformed-expiry":  {Application: "web", Release: "1.1.0", Evidence: promotion.Evidence{Name: "x", Verdict: "pass", ExpiresAt: start}},
		"unknown-release":   {Application: "web", Release: "9.9.9", Evidence: promotion.Evidence{Name: "x", Verdict: "pass"}},
		"unknown-digest":    {Digest: "sha256:" + strings.Repeat("0", 64), Evidence: promotion.Evidence{Name: "x", Verdict: "pass"}},
	} {
		_, err := w.service.PostEvidence(w.Context(), ci, r)
		w.refused(err, code)
	}
	_, err := w.service.PostEvidence(w.Context(), vera, promotion.EvidenceRequest{})
	w.refused(err, "forbidden")
}

func TestEvidenceExpires(t *testing.T) {
	w := newProdWorld(t)
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) {
		p.Evidence = []promotion.NeededEvidence{{Name: "image-scan"}}
	}
	id := w.approvedAtProd("1.1.0")
	_, err := w.service.PostEvidence(w.Context(), ci, promotion.EvidenceRequest{Digest: w.promotion(id).Release.Artifacts[0].Digest,
		Evidence: promotion.Evidence{Name: "image-scan", Verdict: "pass", ExpiresAt: start.Add(time.Hour)}})
	w.must(err)
	w.settle()
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateEvidence)
	same(w, "verdict", gate.Verdict, promotion.Pass)
	same(w, "until", gate.Until.UTC(), start.Add(time.Hour))
	w.pass(time.Hour)
	same(w, "verdict after it expired", w.gate(id, promotion.PhaseMerge, promotion.GateEvidence).Verdict, promotion.Wait)
}

var gil = promotion.Actor{Name: "gil", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleBreakGlass, promotion.RoleApprover}}

func TestBreakingTheGlass(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	request := promotion.OverrideRequest{Application: "web", Environment: "prod", Gates: []string{promotion.GateApprovals}, Reason: "prod is down",
		Incident: "https://incidents.example.test/7", ExpiresAt: start.Add(time.Hour)}
	for code, change := range map[string]func(*promotion.OverrideRequest){
		"missing-gates":    func(r *promotion.OverrideRequest) { r.Gates = nil },
		"unknown-gate":     func(r *promotion.OverrideRequest) { r.Gates = []string{promotion.GateContent} },
		"missing-reason":   func(r *promotion.OverrideRequest) { r.Reason = "" },
		"malformed-expiry": func(r *promotion.OverrideRequest) { r.ExpiresAt = start.Add(25 * time.Hour) },
	} {
		r := request
		change(&r)
		_, err := w.service.Override(w.Context(), gil, r)
		w.refused(err, code)
	}
	_, err := w.service.Override(w.Context(), otto, request)
	w.refused(err, "forbidden")

	o, err := w.service.Override(w.Context(), gil, request)
	w.must(err)
	w.settle()
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateApprovals)
	same(w, "verdict stays", gate.Verdict, promotion.Wait)
	same(w, "override", gate.Override, o.ID)
	w.contains("the reason", gate.Reason, "Overridden by gil", "prod is down")
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "success")
	w.merges(rita, id)
	same(w, "violations", w.count("SELECT count(*) FROM violations"), 0)

	w.refused(w.service.ReviewOverride(w.Context(), gil, o.ID, "fine"), "own-override")
	w.refused(w.service.ReviewOverride(w.Context(), ada, o.ID, ""), "missing-review")
	w.must(w.service.ReviewOverride(w.Context(), ada, o.ID, "it was right"))
	w.refused(w.service.ReviewOverride(w.Context(), ada, o.ID, "again"), "reviewed")
}

func TestBrokenGlassIsMendedByTime(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	_, err := w.service.Override(w.Context(), gil, promotion.OverrideRequest{Application: "web", Environment: "prod",
		Gates: []string{promotion.GateApprovals}, Reason: "prod is down", ExpiresAt: start.Add(time.Hour)})
	w.must(err)
	w.settle()
	w.pass(time.Hour)
	same(w, "override", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Override, int64(0))
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")
}

func TestAPushPastEveryPullRequestIsAViolation(t *testing.T) {
	w := newWorld(t)
	sha := w.edits(overlay("web", "prod"), "count: 4", "count: 40")
	w.edits(overlay("web", "staging"), "# web in staging", "# web in staging\nnameSuffix: -x")
	w.look()
	same(w, "violations at once", w.count("SELECT count(*) FROM violations"), 0)
	w.clock.pass(time.Minute)
	w.look()
	all, err := w.service.Store.Violations(w.Context(), true, 10)
	w.must(err)
	same(w, "violations", len(all), 1) // staging is not gated
	same(w, "kind", all[0].Kind, promotion.ViolationPushed)
	same(w, "subject", all[0].Subject, sha)
	w.look()
	same(w, "violations after another look", w.count("SELECT count(*) FROM violations"), 1)
	w.must(w.service.CloseViolation(w.Context(), rita, all[0].ID, "a hotfix by hand"))
	w.refused(w.service.CloseViolation(w.Context(), rita, all[0].ID, "again"), "reviewed")
	w.refused(w.service.CloseViolation(w.Context(), rita, 99, "what"), "unknown-violation")
}

func TestARejectedReleaseGoesNowhere(t *testing.T) {
	w := newWorld(t)
	id := w.atProd("1.1.0")
	r := w.promotion(id).Release
	_, err := w.service.RejectRelease(w.Context(), ada, r.ID, "")
	w.refused(err, "missing-reason")
	_, err = w.service.RejectRelease(w.Context(), ada, r.ID, "it loses orders")
	w.must(err)
	w.settle()
	w.is(id, promotion.StateRejected)
	_, err = w.asks(r, "prod")
	w.refused(err, "rejected-release")
	_, err = w.service.ReopenRelease(w.Context(), rita, r.ID, "it was something else")
	w.must(err)
	w.is(w.promotes(r, "prod"), promotion.StateOpen)
}

func TestWhatIsVerifiedGoesOnByItself(t *testing.T) {
	w := newWorld(t)
	w.policies.change = func(t promotion.Target, p *promotion.EnvironmentPolicy) {
		p.AutomaticPromotion = t.Environment != "prod"
	}
	r := w.inDev("1.1.0")
	all, err := w.service.Store.Promotions(w.Context(), promotion.PromotionFilter{Application: "web", Environment: "staging", Limit: 10})
	w.must(err)
	same(w, "promotions to staging", len(all), 1)
	same(w, "release", all[0].Release.ID, r.ID)
	w.contains("the reason", all[0].Reason, "verified in dev")
	w.is(all[0].ID, promotion.StateMerged)
}

func TestARollbackHoldsItsTargetAndMarksWhatItUndoes(t *testing.T) {
	w := newProdWorld(t)
	old := w.desired("web", "prod")
	id := w.approvedAtProd("1.1.0")
	w.merges(rita, id)
	p, err := w.service.Restore(w.Context(), rita, restoring("prod", old.Commit.SHA))
	w.must(err)
	w.settle()
	same(w, "release", p.Release.ID, old.ReleaseID)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.is(id, promotion.StateRolledBack)
	w.is(p.ID, promotion.StateMerged)
	holds, err := w.service.Store.HoldsOf(w.Context(), w.target("web", "prod").ID)
	w.must(err)
	same(w, "holds", len(holds), 1)
	w.contains("the hold", holds[0].Reason, "goes back to release")
}

func TestAPlanChangesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.inDev("1.1.0")
	before := w.content()
	plan, err := w.service.Plan(w.Context(), promotion.PlanRequest{Application: "web", Environment: "prod", Release: r.Version})
	w.must(err)
	w.unchanged(before)
	w.contains("the diff", plan.Diff, r.Artifacts[0].Digest)
	w.contains("what it waits for", plan.Waits, "not verified in staging")
	_, err = w.service.Plan(w.Context(), promotion.PlanRequest{Application: "web", Environment: "prod", Release: "9.9.9"})
	w.refused(err, "unknown-release")
}

func TestAPolicyThatBreaksLeavesTheOneBeforeInForce(t *testing.T) {
	w := newProdWorld(t)
	w.clone().Push("main", "sluice.yaml", "version: 1\nenvironments:\n  prod: {approvals: {count: 2}}\n")
	w.settle()
	w.clone().Push("main", "sluice.yaml", "version: 1\nenvironments:\n  prod: {aprovals: {count: 0}}\n")
	w.settle()
	status, err := w.service.Store.Repository(w.Context(), repository)
	w.must(err)
	same(w, "faults", len(status.PolicyFaults), 1)
	w.contains("the fault", status.PolicyFaults[0].String(), "sluice.yaml:3", "aprovals", "approvals")
	id := w.atProd("1.1.0")
	w.approves(ada, id)
	w.contains("the approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "1 of 2")
	same(w, "events of the broken policy", w.count("SELECT count(*) FROM audit_events WHERE action = 'policy.refused'"), 1)
	same(w, "policies that were in force", w.count("SELECT count(*) FROM policies"), 2)

	pr := w.opens("worse", "sluice.yaml", "version: 7\n")
	state, why := w.gates(pr.Number)
	same(w, "status of a pull request that breaks the policy", state, "failure")
	w.contains("the reason", why, "breaks the policy")
}
