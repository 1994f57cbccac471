package github_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// said are the reviews as "author verdict".
func said(t *testing.T, h promotion.PullRequestHost, number int) string {
	t.Helper()
	reviews, err := h.Reviews(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range reviews {
		all = append(all, r.Author+" "+string(r.Verdict))
	}
	return strings.Join(all, ", ")
}

func TestReviews(t *testing.T) {
	t.Parallel()
	const approve, change, remark = "APPROVED", "CHANGES_REQUESTED", "COMMENTED"
	for name, c := range map[string]struct {
		happens func(s *fakegithub.Server, push func())
		want    string
	}{
		"none":                     {func(*fakegithub.Server, func()) {}, ""},
		"approved":                 {func(s *fakegithub.Server, _ func()) { s.Review(1, "ada", approve, "fine") }, "ada approves"},
		"a remark decides nothing": {func(s *fakegithub.Server, _ func()) { s.Review(1, "ada", approve, ""); s.Review(1, "ada", remark, "?") }, "ada approves"},
		"the newest counts": {func(s *fakegithub.Server, _ func()) {
			s.Review(1, "ada", approve, "")
			s.Review(1, "bob", approve, "")
			s.Review(1, "ada", change, "no")
		}, "bob approves, ada asks for changes"},
		"dismissed by a person": {func(s *fakegithub.Server, _ func()) { s.Review(1, "ada", approve, ""); s.Dismiss(1, "pat", "ada") }, ""},
		"an earlier one does not come back": {func(s *fakegithub.Server, _ func()) {
			s.Review(1, "ada", approve, "")
			s.Review(1, "ada", change, "")
			s.Dismiss(1, "pat", "ada")
		}, ""},
		"dismissed by a push": {func(s *fakegithub.Server, push func()) { s.DismissStale(); s.Review(1, "ada", approve, ""); push() }, "ada approves"},
		"dismissed by a push, then changes asked for": {func(s *fakegithub.Server, push func()) {
			s.DismissStale()
			s.Review(1, "ada", approve, "")
			push()
			s.Review(1, "ada", change, "")
		}, "ada asks for changes"},
		"dismissed by a push, the other by a person": {func(s *fakegithub.Server, push func()) {
			s.DismissStale()
			s.Review(1, "ada", approve, "")
			s.Review(1, "bob", change, "")
			s.Dismiss(1, "pat", "bob")
			push()
		}, "ada approves"},
		"pushed without dismissal": {func(s *fakegithub.Server, push func()) { s.Review(1, "ada", approve, ""); push() }, "ada approves"},
		"more than a page": {func(s *fakegithub.Server, _ func()) {
			for range 130 {
				s.Review(1, "ada", remark, "")
			}
			s.Review(1, "ada", approve, "")
		}, "ada approves"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			h := newHost(t, s)
			p := opened(t, s, h)
			c.happens(s, func() {
				prhosttest.NewClone(t, s.Remote).Push("promote", "promote.txt", "changed\n")
				if got, err := h.Get(t.Context(), p.Number); err != nil || got.HeadSHA == p.HeadSHA {
					t.Fatalf("pushed: %+v, %v", got, err)
				}
			})
			if got := said(t, h, p.Number); got != c.want {
				t.Fatalf("reviews are %q, want %q", got, c.want)
			}
			wrote(t, s, "POST pulls")
		})
	}
}

func TestReviewTellsWhatWasReviewed(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	s.DismissStale()
	h := newHost(t, s)
	p := opened(t, s, h)
	s.Review(p.Number, "ada", "APPROVED", "fine with me")
	prhosttest.NewClone(t, s.Remote).Push("promote", "promote.txt", "changed\n")
	got, err := h.Reviews(t.Context(), p.Number)
	if err != nil || len(got) != 1 || got[0].Head != p.HeadSHA || got[0].Comment != "fine with me" || got[0].At.IsZero() {
		t.Fatalf("reviews are %+v, %v; the head was %s", got, err, p.HeadSHA)
	}
}

// Who dismissed is asked only when something is dismissed; unknown is an error, never an approval.
func TestWhoDismissedCannotBeRead(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	s.Review(p.Number, "ada", "APPROVED", "")
	if got := said(t, h, p.Number); got != "ada approves" {
		t.Fatalf("reviews are %q", got)
	}
	s.Dismiss(p.Number, "pat", "ada")
	if got, err := h.Reviews(t.Context(), p.Number); err == nil || !strings.Contains(err.Error(), "who dismissed") {
		t.Fatalf("reviews are %+v, %v", got, err)
	}
}
