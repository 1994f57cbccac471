package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestWhatRunsAlreadyIsImportedUnproven(t *testing.T) {
	w := newWorld(t)
	for application, environments := range map[string][]string{
		"web": {"dev", "staging", "prod"}, "checkout": {"dev", "staging", "prod"}, "order-service": {"staging", "production"},
	} {
		releases, err := w.service.Store.Releases(w.Context(), application, 0, 10)
		w.must(err)
		same(w, application+"'s releases", len(releases), 1)
		r := releases[0]
		same(w, "number", r.Number, 1)
		same(w, "origin", r.Origin, promotion.FromImport)
		for _, environment := range environments {
			same(w, "what main has in "+environment, w.desired(application, environment).ReleaseID, r.ID)
		}
		links, err := w.service.Chain(w.Context(), r.ID)
		w.must(err)
		if slices.ContainsFunc(links, func(l promotion.Link) bool { return l.Verified }) {
			t.Errorf("the chain of imported %s says that something is verified: %+v", application, links)
		}
	}
	verified, err := w.service.Store.VerifiedOn(w.Context(), 1, []int64{1, 2, 3, 4, 5, 6, 7, 8})
	w.must(err)
	same(w, "targets on which an import counts as verified", len(verified), 0)

	before := w.content()
	delete(before, "public.config_repositories") // says when it was looked at
	w.look()
	w.settle()
	after := w.content()
	after["public.config_repositories"] = before["public.config_repositories"]
	for table := range before {
		same(w, "table "+table+" after another look", after[table], before[table])
	}
}

func TestWhatRunsUnderATagCannotBePromoted(t *testing.T) {
	w := newWorld(t)
	imported := w.release(w.desired("order-service", "staging").ReleaseID)
	w.edits(overlay("order-service", "production"), `newTag: "2.0.0"`, `newTag: "1.9.0"`)

	id := w.promotes(imported, "production")

	w.is(id, promotion.StateRequested)
	gate := w.gate(id, promotion.PhaseOpen, promotion.GateImmutableReference)
	same(w, "verdict", gate.Verdict, promotion.Block)
	w.contains("the reason", gate.Reason, "order-service", ":2.0.0", "tag", "digest")
	w.contains("what it waits for", w.promotion(id).WaitsFor, gate.Reason)
	same(w, "pull requests", w.count("SELECT count(*) FROM prhost.pull_requests"), 0)
}

func TestAnApplicationAddedByACommitAppears(t *testing.T) {
	w := newWorld(t)
	c := w.clone()
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	for _, environment := range []string{"dev", "prod"} {
		c.Write("apps/mail/overlays/"+environment+"/kustomization.yaml", "resources:\n- ../../base\n")
	}
	c.Write("apps/mail/base/kustomization.yaml", "resources:\n- deployment.yaml\n")
	c.Write("apps/mail/base/deployment.yaml", deployment("mail", w.images.repository("mail")+":3.2.1"))
	c.Git("add", "--all")
	c.Git("commit", "--quiet", "--message", "Add mail")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()

	for _, environment := range []string{"dev", "prod"} {
		r := w.release(w.desired("mail", environment).ReleaseID)
		same(w, "version", r.Version, "3.2.1")
		same(w, "origin", r.Origin, promotion.FromImport)
	}
	board, err := w.service.Store.Board(w.Context())
	w.must(err)
	same(w, "applications on the board", len(board), 5)
	r := w.released("3.3.0", "mail")
	same(w, "number of the first build's release", r.Number, 2)
}

func TestARemovedOverlayDisappears(t *testing.T) {
	w := newWorld(t)
	c := w.clone()
	c.Git("rm", "--quiet", "-r", "apps/web/overlays/staging", "apps/checkout")
	c.Git("commit", "--quiet", "--message", "Retire checkout, and web in staging")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()

	targets, err := w.service.Store.Targets(w.Context())
	w.must(err)
	var left []string
	for _, t := range targets {
		left = append(left, strings.TrimPrefix(t.Path, "apps/"))
	}
	same(w, "targets left", strings.Join(left, " "),
		"catalog/overlays/dev catalog/overlays/staging catalog/overlays/prod order-service/overlays/staging order-service/overlays/production web/overlays/dev web/overlays/prod")
	_, err = w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "staging", Release: "1.0.0"})
	w.refused(err, "unknown-target")
	_, _, err = w.service.RecordBuild(w.Context(), ci, w.request("1.1.0", "checkout"))
	w.refused(err, "unknown-application")

	c.Git("revert", "--no-edit", "HEAD")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()
	w.target("web", "staging")
	w.released("1.1.0", "checkout")
}

func TestTheRemovalOfATargetIsAudited(t *testing.T) {
	w := newWorld(t)
	w.clone().Git("rm", "--quiet", "-r", "apps/web/overlays/staging")
	w.clone().Git("commit", "--quiet", "--message", "Retire web in staging")
	w.clone().Git("push", "--quiet", "origin", "main")
	w.settle()
	same(w, "events of the removal", w.count("SELECT count(*) FROM audit_events WHERE action = 'target.removed' AND object = 'target/apps/web/overlays/staging'"), 1)
}

func TestACommitByHandIsRecordedWithItsAuthorAndRelease(t *testing.T) {
	w := newWorld(t)
	first := w.desired("web", "prod")
	r := w.inDev("1.1.0")
	devBefore := w.desired("web", "dev").Commit.SHA

	sha := w.edits(overlay("web", "prod"), digestIn(first.Images[0].Reference), r.Artifacts[0].Digest)

	got := w.desired("web", "prod")
	same(w, "commit", got.Commit.SHA, sha)
	same(w, "author", got.Commit.Author, "Pat Person <pat@example.test>")
	same(w, "release", got.ReleaseID, r.ID)
	same(w, "promotion", got.PromotionID, 0)
	same(w, "commit of dev, which it does not touch", w.desired("web", "dev").Commit.SHA, devBefore)

	unknown := w.images.push(t, "web", "by-hand", "")
	w.edits(overlay("web", "prod"), r.Artifacts[0].Digest, unknown)
	imported := w.release(w.desired("web", "prod").ReleaseID)
	same(w, "origin of what nobody posted", imported.Origin, promotion.FromImport)
	same(w, "its digest", imported.Artifacts[0].Digest, unknown)

	count := w.count("SELECT count(*) FROM target_revisions")
	w.edits("README.md", "What runs where", "What runs where,")
	same(w, "revisions after a commit that changes no target", w.count("SELECT count(*) FROM target_revisions"), count)
}

func TestMainForcedBackIsWhatIsDesired(t *testing.T) {
	w := newWorld(t)
	imported := w.desired("web", "dev")
	r := w.inDev("1.1.0")
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	c.Git("push", "--quiet", "--force", "origin", imported.Commit.SHA+":refs/heads/main")
	w.settle()

	same(w, "commit of dev", w.desired("web", "dev").Commit.SHA, imported.Commit.SHA)
	same(w, "release of dev", w.desired("web", "dev").ReleaseID, imported.ReleaseID)
	again := w.promotes(r, "dev")
	w.is(again, promotion.StateMerged)
	w.contains("main", w.file(overlay("web", "dev")), r.Artifacts[0].Digest)
}

func TestARevertByHandIsWhatIsDesired(t *testing.T) {
	w := newWorld(t)
	imported := w.desired("web", "dev")
	r := w.inDev("1.1.0")
	c := w.clone()
	c.Git("fetch", "--quiet", "origin")
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	c.Git("revert", "--no-edit", "-m", "1", "HEAD")
	c.Git("push", "--quiet", "origin", "main")
	w.settle()
	same(w, "release of dev", w.desired("web", "dev").ReleaseID, imported.ReleaseID)
	again := w.promotes(r, "dev")
	w.is(again, promotion.StateMerged)
}

// What several targets share may lie anywhere in the repository.
func TestACommitToWhatTargetsShareIsRecorded(t *testing.T) {
	for _, shared := range []string{"shared/labels", "apps/_shared/labels"} {
		t.Run(shared, func(t *testing.T) {
			w := newWorld(t)
			c := w.clone()
			c.Git("checkout", "--quiet", "-B", "main", "origin/main")
			up := "../../" // of a file in apps/web/base, to apps
			if !strings.HasPrefix(shared, "apps/") {
				up += "../"
			}
			c.Write(shared+"/kustomization.yaml", "resources: [settings.yaml]\n")
			c.Write(shared+"/settings.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  mode: old\n")
			c.Write("apps/web/base/kustomization.yaml", w.file("apps/web/base/kustomization.yaml")+"  - "+up+strings.TrimPrefix(shared, "apps/")+"\n")
			c.Git("add", "--all")
			c.Git("commit", "--quiet", "--message", "Share settings")
			c.Git("push", "--quiet", "origin", "main")
			w.settle()
			same(w, "the target's problem", w.target("web", "prod").RenderProblem, "")
			before := w.desired("web", "prod")

			sha := w.edits(shared+"/settings.yaml", "mode: old", "mode: new")

			after := w.desired("web", "prod")
			same(w, "commit of prod", after.Commit.SHA, sha)
			same(w, "its rendering's being another", after.RenderedHash != before.RenderedHash, true)
			same(w, "release of prod", after.ReleaseID, before.ReleaseID)
		})
	}
}

// deployment is a Deployment of one container.
func deployment(name, image string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " + name + "\nspec:\n  selector:\n    matchLabels: {app: " + name +
		"}\n  template:\n    metadata:\n      labels: {app: " + name + "}\n    spec:\n      containers:\n      - name: " + name + "\n        image: " + image + "\n"
}
