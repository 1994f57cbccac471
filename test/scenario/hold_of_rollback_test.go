package scenario_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// heldBack is a rollback of prod that is under way, and the release that policy would have promoted there meanwhile.
func heldBack(t *testing.T) (*world, promotion.Promotion, promotion.Release) {
	w := newProdWorld(t)
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	w.byThemselves("prod")
	p := w.startsBack(back("prod", "1.1.0"))
	r := w.released("1.3.0", "web")
	w.settle()
	w.is(p.ID, promotion.StateOpen)
	w.startedNothing()
	return w, p, r
}

func (w *world) holdsProd() []promotion.Hold {
	w.Helper()
	holds, err := w.service.Store.HoldsOf(w.Context(), w.target("web", "prod").ID)
	w.must(err)
	return holds
}

// started: the hold is over, and what policy held back is under way.
func (w *world) started(r promotion.Release, why string) {
	w.Helper()
	same(w, "holds", len(w.holdsProd()), 0)
	p := w.promotion(w.newest("web", "prod"))
	same(w, "what started", p.Release.ID, r.ID)
	same(w, "who asked", p.RequestedBy, promotion.Sluice().Name)
	same(w, "state", p.State(), promotion.StateOpen)
	w.contains("why", p.Reason, "every new release goes to prod", "held back until", why)
	same(w, "kept after it", w.count("SELECT count(*) FROM missed_promotions"), 0)
	same(w, "end of the hold in the audit", w.count("SELECT count(*) FROM audit_events WHERE action = 'hold.ended' AND environment = 'prod'"), 1)
}

func (w *world) startedNothing() {
	w.Helper()
	same(w, "what policy started", w.count("SELECT count(*) FROM promotions WHERE requested_by = 'sluice'"), 0)
}

func TestAnAbandonedRollbacksHoldEndsWithIt(t *testing.T) {
	ends := map[string]func(*world, promotion.Promotion){
		"cancelled": func(w *world, p promotion.Promotion) {
			_, err := w.service.Cancel(w.Context(), rita, p.ID, "it was the network")
			w.must(err)
		},
		"rejected": func(w *world, p promotion.Promotion) {
			_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: p.ID, Decision: "reject", Comment: "not now"})
			w.must(err)
		},
		"rejected with its release": func(w *world, p promotion.Promotion) {
			_, err := w.service.RejectRelease(w.Context(), rita, p.Release.ID, "it loses orders too")
			w.must(err)
		},
		"closed at the host": func(w *world, p promotion.Promotion) {
			w.must(w.host.Close(w.Context(), repository, p.Number, "no", otto))
			w.lookAtEverything()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w, p, r := heldBack(t)
			end(w, p)
			w.settle()
			over := w.promotion(p.ID)
			w.started(r, string(over.State()))
		})
	}
}

// What goes back still further takes the hold on, and with it what was held back.
func TestAnotherRollbackTakesTheHoldOn(t *testing.T) {
	w := newProdWorld(t)
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	w.verifiedInProd("1.3.0")
	w.byThemselves("prod")
	first := w.startsBack(back("prod", "1.2.0"))
	r := w.released("1.4.0", "web")
	second := w.startsBack(back("prod", "1.1.0"))
	w.is(first.ID, promotion.StateSuperseded)
	same(w, "the hold is of", w.holdsProd()[0].Rollback, second.ID)
	w.startedNothing()
	_, err := w.service.Cancel(w.Context(), rita, second.ID, "it was the network")
	w.must(err)
	w.settle()
	same(w, "holds", len(w.holdsProd()), 0)
	same(w, "what started", w.promotion(w.newest("web", "prod")).Release.ID, r.ID)
}

// A newer release that a person asks for instead is not held by what it replaces.
func TestAReleaseInTheRollbacksPlaceIsNotHeld(t *testing.T) {
	w, p, r := heldBack(t)
	id := w.promotes(r, "prod")
	w.is(p.ID, promotion.StateSuperseded)
	same(w, "holds", len(w.holdsProd()), 0)
	same(w, "hold", w.gate(id, promotion.PhaseMerge, promotion.GateHold).Verdict, promotion.Pass)
	w.startedNothing()
}

func TestAMergedRollbackKeepsItsHoldUntilSomebodyResumes(t *testing.T) {
	w, p, r := heldBack(t)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.verifies(p.ID)
	same(w, "the hold is of", w.holdsProd()[0].Rollback, p.ID)
	w.startedNothing()
	w.must(w.service.Resume(w.Context(), rita, promotion.HoldRequest{Application: "web", Environment: "prod"}))
	w.settle()
	w.started(r, "rita resumed it")
}

func TestAMergedRollbackKeepsItsHoldWhenTheNextIsAbandoned(t *testing.T) {
	w := newProdWorld(t)
	w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	w.verifiedInProd("1.3.0")
	w.byThemselves("prod")
	p := w.startsBack(back("prod", "1.2.0"))
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.verifies(p.ID)
	further := w.startsBack(back("prod", "1.1.0"))
	_, err := w.service.Cancel(w.Context(), rita, further.ID, "rather not")
	w.must(err)
	w.settle()
	same(w, "the hold is of", w.holdsProd()[0].Rollback, p.ID)
}

// Whoever merges past the decision brings the rollback to main: the target is held again.
func TestARollbackThatIsMergedAlthoughItWasCancelledHolds(t *testing.T) {
	w, p, _ := heldBack(t)
	_, err := w.service.Cancel(w.Context(), rita, p.ID, "rather not")
	w.must(err)
	same(w, "holds", len(w.holdsProd()), 0)
	w.clone().MergeByHand(p.Branch)
	w.lookAtEverything()
	w.is(p.ID, promotion.StateMerged)
	same(w, "the hold is of", w.holdsProd()[0].Rollback, p.ID)
}

func TestAPersonsOwnHoldIsNotLiftedWithARollback(t *testing.T) {
	hold := promotion.HoldRequest{Application: "web", Environment: "prod", Reason: "an audit"}
	for name, holds := range map[string]func(w *world) promotion.Promotion{
		"held meanwhile": func(w *world) promotion.Promotion {
			p := w.startsBack(back("prod", "1.1.0"))
			w.must(w.service.Hold(w.Context(), rita, hold))
			return p
		},
		"held before": func(w *world) promotion.Promotion {
			w.must(w.service.Hold(w.Context(), rita, hold))
			return w.startsBack(back("prod", "1.1.0"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.verifiedInProd("1.1.0")
			w.verifiedInProd("1.2.0")
			w.byThemselves("prod")
			p := holds(w)
			w.released("1.3.0", "web")
			_, err := w.service.Cancel(w.Context(), rita, p.ID, "it was the network")
			w.must(err)
			w.settle()
			same(w, "holds", len(w.holdsProd()), 1)
			same(w, "why", w.holdsProd()[0].Reason, "an audit")
			w.startedNothing()
			w.must(w.service.Resume(w.Context(), rita, hold))
			same(w, "holds when resumed", len(w.holdsProd()), 0)
		})
	}
}
