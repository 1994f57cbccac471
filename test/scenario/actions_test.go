package scenario_test

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// commitOf stands for the source commit that a version was built from.
func commitOf(version string) string {
	return strings.Repeat("0", 8) + fmt.Sprintf("%032x", version)[:32]
}

// request is CI's post of images, each pushed in that version.
func (w *world) request(version string, names ...string) promotion.BuildRequest {
	w.Helper()
	r := promotion.BuildRequest{Version: version, Source: promotion.Source{Repository: "https://git.example.test/shop", Commit: commitOf(version)},
		CI: promotion.CIRun{Provider: "example", RunURL: "https://ci.example.test/runs/" + version}}
	for _, name := range names {
		r.Artifacts = append(r.Artifacts, promotion.BuildArtifact{Repository: w.images.repository(name), Digest: w.images.push(w.TB, name, version, "")})
	}
	return r
}

// posts has CI post a build that must be new.
func (w *world) posts(r promotion.BuildRequest) promotion.BuildOutcome {
	w.Helper()
	out, created, err := w.service.RecordBuild(w.Context(), ci, r)
	w.must(err)
	same(w, "the build's being new", created, true)
	return out
}

// released is CI's post of an application's images, and the release that it completes.
func (w *world) released(version string, names ...string) promotion.Release {
	w.Helper()
	out := w.posts(w.request(version, names...))
	same(w, "the number of releases", len(out.Releases), 1)
	return out.Releases[0]
}

// inDev posts a version of web and takes it to dev, where it is verified.
func (w *world) inDev(version string) promotion.Release {
	w.Helper()
	out := w.posts(w.request(version, "web"))
	w.settle()
	w.verifies(out.Promotions[0].ID)
	return out.Releases[0]
}

// inStaging takes a version of web to dev and staging, where it is verified.
func (w *world) inStaging(version string) promotion.Release {
	w.Helper()
	r := w.inDev(version)
	w.verifies(w.promotes(r, "staging"))
	return r
}

// atProd takes a version of web through what comes before prod, if anything does, and asks for it there: its pull request is open.
func (w *world) atProd(version string) int64 {
	w.Helper()
	var r promotion.Release
	if _, err := w.service.Store.TargetNamed(w.Context(), "web", "dev"); err == nil {
		r = w.inStaging(version)
	} else {
		r = w.released(version, "web")
	}
	id := w.promotes(r, "prod")
	w.is(id, promotion.StateOpen)
	return id
}

// promotes has rita ask for a release in an environment.
func (w *world) promotes(r promotion.Release, environment string) int64 {
	w.Helper()
	p, err := w.asks(r, environment)
	w.must(err)
	w.settle()
	return p.ID
}

func (w *world) asks(r promotion.Release, environment string) (promotion.Promotion, error) {
	w.Helper()
	return w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: r.Application, Environment: environment,
		Release: fmt.Sprint(r.ID), Reason: "the weekly release"})
}

func (w *world) approves(by promotion.Actor, id int64) {
	w.Helper()
	_, err := w.service.Decide(w.Context(), by, promotion.DecideRequest{PromotionID: id, Decision: "approve", Comment: "looks right"})
	w.must(err)
	w.settle()
}

func (w *world) merges(by promotion.Actor, id int64) {
	w.Helper()
	_, err := w.service.Merge(w.Context(), by, id)
	w.must(err)
	w.settle()
}

func (w *world) promotion(id int64) promotion.Promotion {
	w.Helper()
	p, err := w.service.Store.Promotion(w.Context(), id)
	w.must(err)
	return p
}

// is fails the test unless a promotion is in a state, and says what it waits for if not.
func (w *world) is(id int64, state promotion.State) {
	w.Helper()
	if p := w.promotion(id); p.State() != state {
		w.Fatalf("promotion %d of %s to %s is %s, want %s; it waits for: %s", id, p.Target.Application, p.Target.Environment, p.State(), state, p.WaitsFor)
	}
}

// gate is a gate's current result.
func (w *world) gate(id int64, phase promotion.Phase, name string) promotion.GateResult {
	w.Helper()
	results, err := w.service.Store.Gates(w.Context(), id)
	w.must(err)
	for _, g := range results {
		if g.Gate == name && g.Phase == phase {
			return g
		}
	}
	w.Fatalf("promotion %d has no result of gate %s", id, name)
	return promotion.GateResult{}
}

// pullRequest is what the host says of a promotion's.
func (w *world) pullRequest(id int64) promotion.PullRequest {
	w.Helper()
	pr, err := w.host.Repository(repository).Get(w.Context(), w.promotion(id).Number)
	w.must(err)
	return pr
}

// target is one application in one environment.
func (w *world) target(application, environment string) promotion.Target {
	w.Helper()
	t, err := w.service.Store.TargetNamed(w.Context(), application, environment)
	w.must(err)
	return t
}

// desired is what main renders for a target, as last recorded.
func (w *world) desired(application, environment string) promotion.TargetRevision {
	w.Helper()
	r, err := w.service.Store.LatestRevision(w.Context(), w.target(application, environment).ID)
	w.must(err)
	return r
}

func (w *world) release(id int64) promotion.Release {
	w.Helper()
	r, err := w.service.Store.Release(w.Context(), id)
	w.must(err)
	return r
}

// audited lists the actions recorded for a promotion, oldest first.
func (w *world) audited(id int64) []string {
	w.Helper()
	return w.texts("SELECT action FROM audit_events WHERE promotion_id = $1 ORDER BY id", id)
}

// file reads a file of main.
func (w *world) file(name string) string {
	w.Helper()
	w.clone().Git("fetch", "--quiet", "origin")
	return w.clone().Git("show", "origin/main:"+name) + "\n"
}

// edits has rita replace text in a file of main, by a commit pushed to main.
func (w *world) edits(name, old, new string) (sha string) {
	w.Helper()
	content := w.file(name)
	if !strings.Contains(content, old) {
		w.Fatalf("%s does not hold %q", name, old)
	}
	sha = w.clone().Push("main", name, strings.ReplaceAll(content, old, new))
	w.settle()
	return sha
}

func overlay(application, environment string) string {
	return "apps/" + application + "/overlays/" + environment + "/kustomization.yaml"
}

// newest is the newest promotion of a target.
func (w *world) newest(application, environment string) int64 {
	w.Helper()
	all, err := w.service.Store.Promotions(w.Context(), promotion.PromotionFilter{Application: application, Environment: environment, Limit: 1})
	w.must(err)
	if len(all) == 0 {
		w.Fatalf("no promotion of %s to %s", application, environment)
	}
	return all[0].ID
}
