package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestDevGoesByItselfAndStagingWaitsForIt(t *testing.T) {
	w := newWorld(t)
	before := w.file(overlay("web", "dev"))
	old := w.desired("web", "dev").Images[0].Reference
	out := w.posts(w.request("1.1.0", "web"))
	dev, r := out.Promotions[0].ID, out.Releases[0]
	w.is(dev, promotion.StateRequested)
	staging := w.promotes(r, "staging") // settles: dev is merged by now

	w.is(dev, promotion.StateMerged)
	p := w.promotion(dev)
	same(w, "merged by", p.MergedBy, "sluice")
	same(w, "requested by", p.RequestedBy, "sluice")
	same(w, "pull request", w.pullRequest(dev).State, promotion.PullRequestMerged)
	same(w, "branch after the merge", w.clone().Remote(p.Branch), "")
	same(w, "main's overlay", w.file(overlay("web", "dev")), strings.ReplaceAll(before, digestIn(old), r.Artifacts[0].Digest))
	same(w, "promotion of main's revision", w.desired("web", "dev").PromotionID, dev)

	w.is(staging, promotion.StateRequested)
	gate := w.gate(staging, promotion.PhaseOpen, promotion.GateUpstreamVerified)
	same(w, "verdict", gate.Verdict, promotion.Wait)
	w.contains("what staging waits for", w.promotion(staging).WaitsFor, "not verified in dev")

	w.rollsOut(dev)
	w.is(staging, promotion.StateRequested)
	w.pass(soak)
	w.is(dev, promotion.StateVerified)
	w.is(staging, promotion.StateMerged)
	w.verifies(staging)
	same(w, "syncs that Sluice started", len(w.cluster.syncs), 0)
}

func digestIn(reference string) string {
	_, digest, _ := strings.Cut(reference, "@")
	return digest
}

func TestProdNeedsAnotherPersonsApproval(t *testing.T) {
	w := newWorld(t)
	id := w.atProd("1.1.0")
	refusedMerge := func() promotion.Error {
		t.Helper()
		_, err := w.service.Merge(w.Context(), rita, id)
		refusal := w.refused(err, "merge-refused")
		same(w, "kind", refusal.Kind, promotion.Refused)
		return refusal
	}

	refusal := refusedMerge()
	gates := map[string]promotion.Verdict{}
	for _, g := range refusal.Gates {
		gates[g.Gate] = g.Verdict
	}
	for gate, want := range map[string]promotion.Verdict{promotion.GateApprovals: promotion.Wait, promotion.GateContent: promotion.Pass,
		promotion.GateUpstreamVerified: promotion.Pass, promotion.GateArtifactAvailable: promotion.Pass} {
		same(w, "verdict of "+gate, gates[gate], want)
	}
	w.contains("the refusal", refusal.Message, "approvals", "0 of 1", "other than rita")

	w.approves(rita, id)
	w.contains("the refusal after her own approval", refusedMerge().Message, "0 of 1", "rita asked for the promotion")
	for code, decision := range map[string]promotion.DecideRequest{
		"missing-comment":    {PromotionID: id, Decision: "reject"},
		"malformed-decision": {PromotionID: id, Decision: "perhaps"},
		"unknown-promotion":  {PromotionID: 999999, Decision: "approve"},
	} {
		_, err := w.service.Decide(w.Context(), ada, decision)
		w.refused(err, code)
	}
	_, err := w.service.Decide(w.Context(), vera, promotion.DecideRequest{PromotionID: id, Decision: "approve"})
	w.refused(err, "forbidden")

	w.approves(ada, id)
	w.is(id, promotion.StateOpen)
	w.contains("what it waits for", w.promotion(id).WaitsFor, "somebody merges")
	_, err = w.service.Merge(w.Context(), vera, id)
	w.refused(err, "forbidden")
	w.merges(rita, id)

	w.is(id, promotion.StateMerged)
	same(w, "merged by", w.promotion(id).MergedBy, "rita")
	w.contains("the audit", strings.Join(w.audited(id), " "),
		"promotion.requested promotion.proposed promotion.opened promotion.approved promotion.approved promotion.merge-asked promotion.merged")
}

// approvedAtProd is a promotion to prod that ada has approved, open still.
func (w *world) approvedAtProd(version string) int64 {
	w.Helper()
	id := w.atProd(version)
	w.approves(ada, id)
	same(w, "approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)
	return id
}

func TestAnApprovalIsForTheContentThatWasSeen(t *testing.T) {
	for name, test := range map[string]struct {
		edit    func(*world)
		rewrite bool // the branch
		counts  bool // the approval, still
	}{
		"main renders something else there":    {func(w *world) { w.edits("apps/web/base/configmap.yaml", "LOG_LEVEL: info", "LOG_LEVEL: debug") }, true, false},
		"the same file renders something else": {func(w *world) { w.edits(overlay("web", "prod"), "count: 4", "count: 5") }, true, false},
		"the same file renders the same":       {func(w *world) { w.edits(overlay("web", "prod"), "checked against last year's peak", "as agreed") }, true, true},
		"main changes something else":          {func(w *world) { w.edits("apps/checkout/base/configmap.yaml", "LOG_LEVEL: info", "LOG_LEVEL: debug") }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			id := w.approvedAtProd("1.1.0")
			before := w.promotion(id)

			test.edit(w)

			w.is(id, promotion.StateOpen)
			p := w.promotion(id)
			same(w, "the branch's being written anew", p.HeadSHA != before.HeadSHA, test.rewrite)
			same(w, "the host's head", w.pullRequest(id).HeadSHA, p.HeadSHA)
			same(w, "the pull request", p.Number, before.Number)
			if test.rewrite {
				same(w, "base", p.BaseSHA, w.clone().Remote("main"))
				same(w, "verdict on the content", w.gate(id, promotion.PhaseMerge, promotion.GateContent).Verdict, promotion.Pass)
			}
			gate := w.gate(id, promotion.PhaseMerge, promotion.GateApprovals)
			if !test.counts {
				w.contains("the approvals", gate.Reason, "0 of 1", "ada approved another content")
				_, err := w.service.Merge(w.Context(), rita, id)
				w.refused(err, "merge-refused")
				w.contains("the audit", strings.Join(w.texts("SELECT message FROM audit_events WHERE promotion_id = $1", id), "\n"), "no longer count")
				_, err = w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "approve", Rendered: before.RenderedHash})
				w.refused(err, "content-changed")
				w.approves(ada, id)
			}
			w.merges(rita, id)
			w.is(id, promotion.StateMerged)
			same(w, "verdict on the content to sync", w.gate(id, promotion.PhaseSync, promotion.GateContent).Verdict, promotion.Pass)
		})
	}
}

func TestTwoApprovalsAreTwoPeoples(t *testing.T) {
	w := newProdWorld(t)
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) { p.Approvals = 2 }
	id := w.atProd("1.1.0")
	for range 2 {
		w.approves(ada, id)
		w.contains("the approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "1 of 2")
	}
	w.approves(otto, id)
	w.contains("the approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "approved by ada, otto")
}

// The wish to merge does not outlive what it was for.
func TestAMergeThatWasAskedForLapsesWhenMainMoves(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	w.clone().Push("main", "apps/web/base/configmap.yaml", strings.ReplaceAll(w.file("apps/web/base/configmap.yaml"), "info", "debug"))
	w.settle()
	w.is(id, promotion.StateOpen)
	same(w, "asked by", w.promotion(id).MergeAskedBy, "")
	w.contains("the audit", strings.Join(w.audited(id), " "), "promotion.merge-asked promotion.proposed promotion.merge-lapsed")
	w.approves(ada, id)
	w.is(id, promotion.StateOpen)
}

func TestAPromotionThatIsTurnedDownLeavesNothingOpen(t *testing.T) {
	for name, test := range map[string]struct {
		act    func(*world, int64) error
		state  promotion.State
		by     string
		reason string
	}{
		"cancelled": {func(w *world, id int64) error {
			_, err := w.service.Cancel(w.Context(), rita, id, "not this week")
			return err
		}, promotion.StateCancelled, "rita", "not this week"},
		"rejected": {func(w *world, id int64) error {
			_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "reject", Comment: "the changelog is missing"})
			return err
		}, promotion.StateRejected, "ada", "the changelog is missing"},
		"closed at the host": {func(w *world, id int64) error {
			return w.closedAtHost(w.Context(), id)
		}, promotion.StateCancelled, "otto", "closed without a merge"},
		"its branch deleted": {func(w *world, id int64) error {
			w.clone().Git("push", "--quiet", "origin", ":"+w.promotion(id).Branch)
			return nil
		}, promotion.StateCancelled, "rita", "closed without a merge"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			id := w.approvedAtProd("1.1.0")
			w.must(test.act(w, id))
			w.lookAtEverything()

			w.is(id, test.state)
			p := w.promotion(id)
			same(w, "decided by", p.DecidedBy, test.by)
			w.contains("the reason", p.DecisionReason, test.reason)
			same(w, "pull request", w.pullRequest(id).State, promotion.PullRequestClosed)
			same(w, "branch", w.clone().Remote(p.Branch), "")
			_, err := w.service.Merge(w.Context(), rita, id)
			w.refused(err, "not-open")
			_, err = w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "approve"})
			w.refused(err, "not-open")
			w.is(w.promotes(p.Release, "prod"), promotion.StateOpen)
		})
	}
}

func (w *world) closedAtHost(ctx context.Context, id int64) error {
	return w.host.Close(ctx, repository, w.promotion(id).Number, "no", otto)
}

func TestWhatSupersedesAnOpenPromotion(t *testing.T) {
	w := newWorld(t)
	first := w.atProd("1.1.0")
	old := w.promotion(first).Release

	newer := w.inDev("1.2.0")
	_, err := w.asks(newer, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "not verified in staging", "finish or cancel")
	w.is(first, promotion.StateOpen)

	w.verifies(w.promotes(newer, "staging"))
	second := w.promotes(newer, "prod")
	w.is(first, promotion.StateSuperseded)
	w.is(second, promotion.StateOpen)
	same(w, "superseded by", w.promotion(first).SupersededBy, second)
	same(w, "pull request of the first", w.pullRequest(first).State, promotion.PullRequestClosed)
	same(w, "branch of the first", w.clone().Remote(w.promotion(first).Branch), "")

	same(w, "asked for again", w.promotes(newer, "prod"), second)
	_, err = w.asks(old, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is the newer one")

	r := w.request("1.0.1", "web")
	r.Line = "1.0"
	w.posts(r)
	w.settle()
	w.verifies(w.newest("web", "dev"))
	hotfix := w.promotion(w.newest("web", "dev")).Release
	w.verifies(w.promotes(hotfix, "staging"))
	_, err = w.asks(hotfix, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "release lines differ")

	w.approves(ada, second)
	newest := w.inStaging("1.3.0")
	_, err = w.asks(newest, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is approved")
	w.is(second, promotion.StateOpen)
	same(w, "open promotions of prod", w.count("SELECT count(*) FROM promotions p JOIN targets t ON t.id = p.target_id WHERE t.environment = 'prod' AND p.state = 'open'"), 1)
}

// Main is not looked at between the merge and the second request, which would take the merge for its own.
func TestWhatWasMergedAMomentAgoIsNotPromotedAgain(t *testing.T) {
	w := newWorld(t)
	older := w.inStaging("1.0.9")
	id := w.approvedAtProd("1.1.0")
	first := w.promotion(id)
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	w.advance(id)
	w.is(id, promotion.StateMerged)

	_, err = w.asks(first.Release, "prod")
	w.contains("the refusal", w.refused(err, "already-current").Message, fmt.Sprintf("promotion %d", id), "nothing to promote")
	_, err = w.asks(older, "prod")
	w.must(err)
	_, err = w.asks(first.Release, "prod") // which would replace the older one
	w.refused(err, "already-current")
	w.settle()
	_, err = w.asks(first.Release, "prod")
	w.refused(err, "already-current")
	same(w, "violations", w.count("SELECT count(*) FROM violations"), 0)
}

func TestWhatIsThereAlreadyIsNotPromoted(t *testing.T) {
	w := newWorld(t)
	r := w.inStaging("1.1.0")
	_, err := w.asks(r, "staging")
	w.contains("the refusal", w.refused(err, "already-current").Message, "nothing to promote")
	for name, test := range map[string]struct {
		request promotion.PromoteRequest
		code    string
	}{
		"no such environment": {promotion.PromoteRequest{Application: "web", Environment: "qa", Release: "1.1.0"}, "unknown-target"},
		"no such application": {promotion.PromoteRequest{Application: "webb", Environment: "prod", Release: "1.1.0"}, "unknown-target"},
		"no such version":     {promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "9.9.9"}, "unknown-release"},
		"no such id":          {promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "999999"}, "unknown-release"},
		"nothing said":        {promotion.PromoteRequest{Application: "web", Environment: "prod"}, "missing-release"},
	} {
		_, err := w.service.Promote(w.Context(), rita, test.request)
		t.Log(name)
		w.refused(err, test.code)
	}
	for _, by := range []promotion.Actor{ci, ada, vera} {
		_, err := w.service.Promote(w.Context(), by, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "1.1.0"})
		w.refused(err, "forbidden")
	}
}
