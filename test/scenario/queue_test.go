package scenario_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// queuing is a world of prod alone, where what is newer waits its turn.
func queuing(t *testing.T, edit ...string) *world {
	policy := "version: 1\nenvironments:\n  prod:\n    when_newer: queue\n"
	for _, line := range edit {
		policy += "    " + line + "\n"
	}
	return newWorldOf(t, func(files map[string][]byte) {
		onlyProd(files)
		files["sluice.yaml"] = []byte(policy)
	})
}

// queued asks for versions of web in prod, one after the other.
func (w *world) queued(versions ...string) (ids []int64) {
	w.Helper()
	for _, v := range versions {
		ids = append(ids, w.promotes(w.released(v, "web"), "prod"))
	}
	return ids
}

func (w *world) turns(want int64) {
	w.Helper()
	same(w, "promotions of prod that have their turn", w.count("SELECT count(*) FROM promotions WHERE behind IS NULL AND decision = 'requested' AND pull_request IN ('none', 'open')"), 1)
	same(w, "whose turn it is", int64(w.count("SELECT max(id) FROM promotions WHERE behind IS NULL AND decision = 'requested' AND pull_request IN ('none', 'open')")), want)
}

func TestWhatIsNewerWaitsItsTurn(t *testing.T) {
	w := queuing(t)
	ids := w.queued("1.1.0", "1.2.0")
	plan, err := w.service.Plan(w.Context(), promotion.PlanRequest{Application: "web", Environment: "prod", Release: fmt.Sprint(w.released("1.3.0", "web").ID)})
	w.must(err)
	w.contains("the plan", plan.Waits, "in the queue", fmt.Sprintf("behind promotion %d (1.2.0)", ids[1]))
	same(w, "behind", plan.Behind, ids[1])
	p, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "1.3.0", Reason: "next"})
	w.must(err)
	w.settle()
	ids = append(ids, p.ID)

	w.turns(ids[0])
	w.is(ids[0], promotion.StateOpen)
	for i, id := range ids[1:] {
		w.is(id, promotion.StateRequested)
		same(w, "behind", w.promotion(id).Behind, ids[i])
		w.contains("what it waits for", w.promotion(id).WaitsFor, fmt.Sprintf("place %d of the queue", i+1), fmt.Sprintf("behind promotion %d", ids[i]))
		same(w, "branch", w.promotion(id).HeadSHA, "")
	}
	same(w, "asked for again", w.promotes(w.promotion(ids[1]).Release, "prod"), ids[1])

	for i, id := range ids { // each goes out, and none is passed over
		w.turns(id)
		w.is(id, promotion.StateOpen)
		w.approves(ada, id)
		w.merges(rita, id)
		w.lookAtEverything()
		w.verifies(id)
		if i < 2 {
			w.contains("the audit of the next", fmt.Sprint(w.audited(ids[i+1])), "promotion.moved-up")
		}
	}
	same(w, "superseded", w.count("SELECT count(*) FROM promotions WHERE state = 'superseded'"), 0)
	same(w, "violations", w.count("SELECT count(*) FROM violations"), 0)
}

func TestTheQueueCloses(t *testing.T) {
	for name, test := range map[string]struct {
		end func(*world, []int64)
		now int // whose turn it is
	}{
		"over the first, cancelled": {func(w *world, ids []int64) {
			_, err := w.service.Cancel(w.Context(), rita, ids[0], "no")
			w.must(err)
		}, 1},
		"over the second, cancelled": {func(w *world, ids []int64) {
			_, err := w.service.Cancel(w.Context(), rita, ids[1], "no")
			w.must(err)
			w.settle()
			same(w, "third behind the first", w.promotion(ids[2]).Behind, ids[0])
			w.contains("what the third waits for", w.promotion(ids[2]).WaitsFor, "place 1")
		}, 0},
		"over both, cancelled at once": {func(w *world, ids []int64) {
			for _, id := range ids[:2] {
				_, err := w.service.Cancel(w.Context(), rita, id, "no")
				w.must(err)
			}
		}, 2},
		"over a rejected release": {func(w *world, ids []int64) {
			_, err := w.service.RejectRelease(w.Context(), rita, w.promotion(ids[0]).Release.ID, "it leaks")
			w.must(err)
		}, 1},
		"over the first, rejected": {func(w *world, ids []int64) {
			_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: ids[0], Decision: "reject", Comment: "no"})
			w.must(err)
		}, 1},
		"while no server runs": {func(w *world, ids []int64) {
			_, err := w.service.Cancel(w.Context(), rita, ids[0], "no")
			w.must(err)
			w.restarts()
			w.lookAtEverything()
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := queuing(t)
			ids := w.queued("1.1.0", "1.2.0", "1.3.0")
			test.end(w, ids)
			w.settle()
			w.turns(ids[test.now])
			w.is(ids[test.now], promotion.StateOpen)
			same(w, "the last of the queue, asked for again", w.promotes(w.promotion(ids[2]).Release, "prod"), ids[2])
		})
	}
}

// Between the end of the one before and the next look nobody has the turn. Who comes then goes to the end all the same.
func TestNobodyJumpsTheQueue(t *testing.T) {
	w := queuing(t)
	ids := w.queued("1.1.0", "1.2.0")
	_, err := w.service.Cancel(w.Context(), rita, ids[0], "no")
	w.must(err)
	p, err := w.asks(w.released("1.3.0", "web"), "prod")
	w.must(err)
	same(w, "behind", p.Behind, ids[1])
	w.settle()
	w.turns(ids[1])
}

func TestARollbackEndsTheQueue(t *testing.T) {
	for name, cancelled := range map[string]bool{"a queue": false, "a queue between two turns": true} {
		t.Run(name, func(t *testing.T) {
			w := queuing(t)
			w.verifiedInProd("1.0.1")
			w.verifiedInProd("1.0.2")
			ids := w.queued("1.1.0", "1.2.0", "1.3.0")
			waiting := ids
			if cancelled {
				_, err := w.service.Cancel(w.Context(), rita, ids[0], "no")
				w.must(err)
				waiting = ids[1:]
			}
			p := w.startsBack(back("prod", "1.0.1"))
			w.is(p.ID, promotion.StateOpen)
			for _, id := range waiting {
				w.is(id, promotion.StateSuperseded)
				same(w, "superseded by", w.promotion(id).SupersededBy, p.ID)
			}
			w.turns(p.ID)
		})
	}
}

func TestWhatDoesNotWaitInAQueue(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		files[overlay("web", "prod-us")] = files[overlay("web", "prod")]
		onlyProd(files)
		files["sluice.yaml"] = []byte("version: 1\nenvironments:\n  prod*:\n    when_newer: queue\n")
	})
	older, newest := w.released("1.1.0", "web"), w.released("1.2.0", "web")
	first := w.promotes(newest, "prod")
	_, err := w.asks(older, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is the newer one")
	w.is(first, promotion.StateOpen)

	other := w.request("0.9.1", "web")
	other.Line = "0.9"
	w.is(w.promotes(w.posts(other).Releases[0], "prod"), promotion.StateRequested) // of another line: no supersede, but a turn
}

// A policy that has no queue any more: what is newer takes the place of all that wait, where it may.
func TestAQueueThatThePolicyNoLongerHas(t *testing.T) {
	w := queuing(t)
	ids := w.queued("1.1.0", "1.2.0")
	w.policies.change = func(_ promotion.Target, e *promotion.EnvironmentPolicy) { e.NewerWaits = false }
	newest := w.queued("1.3.0")[0]
	for _, id := range ids {
		w.is(id, promotion.StateSuperseded)
		same(w, "superseded by", w.promotion(id).SupersededBy, newest)
	}
	w.turns(newest)
}

// Every build goes to dev, each in its turn.
func TestAutomaticPromotionsQueue(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		files["sluice.yaml"] = []byte("version: 1\nenvironments:\n  dev:\n    when_newer: queue\n    approvals: {count: 1}\n    merge: manual\n")
	})
	var ids []int64
	for _, v := range []string{"1.1.0", "1.2.0", "1.3.0"} {
		out := w.posts(w.request(v, "web"))
		w.settle()
		ids = append(ids, out.Promotions[0].ID)
		w.pass(time.Second)
	}
	w.is(ids[0], promotion.StateOpen)
	same(w, "behind", w.promotion(ids[2]).Behind, ids[1])
	w.approves(ada, ids[0])
	w.merges(ada, ids[0])
	w.lookAtEverything()
	w.is(ids[1], promotion.StateOpen)
	w.is(ids[2], promotion.StateRequested)
}

// Whoever asks at the same instant gets a place or a refusal, and one has the turn, also while the one before ends.
func TestManyQueueAtTheSameInstant(t *testing.T) {
	w := queuing(t)
	first := w.queued("1.0.1")[0]
	var releases []promotion.Release
	for i := range 6 {
		releases = append(releases, w.released(fmt.Sprintf("1.1.%d", i), "web"))
	}
	errs := make(chan error, len(releases)+1)
	for _, r := range releases {
		go func() {
			_, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: r.Version, Reason: "now"})
			errs <- err
		}()
	}
	go func() {
		_, err := w.service.Cancel(w.Context(), rita, first, "no")
		errs <- err
	}()
	placed := 0
	for range len(releases) + 1 {
		if err := <-errs; err != nil {
			w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is the newer one")
			continue
		}
		placed++
	}
	w.settle()
	same(w, "open", w.count("SELECT count(*) FROM promotions WHERE state IN ('requested', 'open')"), placed-1)
	same(w, "with the turn", w.count("SELECT count(*) FROM promotions WHERE state = 'open' AND behind IS NULL"), 1)
	same(w, "places", w.count("SELECT count(DISTINCT behind) FROM promotions WHERE state = 'requested'"), placed-2)
}
