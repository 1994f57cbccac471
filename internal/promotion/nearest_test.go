package promotion_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// What the policy only reports opens the gate and is not safe: a release that is safe is recommended before it, however old.
func TestTheNearestSafeReleaseIsSafe(t *testing.T) {
	t.Parallel()
	verdict := func(gate rollback.Gate, overall rollback.Overall) promotion.RollbackVerdict {
		return promotion.RollbackVerdict{Verdict: rollback.Verdict{Gate: gate, Overall: overall}}
	}
	safe, reported, unread := verdict(rollback.Open, rollback.Safe), verdict(rollback.Open, rollback.Unsafe), verdict(rollback.Open, rollback.UnknownOverall)
	barred := verdict(rollback.Blocked, rollback.Unsafe)
	candidate := func(images, withConfig promotion.RollbackVerdict) promotion.RollbackCandidate {
		return promotion.RollbackCandidate{Images: images, WithConfig: withConfig}
	}
	for name, test := range map[string]struct {
		candidates []promotion.RollbackCandidate
		nearest    int // -1: none
		overall    rollback.Overall
	}{
		"the first of two that are safe": {[]promotion.RollbackCandidate{candidate(safe, safe), candidate(safe, safe)}, 0, rollback.Safe},
		"safe before reported":           {[]promotion.RollbackCandidate{candidate(reported, reported), candidate(safe, safe)}, 1, rollback.Safe},
		"safe before reported unknown":   {[]promotion.RollbackCandidate{candidate(unread, barred), candidate(barred, safe)}, 1, rollback.Safe},
		"the safe way":                   {[]promotion.RollbackCandidate{candidate(reported, safe), candidate(safe, safe)}, 0, rollback.Safe},
		"reported when none is safe":     {[]promotion.RollbackCandidate{candidate(barred, barred), candidate(reported, barred)}, 1, rollback.Unsafe},
		"none":                           {[]promotion.RollbackCandidate{candidate(barred, barred)}, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := promotion.RollbackCheck{Candidates: test.candidates}
			nearest := check.Nearest()
			if test.nearest < 0 {
				if nearest != nil {
					t.Errorf("recommended %+v", nearest)
				}
				return
			}
			if nearest != &check.Candidates[test.nearest] {
				t.Fatalf("not candidate %d: %+v", test.nearest, nearest)
			}
			if got := nearest.Best().Verdict.Overall; got != test.overall {
				t.Errorf("it is %s, want %s", got, test.overall)
			}
		})
	}
}
