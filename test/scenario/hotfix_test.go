package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// onLine posts a version of web on a line of its own.
func (w *world) onLine(version, line string) promotion.Release {
	w.Helper()
	r := w.request(version, "web")
	r.Line = line
	out := w.posts(r)
	w.settle()
	return out.Releases[0]
}

func (w *world) asksHotfix(r promotion.Release, environment, reason string) (promotion.Promotion, error) {
	w.Helper()
	p, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: r.Application, Environment: environment,
		Release: fmt.Sprint(r.ID), Reason: reason, Hotfix: true})
	w.settle()
	return p, err
}

// owed lists what is owed where, by the database's own view.
func (w *world) owed() string {
	w.Helper()
	return strings.Join(w.texts("SELECT environment || ' ' || version FROM releases_owed ORDER BY environment, release_number"), ", ")
}

// liveHotfix brings a hotfix of line 1.0 to prod while staging is at line main, and has it verified.
func (w *world) liveHotfix(version string) promotion.Promotion {
	w.Helper()
	p, err := w.asksHotfix(w.onLine(version, "1.0"), "prod", "orders are lost")
	w.must(err)
	w.approves(ada, p.ID)
	w.approves(otto, p.ID)
	w.merges(rita, p.ID)
	w.lookAtEverything()
	w.verifies(p.ID)
	return w.promotion(p.ID)
}

func TestAHotfixGoesPastEnvironmentsWhichAreOwedIt(t *testing.T) {
	w := newWorld(t)
	w.inStaging("1.1.0")
	r := w.onLine("1.0.1", "1.0")

	plan, err := w.service.Plan(w.Context(), promotion.PlanRequest{Application: "web", Environment: "prod", Release: "1.0.1", Hotfix: true})
	w.must(err)
	w.contains("the plan", plan.Waits, "0 of 2 approvals")
	plan, err = w.service.Plan(w.Context(), promotion.PlanRequest{Application: "web", Environment: "prod", Release: "1.0.1"})
	w.must(err)
	w.contains("the plan of the same, not as a hotfix", plan.Waits, "not verified in staging")

	p, err := w.asksHotfix(r, "prod", "orders are lost")
	w.must(err)
	w.is(p.ID, promotion.StateOpen)
	pr := w.pullRequest(p.ID)
	w.contains("the title", pr.Title, "hotfix 1.0.1")
	w.contains("the body", w.body(p.ID), "**Hotfix**", "dev and staging", "orders are lost")
	w.contains("the gate", w.gate(p.ID, promotion.PhaseOpen, promotion.GateUpstreamVerified).Reason, "dev and staging")
	w.contains("the audit", strings.Join(w.texts("SELECT message FROM audit_events WHERE promotion_id = $1", p.ID), "\n"), "as a hotfix past the environments before it: orders are lost")
	again, err := w.asksHotfix(r, "prod", "orders are lost")
	w.must(err)
	same(w, "asked for again", again.ID, p.ID)
	_, err = w.asks(r, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is a hotfix")

	w.approves(ada, p.ID)
	_, err = w.service.Merge(w.Context(), rita, p.ID)
	w.contains("the refusal", w.refused(err, "merge-refused").Message, "1 of 2")
	w.approves(otto, p.ID)
	w.merges(rita, p.ID)
	w.lookAtEverything()
	same(w, "owed before it is live", w.owed(), "")
	w.verifies(p.ID)
	same(w, "owed", w.owed(), "dev 1.0.1, staging 1.0.1")
	owed, err := w.service.Store.Owed(w.Context(), w.target("web", "staging").ID)
	w.must(err)
	same(w, "owed to staging", len(owed), 1)
	same(w, "by", owed[0].PromotionID, p.ID)
	same(w, "which is live in", owed[0].LiveIn, "prod")

	w.verifies(w.newest("web", "dev"))
	same(w, "owed, once dev has it", w.owed(), "staging 1.0.1")
	w.verifies(w.promotes(r, "staging"))
	same(w, "owed, once staging has it", w.owed(), "")
}

func TestWhatSettlesAHotfix(t *testing.T) {
	for name, test := range map[string]struct {
		settle func(*world, promotion.Promotion)
		owed   string
	}{
		"a newer release of the line": {func(w *world, _ promotion.Promotion) {
			newer := w.onLine("1.0.2", "1.0")
			w.verifies(w.newest("web", "dev"))
			w.verifies(w.promotes(newer, "staging"))
		}, ""},
		"no release of another line": {func(w *world, _ promotion.Promotion) { w.inStaging("1.2.0") }, "dev 1.0.1, staging 1.0.1"},
		"what is taken back": {func(w *world, _ promotion.Promotion) {
			second := w.liveHotfix("1.0.2")
			same(w, "owed", w.owed(), "dev 1.0.1, dev 1.0.2, staging 1.0.1, staging 1.0.2")
			back := w.startsBack(back("prod", "1.0.1"))
			w.approves(ada, back.ID)
			w.merges(rita, back.ID)
			w.lookAtEverything()
			w.verifies(back.ID)
			w.is(second.ID, promotion.StateRolledBack)
		}, "dev 1.0.1, staging 1.0.1"},
		"somebody waives it": {func(w *world, p promotion.Promotion) {
			waive := promotion.WaiveRequest{Application: "web", Environment: "staging", Release: "1.0.1", Reason: "staging is past line 1.0"}
			w.refused(w.service.Waive(w.Context(), ci, waive), "forbidden")
			w.refused(w.service.Waive(w.Context(), rita, promotion.WaiveRequest{Application: "web", Environment: "staging", Release: "1.0.1"}), "missing-reason")
			w.must(w.service.Waive(w.Context(), rita, waive))
			w.refused(w.service.Waive(w.Context(), rita, waive), "not-owed")
			same(w, "audited", slices.Contains(w.audited(p.ID), "release.waived"), true)
		}, "dev 1.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.inStaging("1.1.0")
			p := w.liveHotfix("1.0.1")
			test.settle(w, p)
			same(w, "owed", w.owed(), test.owed)
		})
	}
}

func TestWhatIsNoHotfix(t *testing.T) {
	w := newWorld(t)
	r := w.inStaging("1.1.0")
	_, err := w.asksHotfix(r, "prod", "now")
	w.contains("the refusal", w.refused(err, "nothing-to-skip").Message, "as usual")
	_, err = w.asksHotfix(w.onLine("1.0.0", "1.0"), "prod", "  ")
	same(w, "field", w.refused(err, "missing-reason").Field, "reason")
	sameLine := w.onLine("1.2.0", promotion.DefaultLine)
	_, err = w.asksHotfix(sameLine, "prod", "now")
	w.contains("the refusal", w.refused(err, "not-its-own-line").Message, "staging", "upstream-verified")
	_, err = w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "staging", Release: "1.0.0", Reason: "now", Hotfix: true, With: []string{"prod"}})
	w.refused(err, "malformed-hotfix")
}

// A hotfix gives way to a newer one of its line only, and takes the place of nothing of another line.
func TestWhatAHotfixSupersedes(t *testing.T) {
	w := newWorld(t)
	open := w.atProd("1.1.0")
	first := w.onLine("1.0.1", "1.0")
	_, err := w.asksHotfix(first, "prod", "orders are lost")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "release lines differ")
	w.is(open, promotion.StateOpen)
	_, err = w.service.Cancel(w.Context(), rita, open, "the hotfix goes first")
	w.must(err)
	w.settle()

	p, err := w.asksHotfix(first, "prod", "orders are lost")
	w.must(err)
	newer, err := w.asksHotfix(w.onLine("1.0.2", "1.0"), "prod", "orders are still lost")
	w.must(err)
	w.is(p.ID, promotion.StateSuperseded)
	w.is(newer.ID, promotion.StateOpen)
	w.approves(ada, newer.ID)
	_, err = w.asksHotfix(w.onLine("1.0.3", "1.0"), "prod", "and again")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is approved")
}

// What a policy asks to be found where the hotfix does not go cannot be found; everything else is asked for.
func TestEvidenceOfAHotfix(t *testing.T) {
	w := newWorld(t)
	w.policies.change = func(t promotion.Target, e *promotion.EnvironmentPolicy) {
		if t.Environment == "prod" {
			three := 3
			e.HotfixApprovals = &three
			e.Evidence = []promotion.NeededEvidence{{Name: "tests", Environment: "staging"}, {Name: "image-scan"}}
		}
	}
	w.inStaging("1.1.0")
	p, err := w.asksHotfix(w.onLine("1.0.1", "1.0"), "prod", "orders are lost")
	w.must(err)
	evidence := w.gate(p.ID, promotion.PhaseMerge, promotion.GateEvidence)
	same(w, "verdict", evidence.Verdict, promotion.Wait)
	w.contains("the reason", evidence.Reason, "image-scan has not passed")
	w.contains("approvals", w.gate(p.ID, promotion.PhaseMerge, promotion.GateApprovals).Reason, "0 of 3")
	_, err = w.service.PostEvidence(w.Context(), ci, promotion.EvidenceRequest{Application: "web", Release: "1.0.1", Evidence: promotion.Evidence{Name: "image-scan", Verdict: "pass"}})
	w.must(err)
	w.settle()
	w.contains("the reason", w.gate(p.ID, promotion.PhaseMerge, promotion.GateEvidence).Reason, "tests in staging (not asked of a hotfix")
}
