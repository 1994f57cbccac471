package scenario_test

import (
	"context"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// methods remembers by which method the host was asked to merge.
type methods struct {
	promotion.PullRequestHost
	asked []promotion.MergeMethod
}

func (m *methods) Merge(ctx context.Context, number int, head, message string, by promotion.Actor, method promotion.MergeMethod) (string, error) {
	m.asked = append(m.asked, method)
	return m.PullRequestHost.Merge(ctx, number, head, message, by, method)
}

func (w *world) hearsMethods() *methods {
	site := w.service.Sites[repository]
	m := &methods{PullRequestHost: site.Host}
	site.Host = m
	w.service.Sites[repository] = site
	return m
}

func TestMergeMethodsOfTheRelease(t *testing.T) {
	w := newWorldOf(t, func(files map[string][]byte) {
		files["sluice.yaml"] = []byte("environments: {staging: {merge_method: squash}, prod: {merge_method: rebase}}\n")
	})
	m := w.hearsMethods()
	id := w.atProd("1.1.0")
	w.approves(ada, id)
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
	same(w, "merges", len(m.asked), 3)
	for i, want := range []promotion.MergeMethod{"", promotion.MergeSquash, promotion.MergeRebase} { // nothing is said of dev
		same(w, "method", m.asked[i], want)
	}
}

// One merge brings all that a pull request changes: where the policy disagrees with itself, the repository's method is used.
func TestMergeMethodOfSeveralTargets(t *testing.T) {
	for name, test := range map[string]struct {
		checkout string // the method of its prod
		want     promotion.MergeMethod
	}{
		"they agree":    {"squash", promotion.MergeSquash},
		"they disagree": {"rebase", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOf(t, func(files map[string][]byte) {
				files["sluice.yaml"] = []byte("environments: {prod: {merge_method: squash}}\n" +
					"applications: {checkout: {environments: {prod: {merge_method: " + test.checkout + "}}}}\n")
			})
			m := w.hearsMethods()
			w.clone().Commit("more", "origin/main", overlay("web", "prod"), w.moreReplicas("prod", "5"))
			head := w.clone().Commit("more", "more", overlay("checkout", "prod"), w.file(overlay("checkout", "prod"))+"\ncommonAnnotations: {reviewed: \"yes\"}\n")
			w.clone().Git("push", "--quiet", "origin", "more")
			pr, err := w.host.Open(w.Context(), repository, promotion.NewPullRequest{Branch: "more", Head: head, Title: "Change both", Body: "by hand"}, otto)
			w.must(err)
			w.look()
			w.settle()
			all := w.changes(pr.Number)
			same(w, "promotions", len(all), 2)
			for _, p := range all {
				w.approves(ada, p.ID)
			}
			w.lookAtEverything()
			w.merges(rita, all[0].ID)
			w.is(all[0].ID, promotion.StateMerged)
			same(w, "merges", len(m.asked), 1)
			same(w, "method", m.asked[0], test.want)
		})
	}
}
