package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// opens pushes a file on a branch made from main and opens a pull request for it, as otto.
func (w *world) opens(branch, name, content string) promotion.PullRequest {
	w.Helper()
	head := w.clone().Push(branch, name, content)
	pr, err := w.host.Open(w.Context(), repository, promotion.NewPullRequest{Branch: branch, Head: head, Title: "Change " + name, Body: "by hand"}, otto)
	w.must(err)
	w.look()
	w.settle()
	return pr
}

// gates is the status sluice/gates of a pull request's head.
func (w *world) gates(number int) (state, description string) {
	w.Helper()
	d, err := w.host.PullRequest(w.Context(), repository, number)
	w.must(err)
	for _, s := range d.Statuses {
		if s.Context == promotion.StatusContext {
			return s.State, s.Description
		}
	}
	return "none", ""
}

// changes are the promotions of a pull request that Sluice did not open, newest first.
func (w *world) changes(number int) []promotion.Promotion {
	w.Helper()
	all, err := w.service.Store.Changes(w.Context(), repository, number)
	w.must(err)
	return all
}

// moreReplicas is an overlay of web with a number of replicas that no release brings.
func (w *world) moreReplicas(environment, replicas string) string {
	text := w.file(overlay("web", environment))
	if strings.Contains(text, "count: 4") {
		return strings.Replace(text, "count: 4", "count: "+replicas, 1)
	}
	return text + "\nreplicas:\n- name: web\n  count: " + replicas + "\n"
}

func TestAPullRequestThatChangesNoGatedTargetIsLetThroughAtOnce(t *testing.T) {
	w := newWorld(t)
	state, why := w.gates(w.opens("docs", "docs/readme.md", "hello\n").Number)
	same(w, "status", state, "success")
	same(w, "reason", why, "changes nothing that any environment runs")
	state, why = w.gates(w.opens("dev", overlay("web", "dev"), w.moreReplicas("dev", "3")).Number)
	same(w, "status", state, "success")
	same(w, "reason", why, "changes no gated environment, only web in dev")
}

func TestAPersonsChangeOfProdPassesTheSameGates(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	state, why := w.gates(pr.Number)
	same(w, "status", state, "pending")
	same(w, "reason", why, "held by approvals")
	all := w.changes(pr.Number)
	same(w, "promotions", len(all), 1)
	id := all[0].ID
	same(w, "kind", all[0].Kind, promotion.KindChange)
	same(w, "asked for by", all[0].RequestedBy, "otto")
	d, err := w.host.PullRequest(w.Context(), repository, pr.Number)
	w.must(err)
	same(w, "comments", len(d.Comments), 1)
	w.contains("the comment", d.Comments[0].Body, "replicas", "approvals", "prod")

	_, err = w.service.Decide(w.Context(), otto, promotion.DecideRequest{PromotionID: id, Decision: "approve"})
	w.must(err)
	w.settle()
	state, _ = w.gates(pr.Number)
	same(w, "status after the author's own approval", state, "pending")
	_, err = w.service.Cancel(w.Context(), rita, id, "no")
	w.refused(err, "not-sluices-own")

	w.approves(ada, id)
	state, _ = w.gates(pr.Number)
	same(w, "status after another person's", state, "success")
	_, err = w.host.Repository(repository).Merge(w.Context(), pr.Number, w.promotion(id).HeadSHA, "by hand", otto, "")
	w.must(err)
	w.lookAtEverything()
	p := w.promotion(id)
	w.is(id, promotion.StateMerged)
	same(w, "merged by", p.MergedBy, "otto")
	same(w, "violations", strings.Count(strings.Join(w.audited(id), " "), "violation"), 0)
	same(w, "revision's promotion", w.desired("web", "prod").PromotionID, id)
	same(w, "syncs", len(w.cluster.syncs), 0) // nothing deploys prod here
	same(w, "comments", len(d.Comments), 1)
}

func TestAChangeOfAPersonsPullRequestDropsApprovals(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	id := w.changes(pr.Number)[0].ID
	w.approves(ada, id)
	w.clone().Push("more", overlay("web", "prod"), w.moreReplicas("prod", "50"))
	w.settle()
	state, _ := w.gates(pr.Number)
	same(w, "status", state, "pending")
	w.contains("the approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "ada approved another content")

	w.clone().Push("more", "docs/readme.md", "never mind\n")
	w.settle()
	w.is(id, promotion.StateCancelled)
	state, why := w.gates(pr.Number)
	same(w, "status", state, "success")
	same(w, "reason", why, "changes nothing that any environment runs")

	w.clone().Push("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	w.settle()
	all := w.changes(pr.Number)
	same(w, "promotions", len(all), 2)
	w.is(all[0].ID, promotion.StateOpen)
}

func TestARejectedChangeStaysRejectedUntilItIsAnother(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	id := w.changes(pr.Number)[0].ID
	_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "reject", Comment: "too many"})
	w.must(err)
	w.settle()
	w.lookAtEverything()
	state, why := w.gates(pr.Number)
	same(w, "status", state, "failure")
	same(w, "reason", why, "rejected by ada")
	same(w, "state at the host", w.pullRequest(id).State, promotion.PullRequestOpen)
	w.clone().Push("more", overlay("web", "prod"), w.moreReplicas("prod", "3"))
	w.settle()
	same(w, "promotions", len(w.changes(pr.Number)), 2)
	state, _ = w.gates(pr.Number)
	same(w, "status of the new head", state, "pending")
}

func TestAnImageThatCINeverPostedDoesNotReachProdByHand(t *testing.T) {
	w := newWorld(t)
	old := w.file(overlay("web", "prod"))
	digest := w.images.push(t, "web", "sneaky", "")
	pr := w.opens("sneaky", overlay("web", "prod"), strings.Replace(old, digestIn(w.desired("web", "prod").Images[0].Reference), digest, 1))
	id := w.changes(pr.Number)[0].ID
	state, _ := w.gates(pr.Number)
	same(w, "status", state, "failure")
	w.contains("the reason", w.gate(id, promotion.PhaseOpen, promotion.GateUpstreamVerified).Reason, "CI posted no build")
}

func TestOneChangeOfTheBaseIsJudgedForEachGatedTarget(t *testing.T) {
	w := newWorld(t)
	base := "apps/order-service/base/kustomization.yaml"
	pr := w.opens("base", base, w.file(base)+"\ncommonAnnotations:\n  team: shop\n")
	all := w.changes(pr.Number)
	same(w, "promotions", len(all), 1)
	same(w, "environment", all[0].Target.Environment, "production")
	w.approves(ada, all[0].ID)
	w.merges(rita, all[0].ID)
	w.is(all[0].ID, promotion.StateMerged)
}

func TestAPullRequestThatConflictsIsHeld(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	w.edits(overlay("web", "prod"), "resources:", "# main was here\nresources:")
	w.clone().Git("fetch", "--quiet", "origin")
	state, _ := w.gates(pr.Number)
	if state == "success" {
		t.Error("a pull request that nobody approved is green")
	}
}

func TestAPersonsPullRequestMergedPastTheGatesIsAViolation(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	id := w.changes(pr.Number)[0].ID
	w.clone().MergeByHand("more", "--no-ff", "-m", "by hand")
	w.settle()
	w.lookAtEverything()
	w.is(id, promotion.StateMerged)
	w.contains("the audit", strings.Join(w.audited(id), " "), "violation.merged")
	w.contains("what it waits for", w.promotion(id).WaitsFor, "No Argo CD Application")
	_ = pr
}

func TestAPersonsPullRequestThatIsClosedEnds(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	id := w.changes(pr.Number)[0].ID
	w.must(w.host.Close(w.Context(), repository, pr.Number, "no", otto))
	w.lookAtEverything()
	w.is(id, promotion.StateCancelled)
	if w.clone().Remote("more") == "" {
		t.Error("Sluice deleted somebody else's branch")
	}
}

func TestLintSpeaksOfWhatAChangeBringsOnly(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(w.file(overlay("web", "prod")), "resources:\n", "resources:\n  - secret.yaml\n", 1)
	c := w.clone()
	c.Commit("secret", "origin/main", overlay("web", "prod"), text)
	c.Write("apps/web/overlays/prod/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\nstringData:\n  password: correct-horse\n")
	c.Git("add", "--all")
	c.Git("commit", "--quiet", "-m", "a secret")
	c.Git("push", "--quiet", "origin", "secret")
	pr, err := w.host.Open(w.Context(), repository, promotion.NewPullRequest{Branch: "secret", Title: "A secret", Body: "by hand"}, otto)
	w.must(err)
	w.look()
	w.settle()
	p := w.changes(pr.Number)[0]
	same(w, "findings", len(p.Lint), 1)
	w.contains("the finding", p.Lint[0], "plaintext-secret", "apps/web/overlays/prod/secret.yaml", "evoke")
	if d, err := w.host.PullRequest(w.Context(), repository, pr.Number); err != nil || strings.Contains(d.Comments[0].Body, "correct-horse") {
		t.Errorf("the comment gives the secret away, or: %v", err)
	}
	state, _ := w.gates(pr.Number)
	same(w, "status", state, "failure")
}

func TestAChangeOfThePolicyPassesTheGatesOfToday(t *testing.T) {
	w := newWorld(t)
	policy := "version: 1\nenvironments:\n  prod: {approvals: {count: 0}, merge: automatic}\n"
	pr := w.opens("looser", "sluice.yaml", policy)
	all := w.changes(pr.Number)
	same(w, "promotions", len(all), 1)
	same(w, "environment", all[0].Target.Environment, "prod")
	state, why := w.gates(pr.Number)
	same(w, "status", state, "pending")
	same(w, "reason", why, "held by approvals")
	w.approves(ada, all[0].ID)
	w.clone().Push("looser", "sluice.yaml", policy+"  staging: {approvals: {count: 0}}\n")
	w.settle()
	state, _ = w.gates(pr.Number)
	same(w, "status after another change of the policy", state, "pending")
	w.approves(ada, all[0].ID)
	w.merges(rita, all[0].ID)
	w.is(all[0].ID, promotion.StateMerged)
	w.lookAtEverything()
	r := w.inStaging("1.1.0")
	w.is(w.promotes(r, "prod"), promotion.StateMerged) // by itself, as the policy says now

	pr = w.opens("windows", "sluice.yaml", policy+"windows:\n- {name: never on Fridays, kind: deny, schedule: 0 0 * * 5, duration: 24h, timezone: UTC}\n")
	same(w, "promotions of a change of windows where nothing is gated", len(w.changes(pr.Number)), 1)
}
