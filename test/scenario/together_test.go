package scenario_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// twoProds has a second prod beside the first.
func twoProds(t *testing.T) *world {
	return newWorldOf(t, func(files map[string][]byte) {
		files[overlay("web", "prod-us")] = files[overlay("web", "prod")]
		files[overlay("checkout", "prod-eu")] = files[overlay("checkout", "prod")]
	})
}

func (w *world) asksTogether(r promotion.Release, environment string, with ...string) (promotion.Promotion, error) {
	return w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: r.Application, Environment: environment, Release: r.Version, Reason: "both",
		With: with})
}

// Two environments get a release by one commit and one pull request. Each has its gates, and neither is merged without the other.
func TestEnvironmentsArePromotedToTogether(t *testing.T) {
	w := twoProds(t)
	r := w.inStaging("1.1.0")
	p, err := w.asksTogether(r, "prod", "prod-us", "prod-us")
	w.must(err)
	w.settle()
	same(w, "environments beside it", strings.Join(p.With, " "), "prod-us")
	w.is(p.ID, promotion.StateOpen)
	pr := w.pullRequest(p.ID)
	w.contains("the title", pr.Title, "prod, prod-us")
	all := w.changes(pr.Number)
	same(w, "changes", len(all), 1)
	other := all[0]
	same(w, "of", other.Target.Environment, "prod-us")
	same(w, "release of the other", other.Release.ID, r.ID)
	same(w, "who asked for the other", other.RequestedBy, "rita")
	again, err := w.asksTogether(r, "prod", "prod-us")
	w.must(err)
	same(w, "asked again", again.ID, p.ID)

	w.approves(ada, p.ID)
	_, err = w.service.Merge(w.Context(), rita, p.ID)
	w.contains("the refusal", w.refused(err, "merge-refused").Message, "0 of 1")
	w.approves(ada, other.ID)
	w.merges(rita, p.ID)
	w.lookAtEverything()
	w.is(p.ID, promotion.StateMerged)
	w.is(other.ID, promotion.StateMerged)
	for _, environment := range []string{"prod", "prod-us"} {
		w.contains(environment+"'s overlay", w.file(overlay("web", environment)), r.Artifacts[0].Digest)
		same(w, "release of "+environment, w.desired("web", environment).ReleaseID, r.ID)
	}
	same(w, "one commit for both", w.desired("web", "prod").Commit.SHA, w.desired("web", "prod-us").Commit.SHA)
	same(w, "violations", w.count("SELECT count(*) FROM violations"), 0)
}

func TestWhatCannotBePromotedToTogether(t *testing.T) {
	w := twoProds(t)
	r := w.inStaging("1.1.0")
	for _, test := range []struct{ with, code string }{
		{"prod", "malformed-with"}, {"nowhere", "unknown-target"}, {"prod-eu", "unknown-target"},
	} {
		_, err := w.asksTogether(r, "prod", test.with)
		if refusal := w.refused(err, test.code); refusal.Field != "with" {
			t.Errorf("%s: the field is %q, want with", test.with, refusal.Field)
		}
	}
	alone, err := w.asksTogether(r, "prod-us")
	w.must(err)
	_, err = w.asksTogether(r, "prod", "prod-us")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "prod-us")
	_, err = w.asksTogether(r, "prod-us", "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "together with other environments")
	_, err = w.service.Cancel(w.Context(), rita, alone.ID, "both at once")
	w.must(err)
	w.settle()
	_, err = w.asksTogether(r, "prod", "prod-us")
	w.must(err)
}

// An environment that has the release already is left as it is: the same edit again is none.
func TestOneOfTheEnvironmentsHasItAlready(t *testing.T) {
	w := twoProds(t)
	r := w.inStaging("1.1.0")
	first, err := w.asksTogether(r, "prod-us")
	w.must(err)
	w.settle()
	w.approves(ada, first.ID)
	w.merges(rita, first.ID)
	w.lookAtEverything()
	p, err := w.asksTogether(r, "prod", "prod-us")
	w.must(err)
	w.settle()
	w.is(p.ID, promotion.StateOpen)
	same(w, "changes", len(w.changes(w.pullRequest(p.ID).Number)), 0)
	w.approves(ada, p.ID)
	w.merges(rita, p.ID)
	w.is(p.ID, promotion.StateMerged)
}
