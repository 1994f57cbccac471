package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// restoring asks for web's configuration in an environment as of a commit.
func restoring(environment, commit string) promotion.RestoreRequest {
	return promotion.RestoreRequest{Application: "web", Environment: environment, Reason: "the new setting was wrong",
		Restoration: promotion.Restoration{Commit: commit}}
}

func TestConfigurationGoesBackToWhatItWas(t *testing.T) {
	w := newWorld(t)
	before := w.file(overlay("web", "prod"))
	commit := w.desired("web", "prod").Commit.SHA
	w.edits(overlay("web", "prod"), "count: 4", "count: 9")

	plan, err := w.service.PlanRestore(w.Context(), restoring("prod", commit))
	w.must(err)
	w.contains("the plan", plan.Change.Diff, "replicas", "9")
	same(w, "other targets", len(plan.Others), 0)
	for code, change := range map[string]func(*promotion.RestoreRequest){
		"missing-reason": func(r *promotion.RestoreRequest) { r.Reason = " " },
		"missing-commit": func(r *promotion.RestoreRequest) { r.Commit = "" },
		"unknown-commit": func(r *promotion.RestoreRequest) { r.Commit = strings.Repeat("a", 40) },
		"unknown-target": func(r *promotion.RestoreRequest) { r.Environment = "nowhere" },
	} {
		r := restoring("prod", commit)
		change(&r)
		_, err := w.service.Restore(w.Context(), rita, r)
		w.refused(err, code)
	}
	_, err = w.service.Restore(w.Context(), ada, restoring("prod", commit))
	w.refused(err, "forbidden")

	p, err := w.service.Restore(w.Context(), rita, restoring("prod", commit))
	w.must(err)
	w.settle()
	w.is(p.ID, promotion.StateOpen)
	same(w, "kind", p.Kind, promotion.KindRollback)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	same(w, "the overlay", w.file(overlay("web", "prod")), before)
	_, err = w.service.Restore(w.Context(), rita, restoring("prod", commit))
	w.refused(err, "already-current")
}

func TestARestoredConfigurationMayKeepTodaysImages(t *testing.T) {
	w := newWorld(t)
	commit := w.desired("web", "staging").Commit.SHA
	r := w.inStaging("1.1.0")
	w.edits(overlay("web", "staging"), "resources:", "replicas:\n- name: web\n  count: 9\nresources:")
	request := restoring("staging", commit)
	request.ImagesOfToday = true
	p, err := w.service.Restore(w.Context(), rita, request)
	w.must(err)
	same(w, "release", p.Release.ID, r.ID)
	w.settle()
	w.contains("the overlay", w.file(overlay("web", "staging")), r.Artifacts[0].Digest)
	if strings.Contains(w.file(overlay("web", "staging")), "count: 9") {
		t.Error("the setting is still there")
	}
}

// A base is shared: what prod's restoration changes elsewhere passes the gates there.
func TestARestoredBaseIsJudgedEverywhere(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		files[overlay("web", "prod-us")] = files[overlay("web", "prod")]
	})
	commit := w.desired("web", "prod").Commit.SHA
	w.edits("apps/web/base/configmap.yaml", "data:", "data:\n  ADDED: \"later\"")
	request := restoring("prod", commit)
	request.Base = true
	plan, err := w.service.PlanRestore(w.Context(), request)
	w.must(err)
	same(w, "targets that change too", len(plan.Others), 3)
	p, err := w.service.Restore(w.Context(), rita, request)
	w.must(err)
	w.settle()
	all := w.changes(w.promotion(p.ID).Number)
	same(w, "changes", len(all), 1)
	same(w, "of", all[0].Target.Environment, "prod-us")
	w.approves(ada, p.ID)
	_, err = w.service.Merge(w.Context(), rita, p.ID)
	w.refused(err, "merge-refused")
	w.approves(ada, all[0].ID)
	w.merges(rita, p.ID)
	w.lookAtEverything()
	w.is(p.ID, promotion.StateMerged)
	w.is(all[0].ID, promotion.StateMerged)
	if strings.Contains(w.file("apps/web/base/configmap.yaml"), "ADDED") {
		t.Error("the base is not restored")
	}
}

func TestTodaysSecretsStay(t *testing.T) {
	sealed := func(text string) []byte {
		return []byte("apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata:\n  name: web\nspec:\n  encryptedData:\n    password: " + text + "\n")
	}
	name := "apps/web/overlays/prod/sealed.yaml"
	w := newWorldOf(t, func(files map[string][]byte) {
		files[name] = sealed("old")
		files[overlay("web", "prod")] = []byte(strings.Replace(string(files[overlay("web", "prod")]), "resources:", "resources:\n  - sealed.yaml", 1))
	})
	commit := w.desired("web", "prod").Commit.SHA
	w.edits(name, "old", "new")
	w.edits(overlay("web", "prod"), "count: 4", "count: 9")
	plan, err := w.service.PlanRestore(w.Context(), restoring("prod", commit))
	w.must(err)
	w.contains("the notes", strings.Join(plan.Change.Notes, "\n"), name, "stay as they are today")
	request := restoring("prod", commit)
	request.Secrets = true
	plan, err = w.service.PlanRestore(w.Context(), request)
	w.must(err)
	w.contains("the notes", strings.Join(plan.Change.Notes, "\n"), name, "old secrets come back")
}

// What a repository held before Sluice knew it can be asked, and gone back to, on the first day.
func TestThePastIsImported(t *testing.T) {
	w := newWorld(t)
	c := w.clone()
	name := overlay("web", "brand-new")
	for _, n := range []string{"1", "2", "3"} {
		c.Commit("main", "origin/main", name, w.moreReplicas("prod", n))
		c.Git("commit", "--quiet", "--allow-empty", "-m", "nothing")
		c.Git("push", "--quiet", "origin", "main")
	}
	w.settle()
	v, err := w.service.Store.RevisionsOf(w.Context(), w.target("web", "brand-new").ID, 10)
	w.must(err)
	same(w, "revisions", len(v), 3)
	if v[2].ReleaseID == 0 || v[2].Commit.When.After(v[0].Commit.When) {
		t.Errorf("the oldest is %+v", v[2])
	}
}

func TestAnOverlayThatIsRemovedEndsWhatWasOnItsWay(t *testing.T) {
	w := newWorld(t)
	id := w.atProd("1.1.0")
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	c.Git("rm", "--quiet", "-r", "apps/web/overlays/prod")
	c.Git("commit", "--quiet", "-m", "prod is gone")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()
	w.is(id, promotion.StateCancelled)
	w.contains("the reason", w.promotion(id).DecisionReason, "gone from main")
	same(w, "state at the host", w.pullRequest(id).State, promotion.PullRequestClosed)
}
