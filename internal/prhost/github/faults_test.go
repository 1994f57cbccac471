package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// step is one call of the port on an open pull request.
type step struct {
	name string
	do   func(ctx context.Context, h *github.Host, p promotion.PullRequest) error
}

// steps are all of them, in an order in which each can be done after the others.
func steps() []step {
	gates := promotion.CommitStatus{Context: prhosttest.Status, State: "success", Description: "all gates pass"}
	return []step{
		{"open", func(ctx context.Context, h *github.Host, _ promotion.PullRequest) error {
			_, err := h.Open(ctx, promotion.NewPullRequest{Branch: "promote", Title: "Promote"})
			return err
		}},
		{"find", func(ctx context.Context, h *github.Host, _ promotion.PullRequest) error {
			_, err := h.Find(ctx, "promote")
			return err
		}},
		{"get", func(ctx context.Context, h *github.Host, p promotion.PullRequest) error {
			_, err := h.Get(ctx, p.Number)
			return err
		}},
		{"list", func(ctx context.Context, h *github.Host, _ promotion.PullRequest) error {
			_, err := h.ListOpen(ctx)
			return err
		}},
		{"reviews", func(ctx context.Context, h *github.Host, p promotion.PullRequest) error {
			_, err := h.Reviews(ctx, p.Number)
			return err
		}},
		{"protection", func(ctx context.Context, h *github.Host, _ promotion.PullRequest) error {
			_, err := h.Protection(ctx)
			return err
		}},
		{"update", func(ctx context.Context, h *github.Host, p promotion.PullRequest) error {
			return h.Update(ctx, p.Number, "Another title", "Another body")
		}},
		{"comment", func(ctx context.Context, h *github.Host, p promotion.PullRequest) error {
			return h.Comment(ctx, p.Number, marker, "may go")
		}},
		{"status", func(ctx context.Context, h *github.Host, p promotion.PullRequest) error {
			return h.SetStatus(ctx, p.HeadSHA, gates)
		}},
		{"merge", func(ctx context.Context, h *github.Host, p promotion.PullRequest) error {
			_, err := h.Merge(ctx, p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
			return err
		}},
	}
}

// every makes GitHub answer all calls so.
func every(status int, body string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			w.Write([]byte(body)) //nolint:errcheck // the client is gone
		})
	}
}

// halved makes GitHub do reads, and break off in the middle of its answer.
func halved(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		did := httptest.NewRecorder()
		next.ServeHTTP(did, r)
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Length", "100000")
		w.Header().Set("ETag", `"half"`)
		w.WriteHeader(did.Code)
		w.Write(did.Body.Bytes()[:did.Body.Len()/2]) //nolint:errcheck // half is what is meant
		panic(http.ErrAbortHandler)
	})
}

// Whatever goes wrong is an error in each step, and nothing is taken for done or for empty.
func TestEveryStepFailsAloud(t *testing.T) {
	t.Parallel()
	for name, around := range map[string]func(http.Handler) http.Handler{
		"401 for ever":        every(http.StatusUnauthorized, `{"message":"Bad credentials"}`),
		"404 after a rename":  every(http.StatusNotFound, `{"message":"Not Found"}`),
		"410":                 every(http.StatusGone, `{"message":"Issues are disabled for this repo"}`),
		"502 without a body":  every(http.StatusBadGateway, ""),
		"503":                 every(http.StatusServiceUnavailable, "<html>Unicorn!</html>"),
		"200 of a proxy":      every(http.StatusOK, "<html>Welcome</html>"),
		"200 without content": every(http.StatusOK, ""),
		"null":                every(http.StatusOK, "null"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			h := newHost(t, s)
			p := opened(t, s, h)
			s.Around(around)
			for _, step := range steps() {
				if name == "null" || name == "200 without content" {
					if empty := map[string]bool{"open": true, "find": true, "list": true, "reviews": true, "comment": true, "protection": true}; empty[step.name] {
						continue // an empty list is one way to say that there is nothing
					}
				}
				tellsNoToken(t, step.do(t.Context(), h, p))
			}
			wrote(t, s, "POST pulls")
		})
	}
}

func TestReadsThatBreakOff(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	s.Review(p.Number, "ada", "APPROVED", "")
	s.Says(p.Number, "ada", "fine")
	for range 2 { // half an answer is not remembered either
		s.Around(halved)
		for _, step := range steps() {
			if step.name != "update" && step.name != "status" {
				tellsNoToken(t, step.do(t.Context(), h, p))
			}
		}
		s.Around(nil)
		if got := said(t, h, p.Number); got != "ada approves" {
			t.Fatalf("reviews are %q", got)
		}
	}
	wrote(t, s, "POST pulls")
}

// A burst of errors, of which one hides that the call was done: trying again ends in the right state.
func TestBursts(t *testing.T) {
	t.Parallel()
	for name, hidden := range map[string]int{"nothing was done": 0, "the second was done": 2, "the last was done": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			s.Require(prhosttest.Status)
			h := newHost(t, s)
			prhosttest.NewClone(t, s.Remote).Push("promote", "promote.txt", "content\n")
			var p promotion.PullRequest
			for _, step := range steps() {
				left, calls := 3, 0
				s.Around(func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // one call at a time
						if r.Method == http.MethodGet || calls == left {
							next.ServeHTTP(w, r)
							return
						}
						if calls++; calls == hidden {
							next.ServeHTTP(httptest.NewRecorder(), r)
						}
						w.WriteHeader(http.StatusBadGateway)
					})
				})
				const most = 6
				err := errors.New("not tried")
				for try := 0; err != nil; try++ {
					if try == most {
						t.Fatalf("%s: %v", step.name, err)
					}
					err = step.do(t.Context(), h, p)
				}
				if step.name == "open" {
					if p, err = h.Get(t.Context(), 1); err != nil {
						t.Fatal(err)
					}
				}
			}
			if got, err := h.Get(t.Context(), p.Number); err != nil || got.State != promotion.PullRequestMerged || got.Title != "Another title" {
				t.Fatalf("it is %+v, %v", got, err)
			}
			counts := map[string]int{}
			for _, call := range s.Writes() {
				counts[call]++
			}
			again := 1 // what sets a value may set it once more
			if hidden != 0 {
				again = 2
			}
			for call, want := range map[string]int{"POST pulls": 1, "POST issues/1/comments": 1, "PUT pulls/1/merge": 1, "PATCH pulls/1": again, "POST statuses/" + p.HeadSHA: again} {
				if counts[call] != want {
					t.Errorf("%s was done %d times, want %d", call, counts[call], want)
				}
			}
			if got := s.Comments(p.Number); len(got) != 1 {
				t.Errorf("comments are %q", got)
			}
		})
	}
}

// GitHub does it, and answers when the client has long given up.
func TestAnswerAfterTheTimeOut(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	prhosttest.NewClone(t, s.Remote).Push("promote", "promote.txt", "content\n")
	hasty := newHost(t, s, func(o *github.Options) { o.HTTP = &http.Client{Timeout: 300 * time.Millisecond} })
	var p promotion.PullRequest
	for _, step := range steps() {
		s.Around(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					next.ServeHTTP(w, r)
					return
				}
				next.ServeHTTP(httptest.NewRecorder(), r)
				<-r.Context().Done() // until the client is gone
			})
		})
		switch step.name {
		case "open", "comment", "merge":
			tellsNoToken(t, step.do(t.Context(), hasty, p))
		}
		s.Around(nil)
		if err := step.do(t.Context(), h, p); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if step.name == "open" {
			var err error
			if p, err = h.Get(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	wrote(t, s, "POST pulls", "PATCH pulls/1", "POST issues/1/comments", "POST statuses/"+p.HeadSHA, "PUT pulls/1/merge")
}

// After a rename GitHub redirects reads, and says so of writes.
func TestRenamed(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	old := newHost(t, s, func(o *github.Options) { o.Repository = "old-name" })
	p := opened(t, s, newHost(t, s))
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/old-name/") {
				http.Redirect(w, r, "/api/v3"+strings.Replace(r.URL.RequestURI(), "/old-name/", "/"+fakegithub.Repository+"/", 1), http.StatusMovedPermanently)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	for range 2 {
		if got, err := old.Get(t.Context(), p.Number); err != nil || got.HeadSHA != p.HeadSHA {
			t.Fatalf("read %+v, %v", got, err)
		}
	}
	for _, step := range steps() {
		err := step.do(t.Context(), old, p)
		switch step.name {
		case "update", "comment", "status", "merge":
			if err == nil || !strings.Contains(err.Error(), "change its name in the configuration") {
				t.Errorf("%s: %v", step.name, err)
			}
		default:
			if err != nil {
				t.Errorf("%s: %v", step.name, err)
			}
		}
	}
	wrote(t, s, "POST pulls")
}
