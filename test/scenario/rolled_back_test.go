package scenario_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// byThemselves has some environments get what is verified before them by itself.
func (w *world) byThemselves(environments ...string) {
	w.policies.change = func(t promotion.Target, p *promotion.EnvironmentPolicy) {
		for _, e := range environments {
			p.AutomaticPromotion = p.AutomaticPromotion || e == t.Environment
		}
	}
}

// rollsBackInDev has dev go back from 1.2.0 to 1.1.0.
func (w *world) rollsBackInDev() (left promotion.Release) {
	w.Helper()
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	p := w.startsBack(back("dev", "1.1.0"))
	w.must(w.service.Resume(w.Context(), rita, promotion.HoldRequest{Application: "web", Environment: "dev"}))
	w.settle()
	w.is(p.ID, promotion.StateMerged)
	left, err := w.service.Store.ReleaseVersion(w.Context(), "web", "1.2.0")
	w.must(err)
	return left
}

func TestAReleaseThatWasRolledBackIsMarkedUntilSomebodyClearsIt(t *testing.T) {
	w := newWorld(t)
	left := w.rollsBackInDev()
	same(w, "marks", len(left.RolledBack), 1)
	mark := left.RolledBack[0]
	same(w, "environment", mark.Environment, "dev")
	same(w, "by", mark.By, rita.Name)
	same(w, "why", mark.Reason, "it loses orders")
	same(w, "marks of what it went back to", w.count("SELECT count(*) FROM rollback_marks WHERE release_id <> $1", left.ID), 0)

	_, err := w.service.ClearRollback(w.Context(), ada, left.ID, "all well")
	w.refused(err, "forbidden")
	_, err = w.service.ClearRollback(w.Context(), rita, left.ID, " ")
	w.refused(err, "missing-reason")
	_, err = w.service.ClearRollback(w.Context(), rita, left.ID+100, "all well")
	w.refused(err, "unknown-release")
	cleared, err := w.service.ClearRollback(w.Context(), rita, left.ID, "it was the network")
	w.must(err)
	same(w, "marks after it", len(cleared.RolledBack), 0)
	same(w, "marks as stored", len(w.release(left.ID).RolledBack), 0)
	same(w, "why it was cleared", w.texts("SELECT cleared_by || ': ' || clearing FROM rollback_marks")[0], rita.Name+": it was the network")
	same(w, "audited", w.count("SELECT count(*) FROM audit_events WHERE action IN ('release.rolled-back', 'release.cleared') AND release_id = $1", left.ID), 2)
	_, err = w.service.ClearRollback(w.Context(), rita, left.ID, "again")
	w.refused(err, "not-rolled-back")
}

// What policy has under way elsewhere waits, and what a person asks for goes.
func TestAReleaseThatWasRolledBackGoesNowhereByItself(t *testing.T) {
	w := newWorld(t)
	w.byThemselves("staging", "prod")
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	staging := w.newest("web", "staging")
	w.is(staging, promotion.StateMerged)
	w.verifies(staging)
	prod := w.newest("web", "prod")
	same(w, "who asked", w.promotion(prod).RequestedBy, promotion.Sluice().Name)
	same(w, "hold before", w.gate(prod, promotion.PhaseMerge, promotion.GateHold).Verdict, promotion.Pass)

	w.startsBack(back("dev", "1.1.0"))
	gate := w.gate(prod, promotion.PhaseMerge, promotion.GateHold)
	same(w, "hold", gate.Verdict, promotion.Wait)
	w.contains("the reason", gate.Reason, "rolled back in dev by "+rita.Name, "it loses orders", "clear that")
	_, err := w.service.ClearRollback(w.Context(), rita, w.promotion(prod).Release.ID, "only dev's data")
	w.must(err)
	w.settle()
	same(w, "hold when cleared", w.gate(prod, promotion.PhaseMerge, promotion.GateHold).Verdict, promotion.Pass)
}

func TestAReleaseThatWasRolledBackStartsNowhereByItself(t *testing.T) {
	w := newWorld(t)
	w.inDev("1.1.0")
	w.inDev("1.2.0")
	staging := w.promotes(w.promotion(w.newest("web", "dev")).Release, "staging")
	w.byThemselves("prod")
	w.startsBack(back("dev", "1.1.0"))
	w.is(staging, promotion.StateMerged) // a person asked for it
	w.verifies(staging)
	same(w, "promotions to prod", w.count("SELECT count(*) FROM promotions p JOIN target_details t ON t.id = p.target_id WHERE t.environment = 'prod'"), 0)
	w.contains("the audit", w.texts("SELECT message FROM audit_events WHERE action = 'promotion.not-started' AND environment = 'prod'")[0], "rolled back in dev")
	id := w.promotes(w.promotion(staging).Release, "prod")
	same(w, "hold of what a person asked for", w.gate(id, promotion.PhaseMerge, promotion.GateHold).Verdict, promotion.Pass)
}

// What policy would have started, and only the mark kept from it, starts when the mark is cleared: in the same transaction, once.
func TestWhatAMarkedReleaseMissedStartsWhenItIsCleared(t *testing.T) {
	const toProd = "SELECT count(*) FROM promotions p JOIN target_details t ON t.id = p.target_id WHERE t.environment = 'prod'"
	missed := func(t *testing.T) (w *world, left promotion.Release) {
		w = newWorld(t)
		w.inDev("1.1.0")
		w.inDev("1.2.0")
		left = w.promotion(w.newest("web", "dev")).Release
		staging := w.promotes(left, "staging")
		w.byThemselves("prod")
		w.startsBack(back("dev", "1.1.0"))
		w.verifies(staging)
		same(w, "promotions to prod", w.count(toProd), 0)
		same(w, "kept", w.count("SELECT count(*) FROM missed_promotions WHERE release_id = $1", left.ID), 1)
		return w, left
	}
	clears := func(w *world, r promotion.Release) {
		_, err := w.service.ClearRollback(w.Context(), rita, r.ID, "it was the network")
		w.must(err)
		w.settle()
		same(w, "kept after it", w.count("SELECT count(*) FROM missed_promotions"), 0)
	}
	t.Run("it starts", func(t *testing.T) {
		w, left := missed(t)
		w.restarts()
		clears(w, left)
		p := w.promotion(w.newest("web", "prod"))
		same(w, "release", p.Release.ID, left.ID)
		same(w, "who asked", p.RequestedBy, promotion.Sluice().Name)
		w.contains("why", p.Reason, "what is verified in staging goes to prod", "until rita cleared")
		same(w, "state", p.State(), promotion.StateOpen)
		same(w, "promotions to prod", w.count(toProd), 1)
	})
	t.Run("somebody asked for it meanwhile", func(t *testing.T) {
		w, left := missed(t)
		asked := w.promotes(left, "prod")
		clears(w, left)
		same(w, "promotions to prod", w.count(toProd), 1)
		w.is(asked, promotion.StateOpen)
	})
	t.Run("a later release is there", func(t *testing.T) {
		w, left := missed(t)
		w.must(w.service.Resume(w.Context(), rita, promotion.HoldRequest{Application: "web", Environment: "dev"}))
		w.inDev("1.3.0")
		w.verifies(w.promotes(w.promotion(w.newest("web", "dev")).Release, "staging"))
		later := w.newest("web", "prod")
		w.approves(ada, later)
		w.merges(rita, later)
		clears(w, left)
		same(w, "promotions to prod", w.count(toProd), 1)
	})
	t.Run("policy does not want it any more", func(t *testing.T) {
		w, left := missed(t)
		w.policies.change = nil
		clears(w, left)
		same(w, "promotions to prod", w.count(toProd), 0)
	})
	t.Run("somebody holds it", func(t *testing.T) {
		w, left := missed(t)
		w.must(w.service.Hold(w.Context(), rita, promotion.HoldRequest{Application: "web", Environment: "prod", Reason: "an audit"}))
		clears(w, left)
		same(w, "promotions to prod", w.count(toProd), 0)
		w.contains("the audit", w.texts("SELECT message FROM audit_events WHERE action = 'promotion.not-started' ORDER BY id DESC")[0], "an audit")
	})
}
