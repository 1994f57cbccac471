package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// live is a field of web as a look at the cluster finds it.
func live(path string, steps []string, want, have, value string) promotion.Drift {
	return promotion.Drift{Object: "Deployment.apps shop-prod/web", Path: path, Steps: steps, Want: want, Have: have, Live: value,
		Class: promotion.DriftHuman, Owner: "kubectl edit", Manager: "kubectl-edit", Operation: "Update"}
}

func liveReplicas(have string) promotion.Drift {
	return live("spec.replicas", []string{"f:spec", "f:replicas"}, "4", have, have)
}

func liveProbe() promotion.Drift {
	return live("spec.template.spec.containers[web].readinessProbe.httpGet.path",
		[]string{"f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"web"}`, "f:readinessProbe", "f:httpGet", "f:path"}, "/readyz", "/healthz", `"/healthz"`)
}

// edited is prod with 1.1.0 verified there and fields that somebody changed by hand.
func edited(t *testing.T, found ...promotion.Drift) (w *world, i *inspector, ids []int64) {
	w = newProdWorld(t)
	i = w.inspected()
	w.verifiedInProd("1.1.0")
	i.found.Differences = found
	for _, d := range w.compares("prod") {
		ids = append(ids, d.ID)
	}
	return w, i, ids
}

func TestFieldsChangedByHandAreAdopted(t *testing.T) {
	w, i, ids := edited(t, liveReplicas("9"), liveProbe())
	before := w.file(overlay("web", "prod"))
	plan, err := w.service.PlanAdopt(w.Context(), adopting(ids...))
	w.must(err)
	w.contains("the cause", plan.Cause, "spec.replicas of Deployment.apps shop-prod/web is 9, set by kubectl edit; Git says 4", "/healthz")
	w.contains("the plan", plan.Change.Diff, "spec.replicas", "9", "readinessProbe.httpGet.path")
	same(w, "version", plan.Release.Version, "1.1.0")

	p, err := w.service.Adopt(w.Context(), rita, adopting(ids...))
	w.must(err)
	same(w, "kind", p.Kind, promotion.KindChange)
	w.settle()
	w.is(p.ID, promotion.StateOpen)
	pr, err := w.host.PullRequest(w.Context(), repository, w.promotion(p.ID).Number)
	w.must(err)
	w.contains("the pull request", pr.Title+pr.Body, "web: what was changed by hand in prod", "makes Git say what runs", plan.Cause, "Asked for by rita", "INC-77")
	state, _ := w.gates(w.promotion(p.ID).Number)
	same(w, "status", state, "pending")
	same(w, "promotions of the pull request", len(w.changes(w.promotion(p.ID).Number)), 1)
	again, err := w.service.Adopt(w.Context(), rita, adopting(ids...))
	w.must(err)
	same(w, "asked again", again.ID, p.ID)

	w.approves(rita, p.ID) // who asked for it
	same(w, "approvals", w.gate(p.ID, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Wait)
	w.edits(overlay("web", "prod"), "# checked against last year's peak", "# checked against this year's peak")
	w.settle()
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.is(p.ID, promotion.StateSyncing)
	after := w.file(overlay("web", "prod"))
	w.contains("the overlay", after, "count: 9 # checked against this year's peak", "patches:", "path: /healthz")
	same(w, "bytes that were there", strings.HasPrefix(after, strings.Replace(strings.Replace(before, "count: 4", "count: 9", 1), "last year", "this year", 1)), true)

	i.found.Differences = nil
	w.verifies(p.ID)
	same(w, "drift once it is live", len(w.compares("prod")), 0)
	same(w, "what runs", w.desired("web", "prod").ReleaseID, plan.Release.ID)
}

// Beside an open release, fields are adopted without taking its place; withdrawn, nothing of it is left.
func TestAdoptedFieldsStandBesideARelease(t *testing.T) {
	w, _, ids := edited(t, liveReplicas("9"))
	release := w.atProd("1.2.0")
	p, err := w.service.Adopt(w.Context(), rita, adopting(ids...))
	w.must(err)
	w.settle()
	w.is(release, promotion.StateOpen)
	w.is(p.ID, promotion.StateOpen)
	w.approves(ada, release)
	w.merges(rita, release)
	w.is(p.ID, promotion.StateOpen)
	w.lookAtEverything()
	same(w, "content once main has moved", w.gate(p.ID, promotion.PhaseMerge, promotion.GateContent).Verdict, promotion.Pass)
	_, err = w.service.Cancel(w.Context(), rita, p.ID, "it is calm again")
	w.must(err)
	w.settle()
	same(w, "its pull request", w.pullRequest(p.ID).State, promotion.PullRequestClosed)
	same(w, "its branch", w.clone().Remote(w.promotion(p.ID).Branch), "")
}

// An overlay that builds on the one that was changed by hand renders the fields, too, and has its own gates.
func TestAdoptedFieldsAreJudgedWhereverTheyGo(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		onlyProd(files)
		files[overlay("web", "prod-dr")] = []byte("resources: [../prod]\nnamespace: shop-dr\n")
	})
	i := w.inspected()
	w.sees("web", "prod", synced(w.clone().Remote("main")), healthy)
	i.found.Differences = []promotion.Drift{liveReplicas("9")}
	request := adopting(w.compares("prod")[0].ID)
	plan, err := w.service.PlanAdopt(w.Context(), request)
	w.must(err)
	same(w, "targets that change too", len(plan.Others), 1)
	p, err := w.service.Adopt(w.Context(), rita, request)
	w.must(err)
	w.settle()
	all := w.changes(w.promotion(p.ID).Number)
	same(w, "changes", len(all), 2)
	other := all[0]
	same(w, "of", other.Target.Environment, "prod-dr")
	same(w, "who asked for it", other.RequestedBy, "rita")
	w.lookAtEverything()
	w.is(p.ID, promotion.StateOpen)
	w.approves(ada, p.ID)
	_, err = w.service.Merge(w.Context(), rita, p.ID)
	w.refused(err, "merge-refused")
	w.approves(ada, other.ID)
	w.merges(rita, p.ID)
	w.lookAtEverything()
	same(w, "replicas of the other", w.promotion(other.ID).PullRequest, promotion.PullRequestMerged)
	same(w, "violations", w.count("SELECT count(*) FROM violations WHERE kind <> 'edited'"), 0)
}

func TestOnlyWhatAPersonChangedIsAdopted(t *testing.T) {
	by := func(d promotion.Drift, change func(*promotion.Drift)) promotion.Drift {
		change(&d)
		return d
	}
	found := []promotion.Drift{
		liveReplicas("9"),
		by(live("spec.paused", []string{"f:spec", "f:paused"}, "", "true", "true"), func(d *promotion.Drift) { d.Class, d.Owner = promotion.DriftAutoscaler, "a HorizontalPodAutoscaler" }),
		by(live("data.password", []string{"f:data", "f:password"}, "(hidden)", "(hidden)", ""), func(d *promotion.Drift) { d.Object = "Secret shop-prod/db" }),
		live("spec.template.spec.containers[web].env[DB_PASSWORD].value", nil, "(hidden)", "(hidden)", ""),
		live("spec.minReadySeconds", []string{"f:spec", "f:minReadySeconds"}, "5", "", ""),
		by(live("spec.strategy.type", []string{"f:spec", "f:strategy", "f:type"}, "", "Recreate", `"Recreate"`), func(d *promotion.Drift) { d.Excuse = "hidden by ignoreDifferences" }),
		live("spec.template.spec.containers[web].image", nil, "a", "b", `"b"`),
		live("spec.template.spec.containers[web].name", []string{"f:spec", "f:template", "f:spec", "f:nodes", `k:{"name":"web"}`, "f:name"}, "web", "shop", `"shop"`),
	}
	w, i, _ := edited(t, found...)
	id := func(path string) int64 {
		for _, d := range w.drifts("prod", true) {
			if strings.Contains(d.Object+" "+d.Path, path) {
				return d.ID
			}
		}
		w.Fatalf("no drift of %s", path)
		return 0
	}
	for path, want := range map[string][2]string{
		"spec.paused":          {"not-adoptable", "HorizontalPodAutoscaler"},
		"data.password":        {"not-adoptable", "Secret never goes into Git"},
		"DB_PASSWORD":          {"not-adoptable", "hidden from people"},
		"minReadySeconds":      {"not-adoptable", "took it away"},
		"strategy.type":        {"not-adoptable", "ignoreDifferences"},
		"[web].image":          {"not-adoptable", "Adopt the release"},
		"containers[web].name": {"cannot-adopt", "no scalar field"},
	} {
		_, err := w.service.PlanAdopt(w.Context(), adopting(id(path)))
		w.contains("the refusal of "+path, w.refused(err, want[0]).Message, want[1])
	}
	_, err := w.service.PlanAdopt(w.Context(), adopting(id("spec.replicas"), 99999))
	w.refused(err, "drift-changed")
	_, err = w.service.PlanAdopt(w.Context(), adopting(0))
	w.refused(err, "missing-fields")
	i.found.Differences = []promotion.Drift{liveReplicas("7")}
	_, err = w.service.PlanAdopt(w.Context(), adopting(id("spec.replicas")))
	w.contains("the refusal", w.refused(err, "drift-changed").Message, "no longer 9")
	i.err = errUnreachable
	_, err = w.service.PlanAdopt(w.Context(), adopting(id("spec.replicas")))
	w.refused(err, "drift-unknown")
}
