package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// That each change has its event in the same transaction is held against every scenario, at its end.

func TestAuditEventsCannotBeChanged(t *testing.T) {
	w := newWorld(t)
	before := w.content()["public.audit_events"]
	for _, statement := range []string{
		"UPDATE audit_events SET message = 'nothing happened'",
		"UPDATE audit_events SET actor = actor WHERE false",
		"DELETE FROM audit_events",
		"DELETE FROM audit_events WHERE id = 1",
		"TRUNCATE audit_events CASCADE",
		"TRUNCATE promotions CASCADE",
		"TRUNCATE applications CASCADE",
		"MERGE INTO audit_events e USING (VALUES (1)) v (id) ON e.id = v.id WHEN MATCHED THEN DELETE",
		"INSERT INTO audit_events OVERRIDING SYSTEM VALUE SELECT * FROM audit_events WHERE id = 1 ON CONFLICT (id) DO UPDATE SET message = 'x'",
	} {
		if _, err := w.pool.Exec(w.Context(), statement); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v, want a refusal because audit events are append-only", statement, err)
		}
	}
	same(w, "audit events", w.content()["public.audit_events"], before)
}

func TestAuditOfALifeIsInOrder(t *testing.T) {
	w := newWorld(t)
	w.inDev("1.1.0")
	same(w, "what was recorded", strings.Join(w.audited(w.newest("web", "dev")), " "),
		"promotion.requested promotion.proposed promotion.opened promotion.merged promotion.followed promotion.verified")
	states := w.texts("SELECT coalesce(after ->> 'state', '') FROM audit_events WHERE promotion_id = $1 ORDER BY id", w.newest("web", "dev"))
	same(w, "last state", states[len(states)-1], string(promotion.StateVerified))
	same(w, "states out of order", slices.Index(states, "open") < slices.Index(states, "merged"), true)
}

// A decision whose audit event cannot be stored is not made.
func TestNoDecisionWithoutItsAuditEvent(t *testing.T) {
	w := newProdWorld(t)
	released := w.released("1.1.0", "checkout")
	open := w.atProd("1.1.0")
	_, err := w.pool.Exec(w.Context(), `CREATE FUNCTION scenario.full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION scenario.full()`)
	w.must(err)
	before := w.content()
	for name, decide := range map[string]func() error{
		"approve": func() error {
			_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: open, Decision: "approve"})
			return err
		},
		"reject": func() error {
			_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: open, Decision: "reject", Comment: "no"})
			return err
		},
		"cancel": func() error { _, err := w.service.Cancel(w.Context(), rita, open, "no"); return err },
		"retry":  func() error { _, err := w.service.Retry(w.Context(), rita, open); return err },
		"build": func() error {
			_, _, err := w.service.RecordBuild(w.Context(), ci, w.request("1.2.0", "web"))
			return err
		},
		"promote": func() error { _, err := w.asks(released, "prod"); return err },
	} {
		if err := decide(); err == nil || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("%s: %v, want the audit's failure", name, err)
		}
		w.unchanged(before)
	}
	_, err = w.pool.Exec(w.Context(), "DROP TRIGGER refuse ON audit_events")
	w.must(err)
	w.approves(ada, open)
}
