package scenario_test

import (
	"errors"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func adopting(fields ...int64) promotion.AdoptRequest {
	return promotion.AdoptRequest{Application: "web", Environment: "prod", Fields: fields, Reason: "INC-77: it lost orders"}
}

// setTo is the image of web as somebody set it by hand.
func setTo(r promotion.Release, git promotion.Release) promotion.Drift {
	return promotion.Drift{Object: "Deployment.apps shop/web", Path: "spec.template.spec.containers[web].image", Want: git.Artifacts[0].Reference(),
		Have: r.Artifacts[0].Reference(), Class: promotion.DriftHuman, Owner: "kubectl rollout undo", Manager: "kubectl", Operation: "Update"}
}

// undone is prod after 1.2.0 was verified there and somebody undid its rollout: 1.1.0 runs.
func undone(t *testing.T) (w *world, i *inspector, first, second promotion.Promotion) {
	w = newProdWorld(t)
	i = w.inspected()
	first = w.verifiedInProd("1.1.0")
	w.released("1.1.5", "web") // goes nowhere
	second = w.verifiedInProd("1.2.0")
	i.found.Differences = []promotion.Drift{setTo(first.Release, second.Release), scaled("5")}
	w.sees("web", "prod", w.running(first.Release))
	w.compares("prod")
	return w, i, first, second
}

func TestAnUndoneRolloutIsAdopted(t *testing.T) {
	w, i, first, second := undone(t)
	plan, err := w.service.PlanAdopt(w.Context(), adopting())
	w.must(err)
	same(w, "release", plan.Release.ID, first.Release.ID)
	w.contains("the cause", plan.Cause, "1.1.0 runs", "Git says 1.2.0", "`kubectl rollout undo`")
	w.contains("the plan", plan.Change.Diff, first.Release.Artifacts[0].Digest)
	same(w, "notes", len(plan.Change.Notes), 1)
	w.contains("what is left", plan.Change.Notes[0], "spec.replicas", "is not adopted", "2")

	p, err := w.service.Adopt(w.Context(), rita, adopting())
	w.must(err)
	w.settle()
	same(w, "kind", p.Kind, promotion.KindRollback)
	w.is(p.ID, promotion.StateOpen)
	pr, err := w.host.PullRequest(w.Context(), repository, w.promotion(p.ID).Number)
	w.must(err)
	w.contains("the body", pr.Body, "makes Git say what runs", plan.Cause, "INC-77")
	again, err := w.service.Adopt(w.Context(), rita, adopting())
	w.must(err)
	same(w, "asked again", again.ID, p.ID)
	same(w, "approvals", w.gate(p.ID, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Wait)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.contains("the overlay", w.file(overlay("web", "prod")), first.Release.Artifacts[0].Digest)
	w.is(second.ID, promotion.StateRolledBack)
	w.contains("the audit", w.audited(p.ID)[0], "promotion.requested")

	i.found.Differences = nil
	w.verifies(p.ID)
	same(w, "drift once it is live", len(w.compares("prod")), 0)
	same(w, "the rollback by hand", w.driftLook("prod").Rollback, "")
	_, err = w.service.PlanAdopt(w.Context(), adopting())
	w.refused(err, "nothing-to-adopt")
}

// What `argocd app rollback` applies is a commit: the configuration of then runs, too.
func TestACommitSyncedAgainIsAdoptedWithItsConfiguration(t *testing.T) {
	w := newProdWorld(t)
	w.inspected()
	first := w.verifiedInProd("1.1.0")
	w.edits(overlay("web", "prod"), "count: 4", "count: 9")
	w.verifiedInProd("1.2.0")
	w.sees("web", "prod", synced(first.MergeSHA), w.running(first.Release))
	w.compares("prod")
	plan, err := w.service.PlanAdopt(w.Context(), adopting())
	w.must(err)
	w.contains("the cause", plan.Cause, "argocd app rollback")
	w.contains("the plan", plan.Change.Diff, first.Release.Artifacts[0].Digest, "replicas")
	p, err := w.service.Adopt(w.Context(), rita, adopting())
	w.must(err)
	w.settle()
	w.is(p.ID, promotion.StateOpen)
	same(w, "its configuration", p.Restore.Commit, first.MergeSHA)
}

func TestOnlyAKnownEarlierReleaseIsAdopted(t *testing.T) {
	w, i, first, second := undone(t)
	_, err := w.service.Adopt(w.Context(), ada, adopting())
	w.refused(err, "forbidden")
	r := adopting()
	r.Reason = " "
	_, err = w.service.Adopt(w.Context(), rita, r)
	same(w, "field", w.refused(err, "missing-reason").Field, "reason")
	r.Environment = "nowhere"
	_, err = w.service.PlanAdopt(w.Context(), r)
	w.refused(err, "unknown-target")

	refused := func(code string, says ...string) {
		w.Helper()
		w.compares("prod")
		_, err := w.service.PlanAdopt(w.Context(), adopting())
		w.contains("the refusal", w.refused(err, code).Message, says...)
	}
	debug := setTo(first.Release, second.Release)
	debug.Path, debug.Have = "spec.template.spec.containers[debug].image", "busybox:latest"
	i.found.Differences = append(i.found.Differences, debug)
	refused("unknown-release", "busybox:latest")

	skipped := w.release(second.Release.ID - 1)
	i.found.Differences = []promotion.Drift{setTo(skipped, second.Release)}
	w.sees("web", "prod", w.running(skipped))
	refused("never-here", skipped.Version, "promote it")

	newer := w.released("1.3.0", "web")
	i.found.Differences = []promotion.Drift{setTo(newer, second.Release)}
	w.sees("web", "prod", w.running(newer))
	refused("not-rolled-back", "1.3.0", "promote it")

	moving := setTo(first.Release, second.Release)
	moving.Have = first.Release.Artifacts[0].Repository + ":hotfix"
	i.found.Differences = []promotion.Drift{moving}
	w.sees("web", "prod", func(o *promotion.Observation) {
		o.Images, o.RunningImages = []string{moving.Have}, []promotion.ContainerImage{{Pod: "web-1", Container: "web", Image: moving.Have, Ready: true}}
	})
	refused("unknown-release", moving.Have, "sluice build post")

	i.err = errUnreachable
	refused("drift-unknown", "does not answer")

	i.err = nil
	w.seesIn("cluster-2", "web", "prod", synced(second.MergeSHA), healthy, w.running(second.Release))
	refused("clusters-differ", "cluster-1", "cluster-2")
}

var errUnreachable = errors.New("the API server does not answer")
