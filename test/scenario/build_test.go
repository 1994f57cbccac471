package scenario_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func ids(out promotion.BuildOutcome) string {
	text := fmt.Sprint("build ", out.Build.ID)
	for _, r := range out.Releases {
		text += fmt.Sprint(" release ", r.ID)
	}
	for _, p := range out.Promotions {
		text += fmt.Sprint(" promotion ", p.ID)
	}
	return text
}

func TestTheSamePostAgainChangesNothing(t *testing.T) {
	w := newWorld(t)
	r := w.request("2.1.0", "order-service", "order-worker")
	r.Artifacts[0].Tags, r.IdempotencyKey = []string{"2.1", "2.1.0"}, "run-1"
	first := w.posts(r)
	same(w, "outcome", ids(first), fmt.Sprint("build ", first.Build.ID, " release ", first.Releases[0].ID))

	web := w.request("1.1.0", "web")
	dev := w.posts(web)
	same(w, "promotions", len(dev.Promotions), 1)
	same(w, "environment", dev.Promotions[0].Target.Environment, "dev")

	before := w.content()
	reordered := r
	reordered.Artifacts = []promotion.BuildArtifact{r.Artifacts[1], {Repository: r.Artifacts[0].Repository, Digest: r.Artifacts[0].Digest, Tags: []string{"2.1.0", "2.1"}}}
	reordered.Line = promotion.DefaultLine
	for what, again := range map[string]struct {
		request promotion.BuildRequest
		want    promotion.BuildOutcome
	}{"the same": {r, first}, "in another order": {reordered, first}, "without a key": {web, dev}} {
		got, created, err := w.service.RecordBuild(w.Context(), ci, again.request)
		w.must(err)
		same(w, what+": created", created, false)
		same(w, what+": outcome", ids(got), ids(again.want))
	}
	w.unchanged(before)

	w.settle()
	before = w.content()
	_, _, err := w.service.RecordBuild(w.Context(), ci, web)
	w.must(err)
	w.unchanged(before)
}

func TestABuildThatIsRefusedStoresNothing(t *testing.T) {
	w := newWorld(t)
	keyed := w.request("1.1.0", "web")
	keyed.IdempotencyKey = "run-1"
	w.posts(keyed)
	w.settle()
	before := w.content()
	for name, test := range map[string]struct {
		code, field string
		edit        func(*promotion.BuildRequest)
	}{
		"tag":                 {"mutable-reference", "artifacts[0].digest", func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = "latest" }},
		"malformed digest":    {"malformed-digest", "artifacts[0].digest", func(r *promotion.BuildRequest) { r.Artifacts[0].Digest = "sha256:abc" }},
		"no artifacts":        {"no-artifacts", "artifacts", func(r *promotion.BuildRequest) { r.Artifacts = nil }},
		"no version":          {"malformed-version", "version", func(r *promotion.BuildRequest) { r.Version = "" }},
		"image twice":         {"duplicate-artifact", "artifacts[1].repository", func(r *promotion.BuildRequest) { r.Artifacts = append(r.Artifacts, r.Artifacts[0]) }},
		"expects no group":    {"missing-group", "group", func(r *promotion.BuildRequest) { r.GroupExpects = []string{"web"} }},
		"unknown image":       {"unknown-application", "artifacts[0].repository", func(r *promotion.BuildRequest) { r.Artifacts[0].Repository += "-typo" }},
		"unknown application": {"unknown-application", "application", func(r *promotion.BuildRequest) { r.Application = "webb" }},
		"image of another":    {"unknown-artifact", "artifacts[0].repository", func(r *promotion.BuildRequest) { r.Application = "checkout" }},
		"one image unknown": {"unknown-application", "artifacts[1].repository", func(r *promotion.BuildRequest) {
			r.Artifacts = append(r.Artifacts, promotion.BuildArtifact{Repository: w.images.repository("zero"), Digest: r.Artifacts[0].Digest})
		}},
		"key of another post": {"idempotency-key-reused", "Idempotency-Key", func(r *promotion.BuildRequest) { r.IdempotencyKey = "run-1" }},
	} {
		r := w.request("1.2.0", "web")
		test.edit(&r)
		_, _, err := w.service.RecordBuild(w.Context(), ci, r)
		refusal := w.refused(err, test.code)
		same(w, name+": field", refusal.Field, test.field)
	}
	for _, by := range []promotion.Actor{vera, ada} {
		_, _, err := w.service.RecordBuild(w.Context(), by, w.request("1.2.0", "web"))
		w.refused(err, "forbidden")
	}
	w.unchanged(before)
}

// Whoever reads the refusal looks for the field in what was posted, not in what Sluice made of it.
func TestARefusalNamesTheFieldAsItWasPosted(t *testing.T) {
	w := newWorld(t)
	r := w.request("1.1.0", "web", "nobody")
	_, _, err := w.service.RecordBuild(w.Context(), ci, r)
	same(w, "field", w.refused(err, "unknown-application").Field, "artifacts[1].repository")
}

func TestImagesPostedTogetherAreOneRelease(t *testing.T) {
	w := newWorld(t)
	r := w.released("2.1.0", "order-worker", "order-service")
	same(w, "artifacts", len(r.Artifacts), 2)
	for _, a := range r.Artifacts {
		same(w, a.Name+": carried from", a.CarriedFrom, 0)
		same(w, a.Name+": digest", a.Digest, w.images.push(t, a.Name, "2.1.0", ""))
	}
	same(w, "number", r.Number, 2)
}

func TestWhatIsNotPostedIsCarriedForward(t *testing.T) {
	w := newWorld(t)
	imported := w.desired("order-service", "staging").ReleaseID
	first := w.released("2.1.0", "order-service")
	second := w.released("2.2.0", "order-service")
	for _, r := range []promotion.Release{first, second} {
		for _, a := range r.Artifacts {
			if a.Name == "order-worker" {
				same(w, "carried from", a.CarriedFrom, imported)
				same(w, "digest", a.Digest, w.images.push(t, "order-worker", "2.0.0", ""))
			} else {
				same(w, "carried from, of what was posted", a.CarriedFrom, 0)
			}
		}
	}
	same(w, "rebuild of", second.RebuildOf, 0)

	id := w.promotes(second, "staging")
	w.is(id, promotion.StateMerged)
	w.contains("main", w.file(overlay("order-service", "staging")), second.Artifacts[0].Digest, second.Artifacts[1].Digest)
}

func TestOneByOneUnderAGroupIsExactlyOneRelease(t *testing.T) {
	w := newWorld(t)
	names := []string{"order-service", "order-worker"}
	for i, order := range [][]string{{names[0], names[1]}, {names[1], names[0]}} {
		version := fmt.Sprintf("2.%d.0", i+1)
		var released []promotion.Release
		for n, name := range order {
			r := w.request(version, name)
			r.Group, r.GroupExpects = "run-"+version, names
			out := w.posts(r)
			released = append(released, out.Releases...)
			same(w, fmt.Sprintf("releases after %d of 2 images", n+1), len(released), n)
		}
		r := released[0]
		for _, a := range r.Artifacts {
			same(w, a.Name+": carried from", a.CarriedFrom, 0)
			same(w, a.Name+": digest", a.Digest, w.images.push(t, a.Name, version, ""))
		}
	}
	same(w, "releases", w.count("SELECT count(*) FROM releases r JOIN applications a ON a.id = r.application_id WHERE a.name = 'order-service'"), 3)
}

func TestTheChainOfAGroupSaysThatAllWerePosted(t *testing.T) {
	w := newWorld(t)
	names := []string{"order-service", "order-worker"}
	var out promotion.BuildOutcome
	for _, name := range names {
		r := w.request("2.1.0", name)
		r.Group, r.GroupExpects = "run-2", names
		out = w.posts(r)
	}
	links, err := w.service.Chain(w.Context(), out.Releases[0].ID)
	w.must(err)
	for _, l := range links {
		if !l.Verified || strings.Contains(l.Proof, "carried forward") {
			t.Errorf("link %s is %+v, but both images were posted in one group", l.Name, l)
		}
	}
}

// A monorepo's CI names every group after its run.
func TestAGroupSharedByTwoApplicationsCompletesBoth(t *testing.T) {
	w := newWorld(t)
	post := func(name string, expects ...string) {
		r := w.request("5.0.0", name)
		r.Group, r.GroupExpects = "run-5", expects
		w.posts(r)
	}
	post("order-service", "order-service", "order-worker")
	post("web", "web")
	post("order-worker", "order-service", "order-worker")
	for _, application := range []string{"web", "order-service"} {
		releases, err := w.service.Store.Releases(w.Context(), application, 0, 10)
		w.must(err)
		if len(releases) != 2 || releases[0].Version != "5.0.0" {
			t.Errorf("%s has %d releases, the newest is %s: want its release 5.0.0", application, len(releases), releases[0].Version)
		}
	}
}

func TestARebuildInheritsNothing(t *testing.T) {
	w := newWorld(t)
	id := w.atProd("1.1.0")
	w.approves(ada, id)
	first := w.promotion(id).Release

	r := w.request("1.1.0", "web")
	r.Artifacts[0].Digest = w.images.push(t, "web", "1.1.0", "built again")
	rebuilt := w.posts(r).Releases[0]
	w.settle()

	same(w, "rebuild of", rebuilt.RebuildOf, first.ID)
	same(w, "number", rebuilt.Number, first.Number+1)
	w.contains("the audit", strings.Join(w.texts("SELECT message FROM audit_events WHERE release_id = $1", rebuilt.ID), "\n"), "rebuild", "no evidence and no approval")
	_, err := w.asks(rebuilt, "prod")
	w.refused(err, "promotion-open")
	_, err = w.service.Cancel(w.Context(), rita, id, "rebuilt")
	w.must(err)
	w.settle()
	again := w.promotes(rebuilt, "prod")
	gate := w.gate(again, promotion.PhaseOpen, promotion.GateUpstreamVerified)
	same(w, "verdict", gate.Verdict, promotion.Wait)
	w.contains("the reason", gate.Reason, "not verified in staging")
	w.verifies(w.newest("web", "dev"))
	w.verifies(w.promotes(rebuilt, "staging"))
	w.is(again, promotion.StateOpen)
	w.contains("the approvals", w.gate(again, promotion.PhaseMerge, promotion.GateApprovals).Reason, "0 of 1")
	pages, err := w.host.PullRequest(w.Context(), repository, w.promotion(again).Number)
	w.must(err)
	w.contains("the pull request", pages.Body, "Rebuild")
}

func TestTheSameDigestsUnderAnotherVersionAreAnAlias(t *testing.T) {
	w := newWorld(t)
	first := w.inDev("1.1.0")
	r := w.request("1.1.0", "web")
	r.Version = "1.1.0-final"
	out := w.posts(r)
	same(w, "outcome", ids(out), fmt.Sprint("build ", out.Build.ID, " release ", first.ID))
	same(w, "aliases", strings.Join(out.Releases[0].Aliases, " "), "1.1.0-final")
	same(w, "version", out.Releases[0].Version, "1.1.0")

	p, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "staging", Release: "1.1.0-final"})
	w.must(err)
	same(w, "release found by its alias", p.Release.ID, first.ID)
}

func TestOtherDigestsUnderAnAliasAreARebuild(t *testing.T) {
	w := newWorld(t)
	first := w.released("1.1.0", "web")
	r := w.request("1.1.0", "web")
	r.Version = "1.1.0-final"
	w.posts(r)
	r.Artifacts[0].Digest = w.images.push(t, "web", "1.1.0", "another final")
	same(w, "rebuild of", w.posts(r).Releases[0].RebuildOf, first.ID)
}

// CI runs an old commit's job again: what is newer in dev must not be replaced by itself.
func TestAnOldBuildPostedAgainDoesNotGoBackByItself(t *testing.T) {
	w := newWorld(t)
	w.inDev("1.1.0")
	newer := w.inDev("1.2.0")
	r := w.request("1.1.0", "web")
	r.CI.RunURL += "/attempts/2"
	out := w.posts(r)
	w.settle()
	same(w, "promotions started", len(out.Promotions), 0)
	same(w, "release of dev", w.desired("web", "dev").ReleaseID, newer.ID)
}

// An application's images change over its life.
func TestAnImageAddedToTheManifestsCanBePosted(t *testing.T) {
	w := newWorld(t)
	w.inDev("1.1.0")
	w.edits("apps/web/base/deployment.yaml", "        - name: web\n",
		"        - name: proxy\n          image: "+w.images.repository("proxy")+"@"+w.images.push(t, "proxy", "1.0.0", "")+"\n        - name: web\n")
	out, _, err := w.service.RecordBuild(w.Context(), ci, w.request("1.2.0", "proxy"))
	w.must(err)
	var names []string
	for _, a := range out.Releases[0].Artifacts {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	same(w, "images of the release", strings.Join(names, " "), "proxy web")
}

func TestAnImageRemovedFromTheManifestsIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.edits("apps/order-service/base/kustomization.yaml", "- worker.yaml\n", "")
	id := w.promotes(w.released("2.1.0", "order-service"), "staging")
	p := w.promotion(id)
	w.sees("order-service", "staging", synced(p.MergeSHA), healthy,
		containers(container{p.Release.Artifacts[0].Reference(), p.Release.Artifacts[0].Reference()}))
	w.is(id, promotion.StateLive)
}
