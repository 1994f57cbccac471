package scenario_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	standingAsked     = "promotion.standing-merge-asked"
	standingWithdrawn = "promotion.standing-merge-withdrawn"
)

// mergesWhenPassing has rita ask for the merge when the gates pass.
func (w *world) mergesWhenPassing(id int64) {
	w.Helper()
	_, err := w.service.MergeWhenPassing(w.Context(), rita, id, w.promotion(id).RenderedHash)
	w.must(err)
	w.settle()
}

// body is what a promotion's pull request says.
func (w *world) body(id int64) string {
	w.Helper()
	d, err := w.host.PullRequest(w.Context(), repository, w.promotion(id).Number)
	w.must(err)
	return d.Body
}

func (w *world) timesAudited(id int64, action string) int {
	w.Helper()
	return strings.Count(strings.Join(w.audited(id), "\n")+"\n", action+"\n")
}

func TestAMergeThatStandsWaitsForTheApproval(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	w.mergesWhenPassing(id)
	w.mergesWhenPassing(id) // no error, and nothing new
	w.is(id, promotion.StateOpen)
	wish := w.promotion(id).StandingMerge
	same(w, "who asked", wish.By, "rita")
	same(w, "with which roles", len(wish.Roles), len(rita.Roles))
	same(w, "for which content", wish.RenderedHash, w.promotion(id).RenderedHash)
	w.contains("the pull request", w.body(id), "rita asked for it to be merged when the gates pass")
	w.pass(26 * time.Hour)
	w.lookAtEverything()
	w.restarts()
	w.is(id, promotion.StateOpen)

	w.approves(ada, id)
	w.is(id, promotion.StateMerged)
	same(w, "merged by", w.promotion(id).MergedBy, "rita")
	same(w, "wishes in the audit", w.timesAudited(id, standingAsked), 1)
	same(w, "withdrawals in the audit", w.timesAudited(id, standingWithdrawn), 0)
	_, err := w.service.WithdrawMergeWhenPassing(w.Context(), rita, id)
	w.contains("the refusal", w.refused(err, "not-open").Message, "merged already")
	w.everyChangeIsAudited()
}

// A gate that closes again does not end the wish, as it does that of the moment.
func TestAMergeThatStandsOutlivesAWindow(t *testing.T) {
	w := newProdWorld(t)
	opens := start.Add(3 * time.Hour)
	w.policies.window = func(_ promotion.Target, at time.Time) promotion.WindowDecision {
		d := promotion.WindowDecision{Open: !at.Before(opens), Reason: "as the test says", By: "test"}
		if !d.Open {
			d.Next = opens
		}
		return d
	}
	id := w.approvedWhenever("1.1.0")
	w.mergesWhenPassing(id)
	w.is(id, promotion.StateOpen)
	w.pass(4 * time.Hour)
	w.is(id, promotion.StateMerged)
	same(w, "merged by", w.promotion(id).MergedBy, "rita")
}

func TestAMergeThatWasWithdrawnIsNotDone(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	w.mergesWhenPassing(id)
	_, err := w.service.WithdrawMergeWhenPassing(w.Context(), ada, id)
	w.must(err)
	w.settle()
	_, err = w.service.WithdrawMergeWhenPassing(w.Context(), ada, id) // there is none
	w.must(err)
	same(w, "withdrawals in the audit", w.timesAudited(id, standingWithdrawn), 1)
	if strings.Contains(w.body(id), "when the gates pass") {
		w.Errorf("the pull request still says so:\n%s", w.body(id))
	}
	w.approves(ada, id)
	w.lookAtEverything()
	w.is(id, promotion.StateOpen)
	w.contains("what it waits for", w.promotion(id).WaitsFor, "somebody merges")
	w.mergesWhenPassing(id) // every gate passes already
	w.is(id, promotion.StateMerged)
}

// The look that merges has begun when the wish is withdrawn.
func TestAMergeThatIsWithdrawnInsideTheMerge(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	_, err := w.service.MergeWhenPassing(w.Context(), rita, id, "")
	w.must(err)
	reached := false
	w.service.Checkpoint = func(boundary string) {
		if boundary == "merge:begun" && !reached {
			reached = true
			_, err := w.service.WithdrawMergeWhenPassing(w.Context(), rita, id)
			w.must(err)
		}
	}
	w.settle()
	same(w, "the merge's having begun", reached, true)
	w.is(id, promotion.StateOpen)
}

func TestAMergeThatStandsIsForTheContentThatWasSeen(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string
		stands   bool
	}{
		"the same file renders something else": {"count: 4", "count: 5", false},
		"the same file renders the same":       {"checked against last year's peak", "as agreed", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			id := w.atProd("1.1.0")
			seen := w.promotion(id).RenderedHash
			w.mergesWhenPassing(id)
			w.edits(overlay("web", "prod"), test.old, test.new)
			same(w, "the wish's standing", w.promotion(id).StandingMerge.By == "rita", test.stands)
			w.approves(ada, id)
			if test.stands {
				w.is(id, promotion.StateMerged)
				return
			}
			w.is(id, promotion.StateOpen)
			w.contains("the audit", strings.Join(w.texts("SELECT message FROM audit_events WHERE promotion_id = $1", id), "\n"),
				"no longer merged when the gates pass, as rita asked: it would now deploy something else")
			_, err := w.service.MergeWhenPassing(w.Context(), rita, id, seen)
			w.refused(err, "content-changed")
		})
	}
}

func TestAMergeThatStandsForAPersonsPullRequest(t *testing.T) {
	w := newWorld(t)
	pr := w.opens("more", overlay("web", "prod"), w.moreReplicas("prod", "5"))
	id := w.changes(pr.Number)[0].ID
	w.mergesWhenPassing(id)
	w.clone().Push("more", overlay("web", "prod"), w.moreReplicas("prod", "50"))
	w.settle()
	same(w, "who asked", w.promotion(id).StandingMerge.By, "")
	w.approves(ada, id)
	w.is(id, promotion.StateOpen)
	w.mergesWhenPassing(id)
	w.is(id, promotion.StateMerged)
}

func TestAMergeThatStandsEndsWithThePromotion(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	for _, by := range []promotion.Actor{vera, ci} {
		_, err := w.service.MergeWhenPassing(w.Context(), by, id, "")
		w.refused(err, "forbidden")
		_, err = w.service.WithdrawMergeWhenPassing(w.Context(), by, id)
		w.refused(err, "forbidden")
	}
	_, err := w.service.MergeWhenPassing(w.Context(), rita, 999999, "")
	w.refused(err, "unknown-promotion")

	w.mergesWhenPassing(id)
	_, err = w.service.Cancel(w.Context(), rita, id, "not this week")
	w.must(err)
	w.settle()
	same(w, "who asked", w.promotion(id).StandingMerge.By, "")
	same(w, "withdrawals in the audit", w.timesAudited(id, standingWithdrawn), 1)
	_, err = w.service.MergeWhenPassing(w.Context(), rita, id, "")
	w.refused(err, "not-open")
}
