package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Whatever brings a promotion's content to main is its merge: what main contains tells, not who did it.
func TestAMergeByPlainGitIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		merge func(c *prhosttest.Clone, branch string) (sha string)
		by    string
	}{
		"merge commit": {func(c *prhosttest.Clone, branch string) string {
			return c.MergeByHand(branch, "--no-ff", "-m", "by hand")
		}, "rita"},
		"fast-forward": {func(c *prhosttest.Clone, branch string) string { return c.MergeByHand(branch, "--ff-only") }, "rita"},
		"main merged into the branch": {func(c *prhosttest.Clone, branch string) string {
			head := c.Git("rev-parse", "origin/"+branch)
			c.Commit("main", "origin/main", "notes.txt", "meanwhile\n")
			c.Git("push", "--quiet", "origin", "main")
			c.Git("checkout", "--quiet", "-B", "work", "origin/"+branch)
			c.Git("merge", "--quiet", "--no-ff", "-m", "main into the branch", "main")
			c.Git("push", "--quiet", "origin", "work:main")
			return head // the first commit of main's first-parent history that holds it
		}, "rita"},
		"merged and the branch deleted": {func(c *prhosttest.Clone, branch string) string {
			c.Git("checkout", "--quiet", "-B", "main", "origin/main")
			c.Git("merge", "--quiet", "--no-ff", "-m", "by hand", "origin/"+branch)
			c.Git("push", "--quiet", "origin", "main", ":"+branch)
			return c.Git("rev-parse", "HEAD")
		}, "rita"},
		"squash": {func(c *prhosttest.Clone, branch string) string {
			c.Git("checkout", "--quiet", "-B", "main", "origin/main")
			c.Git("merge", "--quiet", "--squash", "origin/"+branch)
			c.Git("commit", "--quiet", "--message", "squashed by hand")
			c.Git("push", "--quiet", "origin", "main")
			return c.Git("rev-parse", "HEAD")
		}, "Pat Person"},
		"rebase": {func(c *prhosttest.Clone, branch string) string {
			c.Commit("main", "origin/main", "notes.txt", "meanwhile\n")
			c.Git("cherry-pick", "origin/"+branch)
			c.Git("push", "--quiet", "origin", "main")
			return c.Git("rev-parse", "HEAD")
		}, "Sluice"}, // as the commit says: nothing else tells
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			id := w.atProd("1.1.0") // and nobody has approved it
			branch := w.promotion(id).Branch
			w.clone().Git("fetch", "--quiet", "origin")

			sha := test.merge(w.clone(), branch)
			w.settle()
			w.pass(30 * time.Second) // the host may yet say who merged: a squash or a rebase it does not know

			w.is(id, promotion.StateMerged)
			p := w.promotion(id)
			same(w, "merge", p.MergeSHA, sha)
			w.contains("merged by", p.MergedBy, test.by)
			if state := w.pullRequest(id).State; state == promotion.PullRequestOpen {
				t.Errorf("the pull request is still %s", state)
			}
			same(w, "branch", w.clone().Remote(branch), "")
			messages := w.texts("SELECT actor || ': ' || message FROM audit_events WHERE promotion_id = $1 AND action = 'violation.merged'", id)
			same(w, "violations", len(messages), 1)
			w.contains("the violation", messages[0], test.by, "approvals", "0 of 1")
			same(w, "release of prod", w.desired("web", "prod").ReleaseID, p.Release.ID)
			same(w, "verdict on the content to sync", w.gate(id, promotion.PhaseSync, promotion.GateContent).Verdict, promotion.Pass)
		})
	}
}

// A host that squashes or rebases writes the commit itself, and main may show it before the host says who pressed the button.
func TestTheHostMayNameWhoMergedAfterMain(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	c, branch := w.clone(), w.promotion(id).Branch
	c.Git("fetch", "--quiet", "origin")
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	c.Git("merge", "--quiet", "--squash", "origin/"+branch)
	c.Git("commit", "--quiet", "--message", "squashed")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()
	w.is(id, promotion.StateOpen)
	w.contains("what it waits for", w.promotion(id).WaitsFor, "main has its content", "who merged it")
	w.approves(rita, id)
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	w.settle()
	same(w, "main", c.Remote("main"), c.Git("rev-parse", "HEAD")) // nothing is merged a second time
	w.is(id, promotion.StateOpen)
	w.pass(30 * time.Second)
	w.is(id, promotion.StateMerged)
	w.contains("merged by", w.promotion(id).MergedBy, "Pat Person")
}

func TestAMergeByHandThatNoGateHeldIsNoViolation(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	sha := w.clone().MergeByHand(w.promotion(id).Branch, "--no-ff", "-m", "by hand")
	w.settle()
	w.is(id, promotion.StateMerged)
	same(w, "merge", w.promotion(id).MergeSHA, sha)
	same(w, "violations", strings.Count(strings.Join(w.audited(id), " "), "violation"), 0)
}

func TestMainsRevisionNamesThePromotionThatWasMergedByHand(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	sha := w.clone().MergeByHand(w.promotion(id).Branch, "--no-ff", "-m", "by hand")
	w.settle()
	revision := w.desired("web", "prod")
	same(w, "commit", revision.Commit.SHA, sha)
	same(w, "promotion", revision.PromotionID, id)
}

func TestTheSameContentPushedToMainIsTheMerge(t *testing.T) {
	w := newWorld(t)
	r := w.inDev("1.1.0")
	id := w.promotes(r, "prod") // not verified in staging: no pull request
	w.is(id, promotion.StateRequested)
	old := digestIn(w.desired("web", "prod").Images[0].Reference)
	sha := w.edits(overlay("web", "prod"), old, r.Artifacts[0].Digest)

	w.is(id, promotion.StateMerged)
	p := w.promotion(id)
	same(w, "merge", p.MergeSHA, sha)
	w.contains("merged by", p.MergedBy, "Pat Person")
	w.contains("the audit", strings.Join(w.audited(id), " "), "violation.merged")
}

// The second lock: what nobody approved may be on main, but Sluice does not bring it to prod.
func TestAMergeThatNobodyApprovedIsNotSynced(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", healthy)
	id := w.atProd("1.1.0")
	w.clone().MergeByHand(w.promotion(id).Branch, "--no-ff", "-m", "by hand")
	w.settle()
	w.is(id, promotion.StateMerged)
	same(w, "syncs", len(w.cluster.syncs), 0)
	w.contains("what it waits for", w.promotion(id).WaitsFor, "sync is held", "approv")
	w.approves(rita, id)
	same(w, "syncs after the requester's own approval", len(w.cluster.syncs), 0)
	w.approves(ada, id)
	same(w, "syncs after another person's", len(w.cluster.syncs), 1)
}

func TestAMergeOfWhatWasRejectedIsAViolation(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "reject", Comment: "not before the fix"})
	w.must(err)
	w.clone().MergeByHand(w.promotion(id).Branch, "--no-ff", "-m", "all the same")
	w.settle()
	w.is(id, promotion.StateMerged)
	messages := w.texts("SELECT message FROM audit_events WHERE promotion_id = $1 AND action = 'violation.merged'", id)
	same(w, "violations", len(messages), 1)
	w.contains("the violation", messages[0], "rejected")
}

// A person changes more in the merge commit than was approved.
func TestAMergeThatRendersSomethingElseIsNotSynced(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", healthy)
	id := w.approvedAtProd("1.1.0")
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	c.Git("merge", "--quiet", "--no-ff", "--no-commit", "origin/"+w.promotion(id).Branch)
	c.Write("apps/web/base/configmap.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  LOG_LEVEL: trace\n")
	c.Git("commit", "--quiet", "--all", "-m", "by hand, and a bit more")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()

	w.is(id, promotion.StateMerged)
	gate := w.gate(id, promotion.PhaseSync, promotion.GateContent)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "something else than what was recorded and approved")
	same(w, "syncs", len(w.cluster.syncs), 0)
	_, err := w.service.Sync(w.Context(), rita, id)
	w.refused(err, "sync-refused")
}

func TestAPushToThePullRequestsBranchBlocksTheMerge(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	p := w.promotion(id)
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	pushed := c.Commit("work", "origin/"+p.Branch, "notes.txt", "sneaked in\n")
	c.Git("push", "--quiet", "origin", "work:"+p.Branch)
	w.lookAtEverything()

	w.is(id, promotion.StateOpen)
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateContent)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, pushed[:10], "somebody pushed to the branch")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
	_, err = w.host.Repository(repository).Merge(w.Context(), p.Number, pushed, "at the host", rita, "")
	if err == nil {
		t.Error("the host merges a head that Sluice never judged")
	}
	w.edits("apps/web/base/configmap.yaml", "LOG_LEVEL: info", "LOG_LEVEL: debug")
	same(w, "the branch, which is never written over", c.Remote(p.Branch), pushed)

	_, err = w.service.Cancel(w.Context(), rita, id, "not as agreed")
	w.must(err)
	w.settle()
	same(w, "pull request", w.pullRequest(id).State, promotion.PullRequestClosed)
	same(w, "branch", c.Remote(p.Branch), "")
	w.is(w.promotes(p.Release, "prod"), promotion.StateOpen)
}

// A push only says "look now": the periodic look is for what no event told of.
func TestAPushToThePullRequestsBranchIsSeenAtOnce(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	c.Commit("work", "origin/"+w.promotion(id).Branch, "notes.txt", "sneaked in\n")
	c.Git("push", "--quiet", "origin", "work:"+w.promotion(id).Branch)
	w.settle()
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateContent).Verdict, promotion.Block)
}
