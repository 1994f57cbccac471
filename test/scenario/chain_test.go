package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// broken lists the links that do not hold, and fails the test if one says nothing of how it knows.
func (w *world) broken(r promotion.Release) []string {
	w.Helper()
	links, err := w.service.Chain(w.Context(), r.ID)
	w.must(err)
	var broken []string
	for _, l := range links {
		if l.Proof == "" || l.At.IsZero() {
			w.Errorf("link %s (%s) has no proof or time: %+v", l.Name, l.Environment, l)
		}
		if !l.Verified {
			broken = append(broken, strings.TrimSpace(l.Environment+" "+l.Name))
		}
	}
	return broken
}

func TestEveryLinkOfAVerifiedReleaseHolds(t *testing.T) {
	w := newWorld(t)
	id := w.approvedAtProd("1.1.0")
	w.sees("web", "prod", healthy)
	w.merges(rita, id)
	w.verifies(id)
	p := w.promotion(id)
	same(w, "broken links", strings.Join(w.broken(p.Release), ", "), "")
	links, err := w.service.Chain(w.Context(), p.Release.ID)
	w.must(err)
	same(w, "links", len(links), 2+3*5)
	for _, environment := range []string{"dev", "staging", "prod"} {
		var names []string
		for _, l := range links {
			if l.Environment == environment {
				names = append(names, l.Name)
			}
		}
		same(w, "links of "+environment, strings.Join(names, ", "), "release → registry, release → rendered manifest, commit → merge on main, "+
			"merge → synced revision, synced revision → running containers")
	}
	w.contains("the source", links[0].Found, commitOf("1.1.0"))
}

func TestEachTamperingBreaksItsLink(t *testing.T) {
	for name, test := range map[string]struct {
		tamper func(*world, promotion.Promotion)
		broken string
	}{
		"image overridden in the cluster": {func(w *world, p promotion.Promotion) {
			w.sees("web", "dev", w.running(w.release(p.Release.ID-1)), func(o *promotion.Observation) { o.Sync = promotion.OutOfSync })
		}, "dev synced revision → running containers"},
		"image overridden beside the right one": {func(w *world, p promotion.Promotion) {
			a, old := p.Release.Artifacts[0], w.release(p.Release.ID - 1).Artifacts[0]
			w.sees("web", "dev", containers(container{a.Reference(), a.Reference()}, container{old.Reference(), old.Reference()}))
		}, "dev synced revision → running containers"},
		"synced to a commit from before": {func(w *world, p promotion.Promotion) {
			w.sees("web", "dev", synced(w.clone().Git("rev-list", "--max-parents=0", "origin/main")))
		}, "dev merge → synced revision"},
		"main forced elsewhere": {func(w *world, _ promotion.Promotion) {
			c := w.clone()
			c.Git("fetch", "--quiet", "origin")
			c.Git("push", "--quiet", "--force", "origin", c.Git("rev-list", "--max-parents=0", "origin/main")+":refs/heads/main")
			w.settle()
		}, "dev commit → merge on main"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			r := w.inDev("1.1.0")
			same(w, "broken links before", strings.Join(w.broken(r), ", "), "")
			test.tamper(w, w.promotion(w.newest("web", "dev")))
			same(w, "broken links", strings.Join(w.broken(r), ", "), test.broken)
		})
	}
}

// An image that the Application itself overrides never is what the merge renders.
func TestAnOverrideFromTheStartBreaksItsLink(t *testing.T) {
	w := newWorld(t)
	old := w.release(w.desired("web", "dev").ReleaseID)
	p := w.mergedInDev("1.1.0")
	w.sees("web", "dev", synced(p.MergeSHA), healthy, w.running(old))
	w.is(p.ID, promotion.StateSyncing)
	same(w, "broken links", strings.Join(w.broken(p.Release), ", "), "dev synced revision → running containers")
}

// A release that a newer one has replaced was right while it ran.
func TestTheChainOfWhatWasReplacedStillHolds(t *testing.T) {
	w := newWorld(t)
	first := w.inDev("1.1.0")
	second := w.inDev("1.2.0")
	same(w, "broken links of the first", strings.Join(w.broken(first), ", "), "")
	same(w, "broken links of the second", strings.Join(w.broken(second), ", "), "")
}

// A commit by hand replaces a release too, and the cluster then runs what main says.
func TestTheChainOfWhatWasReplacedByHandStillHolds(t *testing.T) {
	w := newWorld(t)
	old := w.desired("web", "dev")
	first := w.inDev("1.1.0")
	sha := w.edits(overlay("web", "dev"), first.Artifacts[0].Digest, digestIn(old.Images[0].Reference))
	w.sees("web", "dev", synced(sha), healthy, w.running(w.release(old.ReleaseID)))
	same(w, "broken links", strings.Join(w.broken(first), ", "), "")
}
