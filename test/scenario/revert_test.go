package scenario_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// undoing asks that exactly a promotion's change in prod be undone.
func undoing(id int64) promotion.GoBackRequest {
	return promotion.GoBackRequest{Application: "web", Environment: "prod", Way: promotion.Revert, Promotion: id, Reason: "it loses orders"}
}

func TestRevertingUndoesExactlyAPromotionsChange(t *testing.T) {
	w := newProdWorld(t)
	first := w.verifiedInProd("1.1.0")
	second := w.verifiedInProd("1.2.0")
	w.edits(overlay("web", "prod"), "count: 4", "count: 9") // stays
	p := w.startsBack(undoing(second.ID))
	same(w, "kind", p.Kind, promotion.KindRollback)
	same(w, "state", p.State(), promotion.StateOpen)
	same(w, "release", p.Release.ID, first.Release.ID)
	w.contains("the body", w.body(p.ID), "Exactly what commit `"+second.MergeSHA+"` changed is undone")
	w.restarts()
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.contains("the overlay", w.file(overlay("web", "prod")), first.Release.Artifacts[0].Digest, "count: 9")
	w.is(second.ID, promotion.StateRolledBack)
	same(w, "marks", len(w.release(second.Release.ID).RolledBack), 1)
	w.verifies(p.ID)
	_, err := w.service.PlanRollback(w.Context(), undoing(second.ID))
	w.refused(err, "already-current")
}

func TestRevertingIsRefusedWhereLinesWereChangedSince(t *testing.T) {
	w := newProdWorld(t)
	first := w.verifiedInProd("1.1.0")
	w.verifiedInProd("1.2.0")
	before := w.content()
	_, err := w.service.PlanRollback(w.Context(), undoing(first.ID))
	refusal := w.refused(err, "cannot-revert")
	w.contains("the refusal", refusal.Message, overlay("web", "prod")+":", "changed since")
	for code, change := range map[string]func(*promotion.GoBackRequest){
		"missing-promotion": func(r *promotion.GoBackRequest) { r.Promotion = 0 },
		"unknown-promotion": func(r *promotion.GoBackRequest) { r.Promotion = 999 },
		"revert-alone":      func(r *promotion.GoBackRequest) { r.To = "1.1.0" },
		"not-a-revert":      func(r *promotion.GoBackRequest) { r.Way = promotion.ImagesOnly },
		"missing-reason":    func(r *promotion.GoBackRequest) { r.Reason = "" },
	} {
		r := undoing(first.ID)
		change(&r)
		_, err := w.service.StartRollback(w.Context(), rita, r)
		w.refused(err, code)
	}
	w.unchanged(before)
	open := w.atProd("1.3.0")
	_, err = w.service.PlanRollback(w.Context(), undoing(open))
	w.refused(err, "not-merged")
}

// The table of ways back has the third one where the promotion that replaced a release can be undone alone, and says what is in the way
// of it otherwise.
func TestTheWaysBackHaveTheUndoingOfWhatReplacedARelease(t *testing.T) {
	w := newProdWorld(t)
	first := w.verifiedInProd("1.1.0")
	second := w.verifiedInProd("1.2.0")
	third := w.verifiedInProd("1.3.0")
	w.connects(answering{platforms: []string{"linux/amd64"}})
	check, err := w.service.CheckRollback(w.Context(), promotion.RollbackRequest{Application: "web", Environment: "prod"})
	w.must(err)
	nearest, before := check.Candidates[0], check.Candidates[1]
	same(w, "nearest", nearest.Release.ID, second.Release.ID)
	same(w, "replaced by", nearest.Undo.Promotion, third.ID)
	same(w, "problem", nearest.Undo.Problem, "")
	same(w, "way", nearest.Undo.Verdict.Way, promotion.Revert)
	same(w, "verdicts", nearest.Undo.Verdict.Verdict.Overall, nearest.Images.Verdict.Overall)
	stored, err := w.service.RollbackVerdict(w.Context(), nearest.Undo.Verdict.ID)
	w.must(err)
	same(w, "stored", stored.Way, promotion.Revert)

	same(w, "before it", before.Release.ID, first.Release.ID)
	same(w, "replaced by", before.Undo.Promotion, second.ID)
	w.contains("the problem", before.Undo.Problem, overlay("web", "prod")+":", "changed since")
	same(w, "no verdict", before.Undo.Verdict.ID, int64(0))
}
