package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// TestEachCheckOfAWayBackHasItsMode: a migration bars the way back and the cluster does not say its platforms; what each of the two
// checks does the policy file says.
func TestEachCheckOfAWayBackHasItsMode(t *testing.T) {
	for name, test := range map[string]struct {
		checks, own string
		verdict     promotion.Verdict
		says, not   []string
		data        rollback.State
	}{
		"all are enforced": {"", "", promotion.Block, []string{"0003_note.sql:3 drops a column"}, []string{"policy", "reported"}, ""},
		"data is reported": {"data: report", "", promotion.Block,
			[]string{"is unsafe", "platforms of the old image", "The check data is only reported", "0003_note.sql:3 drops a column"}, nil, rollback.No},
		"neither holds it": {"data: report, artifact: off", "", promotion.Pass,
			[]string{"is unsafe", "The check artifact is off by policy.", "The check data is only reported: no."}, []string{"platforms"}, rollback.No},
		"both are off":              {"data: off, artifact: off", "", promotion.Pass, []string{"is safe", "The check data is off by policy."}, []string{"0003_note"}, rollback.Off},
		"the application is strict": {"data: off, artifact: off", "data: enforce", promotion.Block, []string{"0003_note.sql:3 drops a column"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.connects(answering{})
			c := w.clone()
			c.Push("main", "sluice.yaml", "environments: {prod: {rollback_checks: {"+test.checks+"}}}\n")
			c.Push("main", "apps/web/sluice.yaml", "environments: {prod: {rollback_checks: {"+test.own+"}}}\n")
			w.settle()
			w.runsInProd(w.migrating("1.1.0", plain(files(parcels, addsTracking))))
			id := w.promotes(w.migrating("1.2.0", plain(files(parcels, addsTracking, dropsNote))), "prod")
			g := w.gate(id, promotion.PhaseMerge, promotion.GateRollbackSafe)
			same(w, "the verdict, which says "+g.Reason, g.Verdict, test.verdict)
			w.contains("the gate", g.Reason, test.says...)
			for _, unsaid := range test.not {
				if strings.Contains(g.Reason, unsaid) {
					t.Errorf("the gate says %q: %s", unsaid, g.Reason)
				}
			}
			if test.data == "" {
				return // the migration was found before the verdict was asked for
			}
			stored, err := w.service.RollbackVerdict(w.Context(), int64(g.Inputs["verdict"].(float64)))
			w.must(err)
			same(w, "data of the stored verdict", stored.Verdict.Predicates.DataCompatible.Value, test.data)
			pr, err := w.host.PullRequest(w.Context(), repository, w.promotion(id).Number)
			w.must(err)
			w.contains("the pull request", pr.Body, g.Reason)
		})
	}
}
