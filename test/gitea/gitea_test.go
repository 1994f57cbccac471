//go:build peers

package gitea_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

func TestOnRealGitea(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	everything := func(map[string][]byte) {}
	for name, scene := range map[string]struct {
		edit func(files map[string][]byte)
		play func(*world)
	}{
		"from CI's post to live":                  {everything, (*world).fromPostToLive},
		"a person's own pull request":             {onlyProd, (*world).somebodyChangesProd},
		"a pull request that changes nothing":     {onlyProd, (*world).somebodyWritesDocs},
		"a closed window":                         {neverOpen, (*world).windowIsClosed},
		"reviews that count and do not":           {onlyProd, (*world).peopleReview},
		"a commit on Sluice's branch":             {onlyProd, (*world).somebodyAddsACommit},
		"a person closes the pull request":        {onlyProd, (*world).somebodyCloses},
		"a merge by rebase":                       {onlyProd, (*world).somebodyRebases},
		"a newer release takes the older's place": {onlyProd, (*world).newerReleaseSupersedes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scene.play(newWorld(t, o, scene.edit))
		})
	}
}

func (w *world) fromPostToLive() {
	out := w.posts("1.1.0")
	dev := w.becomes(out.Promotions[0].ID, promotion.StateMerged)
	if by := w.pullRequest(dev.Number).MergedBy; by == nil || by.UserName != realgitea.Bot {
		w.Errorf("dev's pull request was merged by %+v", by)
	}
	w.rollsOut(dev.ID, true)
	staging := w.promotes(out.Releases[0], "staging")
	w.becomes(staging, promotion.StateMerged)
	w.rollsOut(staging, true)

	w.sees("prod", func(*promotion.Observation) {})
	prod := w.becomes(w.promotes(out.Releases[0], "prod"), promotion.StateOpen)
	w.turns(prod.Number, "pending")
	w.refusesToMerge(prod.Number)
	w.reviews("ada", prod.Number, gitea.ReviewStateApproved)
	w.turns(prod.Number, "success")
	w.repo.Buttons().Merge(w.T, prod.Number, "merge")
	prod = w.becomes(prod.ID, promotion.StateMerged)
	if prod.MergedBy != realgitea.Person || prod.MergeSHA != w.clone.Remote(realgitea.Main) {
		w.Errorf("merged by %s as %s", prod.MergedBy, prod.MergeSHA)
	}
	w.eventually("a sync is asked for", func() bool { return len(w.cluster.asked()) > 0 })
	if sync := w.cluster.asked()[0]; sync.PromotionID != prod.ID || sync.Revision != prod.MergeSHA {
		w.Errorf("the sync asked for is %+v", sync)
	}
	w.rollsOut(prod.ID, false)
	w.gone(prod.Branch)
	if !w.audited(prod.ID, "ada", "promotion.approved") || !w.audited(prod.ID, realgitea.Person, "promotion.merged") || w.violations() > 0 {
		w.Error("the audit does not say who approved and who merged, or speaks of a violation")
	}
}

// moreReplicas has pat open a pull request that changes what prod runs.
func (w *world) moreReplicas(count string) (number int) {
	w.Helper()
	old := w.clone.Git("show", "origin/main:"+overlay("prod"))
	w.clone.Push("more-replicas", overlay("prod"), strings.Replace(old, "count: 4", "count: "+count, 1)+"\n")
	return w.repo.Buttons().Open(w.T, "more-replicas")
}

func (w *world) somebodyChangesProd() {
	number := w.moreReplicas("5")
	p := w.change(number)
	if p.Kind != promotion.KindChange || p.RequestedBy != realgitea.Person || p.Target.Environment != "prod" {
		w.Errorf("the promotion is %s to %s by %s", p.Kind, p.Target.Environment, p.RequestedBy)
	}
	w.turns(number, "pending")
	w.refusesToMerge(number)
	w.reviews("vera", number, gitea.ReviewStateApproved)
	w.refusesToMerge(number)
	w.reviews("ada", number, gitea.ReviewStateApproved)
	w.turns(number, "success")

	w.handled(number, func() { w.moreReplicasAgain() })
	w.turns(number, "pending") // what ada saw was something else
	w.refusesToMerge(number)
	w.reviews("ada", number, gitea.ReviewStateApproved)
	w.turns(number, "success")
	w.repo.Buttons().Merge(w.T, number, "squash")
	p = w.becomes(p.ID, promotion.StateMerged)
	if p.MergedBy != realgitea.Person || p.MergeSHA != w.clone.Remote(realgitea.Main) {
		w.Errorf("merged by %s as %s", p.MergedBy, p.MergeSHA)
	}
	if all := w.comments(number); len(all) != 1 || !strings.Contains(all[0], "replicas") {
		w.Errorf("the comments are %q", all)
	}
	if w.violations() > 0 {
		w.Error("it counts as a violation")
	}
}

// moreReplicasAgain has pat push another change to the same branch.
func (w *world) moreReplicasAgain() {
	w.Helper()
	old := w.clone.Git("show", "origin/main:"+overlay("prod"))
	w.clone.Push("more-replicas", overlay("prod"), strings.Replace(old, "count: 4", "count: 50", 1)+"\n")
}

func (w *world) somebodyWritesDocs() {
	w.clone.Push("docs", "docs/on-call.md", "# On call\n")
	number := w.repo.Buttons().Open(w.T, "docs")
	w.turns(number, "success")
	w.repo.Buttons().Merge(w.T, number, "merge")
	if all := w.comments(number); len(all) > 0 {
		w.Errorf("the comments are %q", all)
	}
}

// neverOpen has prod wait for a window that is half a year away.
func neverOpen(files map[string][]byte) {
	onlyProd(files)
	day := time.Now().AddDate(0, 6, 0)
	files["sluice.yaml"] = fmt.Appendf(nil, `version: 1
windows:
- {name: twice a year, kind: allow, schedule: "0 10 1 %d *", duration: 1h, timezone: UTC, environments: [prod]}
`, day.Month())
}

func (w *world) windowIsClosed() {
	p := w.opens("1.1.0")
	w.reviews("ada", p.Number, gitea.ReviewStateApproved)
	w.holds(p.ID, promotion.GateApprovals, promotion.Pass, "ada")
	w.holds(p.ID, promotion.GateSyncWindow, promotion.Wait, "")
	w.turns(p.Number, "pending")
	w.refusesToMerge(p.Number)

	now := time.Now()
	_, err := w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindWindow, Reason: "just this once", Owner: "ops",
		StartsAt: now, EndsAt: now.Add(6 * time.Hour)})
	w.must(err)
	w.turns(p.Number, "success")
	z, err := w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindFreeze, Reason: "the big sale", Owner: "ops",
		StartsAt: now, EndsAt: now.Add(time.Hour)})
	w.must(err)
	w.turns(p.Number, "pending")
	w.refusesToMerge(p.Number)
	w.must(w.service.Thaw(w.Context(), rita, z.ID))
	w.turns(p.Number, "success")
	w.repo.Buttons().Merge(w.T, p.Number, "squash")
	if p = w.becomes(p.ID, promotion.StateMerged); p.MergedBy != realgitea.Person || w.violations() > 0 {
		w.Errorf("merged by %s, with %d violations", p.MergedBy, w.violations())
	}
}

func (w *world) peopleReview() {
	p := w.opens("1.1.0")
	for _, name := range []string{"rita", "vera"} { // who asked for it, and who has no role
		w.reviews(name, p.Number, gitea.ReviewStateApproved)
		w.holds(p.ID, promotion.GateApprovals, promotion.Wait, "0 of 1")
	}
	w.reviews("vera", p.Number, gitea.ReviewStateRequestChanges)
	w.holds(p.ID, promotion.GateApprovals, promotion.Wait, "0 of 1")
	w.reviews("ada", p.Number, gitea.ReviewStateRequestChanges)
	w.holds(p.ID, promotion.GateApprovals, promotion.Block, "ada asked for changes")
	w.turns(p.Number, "failure")
	w.refusesToMerge(p.Number)
	w.reviews("ada", p.Number, gitea.ReviewStateApproved)
	w.holds(p.ID, promotion.GateApprovals, promotion.Pass, "approved by ada")
	w.turns(p.Number, "success")
	w.reviews("ada", p.Number, gitea.ReviewStateRequestChanges)
	w.turns(p.Number, "failure")
	w.refusesToMerge(p.Number)
}

func (w *world) somebodyAddsACommit() {
	p := w.opens("1.1.0")
	w.reviews("ada", p.Number, gitea.ReviewStateApproved)
	w.turns(p.Number, "success")
	w.handled(p.Number, func() {
		w.clone.Git("fetch", "--quiet", "origin")
		w.clone.Commit(p.Branch, "origin/"+p.Branch, "docs/on-call.md", "# On call\n")
		w.clone.Git("push", "--quiet", "origin", p.Branch)
	})
	w.holds(p.ID, promotion.GateContent, promotion.Block, "somebody pushed to the branch")
	w.refusesToMerge(p.Number)
	_, err := w.service.Cancel(w.Context(), rita, p.ID, "somebody pushed to it")
	w.must(err)
	w.gone(p.Branch)
	if state := w.pullRequest(p.Number).State; state != gitea.StateClosed {
		w.Errorf("the pull request is %s", state)
	}
}

func (w *world) somebodyCloses() {
	p := w.opens("1.1.0")
	w.repo.Buttons().Close(w.T, p.Number)
	p = w.becomes(p.ID, promotion.StateCancelled)
	if p.DecidedBy != realgitea.Person || !w.audited(p.ID, realgitea.Person, "promotion.closed") {
		w.Errorf("cancelled by %s", p.DecidedBy)
	}
	w.gone(p.Branch)
}

func (w *world) newerReleaseSupersedes() {
	older := w.opens("1.1.0")
	newer := w.opens("1.2.0")
	if older = w.becomes(older.ID, promotion.StateSuperseded); older.SupersededBy != newer.ID {
		w.Errorf("superseded by %d", older.SupersededBy)
	}
	w.gone(older.Branch)
	link := fmt.Sprintf("%s/promotions/%d", publicURL, newer.ID)
	if all := w.comments(older.Number); len(all) != 1 || !strings.Contains(all[0], link) {
		w.Errorf("the comments are %q, want one with %s", all, link)
	}
	if state := w.pullRequest(older.Number).State; state != gitea.StateClosed {
		w.Errorf("the older pull request is %s", state)
	}
	if state := w.pullRequest(newer.Number).State; state != gitea.StateOpen {
		w.Errorf("the newer pull request is %s", state)
	}
}

// A rebase of one commit on today's main moves main to the very commit that Sluice wrote. Gitea does not tell such a merge from
// a branch that was set back, so that main says it first, and main does not know who pressed the button: the host does, a moment later.
func (w *world) somebodyRebases() {
	p := w.opens("1.1.0")
	w.reviews("ada", p.Number, gitea.ReviewStateApproved)
	w.turns(p.Number, "success")
	w.repo.Buttons().Merge(w.T, p.Number, "rebase")
	p = w.becomes(p.ID, promotion.StateMerged)
	if p.MergeSHA != w.clone.Remote(realgitea.Main) || w.violations() > 0 {
		w.Errorf("merged as %s, with %d violations", p.MergeSHA, w.violations())
	}
	if p.MergedBy != realgitea.Person {
		w.Errorf("merged by %q", p.MergedBy)
	}
	w.gone(p.Branch)
}
