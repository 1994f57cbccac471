package scenario_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestAnArtifactThatIsMissingBlocksUntilItIsPushed(t *testing.T) {
	w := newWorld(t)
	const salt = "pushed too late"
	r := w.request("1.1.0", "web")
	r.Artifacts[0].Digest = w.images.push(t, "web", "1.1.0", salt)
	w.images.remove(t, "web", "1.1.0", salt)
	id := w.posts(r).Promotions[0].ID
	w.settle()

	w.is(id, promotion.StateRequested)
	gate := w.gate(id, promotion.PhaseOpen, promotion.GateArtifactAvailable)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, r.Artifacts[0].Digest, "does not have", "Push it again")
	same(w, "pull requests", w.count("SELECT count(*) FROM prhost.pull_requests"), 0)

	w.images.push(t, "web", "1.1.0", salt)
	w.lookAtEverything()
	w.is(id, promotion.StateMerged)
}

func TestARegistryThatIsDownIsNeverAYes(t *testing.T) {
	w := newWorld(t)
	id := w.posts(w.request("1.1.0", "web")).Promotions[0].ID
	w.images.down.Store(true)
	w.settle()

	w.is(id, promotion.StateRequested)
	gate := w.gate(id, promotion.PhaseOpen, promotion.GateArtifactAvailable)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "could not be asked", "503")

	w.images.down.Store(false)
	w.lookAtEverything()
	w.verifies(id)
	w.verifies(w.promotes(w.promotion(id).Release, "staging"))
	prod := w.promotes(w.promotion(id).Release, "prod")
	w.approves(ada, prod)

	w.images.down.Store(true)
	_, err := w.service.Merge(w.Context(), rita, prod)
	w.contains("the refusal", w.refused(err, "merge-refused").Message, "artifact-available", "503")
	w.lookAtEverything()
	statuses, err := w.host.PullRequest(w.Context(), repository, w.promotion(prod).Number)
	w.must(err)
	same(w, "status on the head", statuses.Statuses[0].State, "failure")
	w.images.down.Store(false)
	w.merges(rita, prod)
	w.is(prod, promotion.StateMerged)
}
