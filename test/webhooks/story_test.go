package webhooks_test

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/promotion"
)

// event is what the host tells of something that has happened.
type event struct{ kind, body string }

// delivery is one of an event; the same id again is the same delivery again.
type delivery struct {
	event
	id string
}

const about = `"repository":{"full_name":"acme/shop-config","name":"shop-config"}`

func pushed(branch string) event {
	return event{"push", fmt.Sprintf(`{"ref":"refs/heads/%s",%s}`, branch, about)}
}

func pull(action string, number int, branch string, merged bool) event {
	return event{"pull_request", fmt.Sprintf(`{"action":%q,"number":%d,"pull_request":{"number":%d,"merged":%t,"head":{"ref":%q},"base":{"ref":"main"}},%s}`,
		action, number, number, merged, branch, about)}
}

func review(number int) event {
	return event{"pull_request_review", fmt.Sprintf(`{"action":"submitted","pull_request":{"number":%d},%s}`, number, about)}
}

// chapters of what people and CI do. Each returns what the host tells of it.
func chapters() []func(*world) []event {
	return []func(*world) []event{(*world).everybodyOpens, (*world).peopleReview, (*world).peopleMergeAndMeddle, (*world).peopleEndTheRest}
}

// The pull requests of the story, in the order in which they are opened.
const (
	webs = iota + 1
	checkouts
	orders
	docs
)

func (w *world) everybodyOpens() (told []event) {
	for _, name := range []string{"web", "checkout"} {
		p := w.promotes(name, "1.1.0")
		told = append(told, pushed(p.Branch), pull("opened", p.Number, p.Branch, false), pull("edited", p.Number, p.Branch, false))
	}
	file := overlay("order-service", "production")
	w.clone.Git("fetch", "--quiet", "origin")
	told = append(told, w.opens("orders", file, w.clone.Git("show", "origin/main:"+file)+"\ncommonAnnotations:\n  team: shop\n")...)
	return append(told, w.opens("docs", "docs/on-call.md", "# On call\n")...)
}

func (w *world) peopleReview() []event {
	for number, verdict := range map[int]promotion.ReviewVerdict{webs: promotion.ReviewApproves, checkouts: promotion.ReviewAsksForChange, orders: promotion.ReviewApproves} {
		pr, err := w.host.Get(w.Context(), number)
		w.must(err)
		w.host.reviews[number] = []promotion.Review{
			{Author: "somebody", Verdict: promotion.ReviewApproves, Head: pr.HeadSHA, At: w.clock()},
			{Author: ada.Name, Verdict: verdict, Head: pr.HeadSHA, At: w.clock()},
		}
	}
	return []event{review(webs), review(webs), review(checkouts), review(checkouts), review(orders), review(orders)}
}

func (w *world) peopleMergeAndMeddle() []event {
	web, checkout := w.of(webs), w.of(checkouts)
	w.clone.MergeByHand(web.Branch, "--no-ff", "-m", "Merge by hand")
	_, err := w.builtin.Repository(repository).Merge(w.Context(), orders, w.of(orders).HeadSHA, "Merge by the button", otto, "")
	w.must(err)
	w.must(w.builtin.Close(w.Context(), repository, docs, "not needed", otto))
	w.clone.Commit(checkout.Branch, "origin/"+checkout.Branch, "docs/more.md", "# More\n")
	w.clone.Git("push", "--quiet", "origin", checkout.Branch)
	return []event{pushed(builtin.MainBranch), pull("closed", webs, web.Branch, true), pushed(builtin.MainBranch), pull("closed", orders, "orders", true),
		pull("closed", docs, "docs", false), pushed(checkout.Branch), pull("synchronize", checkouts, checkout.Branch, false)}
}

func (w *world) peopleEndTheRest() []event {
	checkout := w.of(checkouts)
	w.must(w.builtin.Close(w.Context(), repository, checkouts, "another time", otto))
	w.clone.Git("fetch", "--quiet", "origin")
	file := overlay("web", "prod")
	w.clone.Push(builtin.MainBranch, file, strings.Replace(w.clone.Git("show", "origin/main:"+file), "count: 4", "count: 6", 1)+"\n")
	told := []event{pull("closed", checkouts, checkout.Branch, false), pushed(builtin.MainBranch)}
	return append(told, w.opens("more", file, strings.Replace(w.clone.Git("show", "origin/main:"+file), "count: 6", "count: 8", 1)+"\n")...)
}

// promotes posts a version and asks for it in prod: its pull request is open.
func (w *world) promotes(name, version string) promotion.Promotion {
	w.Helper()
	out, _, err := w.service.RecordBuild(w.Context(), ci, promotion.BuildRequest{Version: version,
		Source:    promotion.Source{Repository: "https://git.example.test/shop/" + name, Commit: fmt.Sprintf("%040x", version)[:40]},
		Artifacts: []promotion.BuildArtifact{{Repository: w.images.host + "/shop/" + name, Digest: w.images.push(name, version)}}})
	w.must(err)
	p, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: name, Environment: "prod",
		Release: fmt.Sprint(out.Releases[0].ID), Reason: "the weekly release"})
	w.must(err)
	w.settle(1)
	p, err = w.service.Store.Promotion(w.Context(), p.ID)
	w.must(err)
	return p
}

// opens pushes a file on a branch made from main and opens a pull request for it, as otto.
func (w *world) opens(branch, name, content string) []event {
	w.Helper()
	head := w.clone.Push(branch, name, content)
	pr, err := w.builtin.Open(w.Context(), repository, promotion.NewPullRequest{Branch: branch, Head: head, Title: "Change " + name, Body: "by hand"}, otto)
	w.must(err)
	return []event{pushed(branch), pull("opened", pr.Number, branch, false)}
}

// of is the promotion of a pull request.
func (w *world) of(number int) promotion.Promotion {
	w.Helper()
	all, err := w.service.Store.Promotions(w.Context(), promotion.PromotionFilter{Limit: 100})
	w.must(err)
	for _, p := range all {
		if p.Number == number {
			return p
		}
	}
	w.Fatalf("pull request #%d is no promotion", number)
	return promotion.Promotion{}
}
