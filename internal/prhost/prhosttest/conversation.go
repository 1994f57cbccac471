package prhosttest

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// listOpen: what is listed says the same as asking for one, and its ref leads to its head.
func listOpen(t *testing.T, s *scene) {
	first, second := s.proposed("first"), s.proposed("second")
	if err := s.host.Close(t.Context(), first.Number, "no"); err != nil {
		t.Fatal(err)
	}
	s.becomes(first.Number, promotion.PullRequestClosed)
	open, err := s.host.ListOpen(t.Context())
	if err != nil || len(open) != 1 {
		t.Fatalf("open are %+v, %v; want the second alone", open, err)
	}
	got := open[0]
	if got.Number != second.Number || got.Branch != "second" || got.HeadSHA != second.HeadSHA || got.BaseRef != "main" || got.State != promotion.PullRequestOpen ||
		got.Title != second.Title {
		t.Errorf("listed as %+v, want %+v", got, second)
	}
	if author := s.get(second.Number).Author; got.Author == "" || got.Author != author {
		t.Errorf("its author is %q in the list and %q by itself", got.Author, author)
	}
	s.git.Git("fetch", "--quiet", "origin", got.Ref)
	s.same("head by its ref", s.git.Git("rev-parse", "FETCH_HEAD"), second.HeadSHA)
}

// comment: one comment with a marker, whatever was said last.
func comment(t *testing.T, s *scene) {
	p := s.proposed("promote")
	for _, text := range []string{"first", "second", "second"} {
		if err := s.host.Comment(t.Context(), p.Number, "<!-- sluice: 7 -->", text); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.host.Comment(t.Context(), p.Number, "<!-- sluice: 77 -->", "another"); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, c := range s.comments(t, p.Number) {
		if marker, text, ok := strings.Cut(c, "\n"); ok && strings.HasPrefix(marker, "<!--") { // a host may keep it elsewhere
			c = text
		}
		said = append(said, strings.TrimSpace(c))
	}
	s.same("comments", strings.Join(said, ", "), "second, another")
	s.fails(s.host.Comment(t.Context(), 4711, "<!-- sluice: 7 -->", "x"), promotion.ErrNotFound)
}

// reviews: the newest decisive one of a person counts, bound to the commit that was reviewed.
func reviews(t *testing.T, s *scene) {
	p := s.proposed("promote")
	is := func(want ...promotion.ReviewVerdict) []promotion.Review {
		t.Helper()
		got, err := s.host.Reviews(t.Context(), p.Number)
		if err != nil || len(got) != len(want) {
			t.Fatalf("reviews are %+v, %v; want %q", got, err, want)
		}
		for i, v := range want {
			s.same("verdict", got[i].Verdict, v)
		}
		return got
	}
	is()
	if s.review == nil {
		return // the host has none
	}
	by := s.review(t, p.Number, promotion.ReviewAsksForChange)
	got := is(promotion.ReviewAsksForChange)
	s.same("author", got[0].Author, by)
	s.same("head", got[0].Head, p.HeadSHA)
	s.review(t, p.Number, promotion.ReviewApproves)
	if got := is(promotion.ReviewApproves); got[0].At.IsZero() {
		t.Error("a review has no time")
	}
	pushed := s.git.Push("promote", "promote.txt", "changed\n")
	s.eventually(p.Number, "at the pushed head", func(p promotion.PullRequest) bool { return p.HeadSHA == pushed })
	s.same("head after a push", is(promotion.ReviewApproves)[0].Head, p.HeadSHA)
}
