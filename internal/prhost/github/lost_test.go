package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// loss is how an answer is lost after GitHub did what was asked; giveUp ends the
// caller's context.
type loss func(w http.ResponseWriter, r *http.Request, answer *httptest.ResponseRecorder, giveUp func())

func losses() map[string]loss {
	return map[string]loss{
		"time-out": func(_ http.ResponseWriter, r *http.Request, _ *httptest.ResponseRecorder, giveUp func()) {
			giveUp()
			<-r.Context().Done()
		},
		"connection closed": func(http.ResponseWriter, *http.Request, *httptest.ResponseRecorder, func()) {
			panic(http.ErrAbortHandler)
		},
		"bad gateway": func(w http.ResponseWriter, _ *http.Request, _ *httptest.ResponseRecorder, _ func()) {
			w.WriteHeader(http.StatusBadGateway)
		},
		"empty body": func(w http.ResponseWriter, _ *http.Request, answer *httptest.ResponseRecorder, _ func()) {
			w.WriteHeader(answer.Code)
		},
		"truncated body": func(w http.ResponseWriter, _ *http.Request, answer *httptest.ResponseRecorder, _ func()) {
			w.Header().Set("Content-Length", "100000")
			w.WriteHeader(answer.Code)
			w.Write(answer.Body.Bytes()[:answer.Body.Len()/2]) //nolint:errcheck // half is what is meant
			panic(http.ErrAbortHandler)
		},
		"page of a proxy": func(w http.ResponseWriter, _ *http.Request, answer *httptest.ResponseRecorder, _ func()) {
			w.WriteHeader(answer.Code)
			w.Write([]byte("<html>Welcome</html>")) //nolint:errcheck // the client is gone
		},
	}
}

// lose makes GitHub do calls of this method and lose the answers. The context is
// for the call that they are lost to.
func lose(t *testing.T, s *fakegithub.Server, method string, answer loss) context.Context {
	ctx, giveUp := context.WithCancel(t.Context())
	t.Cleanup(giveUp)
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method {
				next.ServeHTTP(w, r)
				return
			}
			did := httptest.NewRecorder()
			next.ServeHTTP(did, r)
			answer(w, r, did, giveUp)
		})
	})
	return ctx
}

func TestLostAnswersAreNotDoneTwice(t *testing.T) {
	t.Parallel()
	for name, answer := range losses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("open", func(t *testing.T) {
				t.Parallel()
				s := fakegithub.New(t)
				ctx := lose(t, s, http.MethodPost, answer)
				h := newHost(t, s)
				head := prhosttest.NewClone(t, s.Remote).Push("promote", "promote.txt", "content\n")
				asked := promotion.NewPullRequest{Branch: "promote", Head: head, Title: "Promote", Body: "why"}
				_, err := h.Open(ctx, asked)
				tellsNoToken(t, err)
				s.Around(nil)
				p, err := h.Open(t.Context(), asked)
				if err != nil || p.Number != 1 {
					t.Fatalf("opened again: %+v, %v", p, err)
				}
				wrote(t, s, "POST pulls")
			})
			t.Run("merge", func(t *testing.T) {
				t.Parallel()
				s := fakegithub.New(t)
				h := newHost(t, s)
				p := opened(t, s, h)
				_, err := h.Merge(lose(t, s, http.MethodPut, answer), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
				tellsNoToken(t, err)
				s.Around(nil)
				got, err := h.Get(t.Context(), p.Number)
				if err != nil || got.State != promotion.PullRequestMerged {
					t.Fatalf("looked: %+v, %v", got, err)
				}
				sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
				if err != nil || sha != got.MergeSHA {
					t.Fatalf("merged again as %s, %v; want %s", sha, err, got.MergeSHA)
				}
				wrote(t, s, "POST pulls", "PUT pulls/1/merge")
			})
			t.Run("close", func(t *testing.T) {
				t.Parallel()
				s := fakegithub.New(t)
				h := newHost(t, s)
				p := opened(t, s, h)
				tellsNoToken(t, h.Close(lose(t, s, http.MethodPatch, answer), p.Number, "superseded"))
				s.Around(nil)
				if err := h.Close(t.Context(), p.Number, "superseded"); err != nil {
					t.Fatal(err)
				}
				wrote(t, s, "POST pulls", "POST issues/1/comments", "PATCH pulls/1")
			})
		})
	}
}

// The comment was left, and no more than that.
func TestCommentIsNotRepeated(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	if err := h.Close(lose(t, s, http.MethodPost, losses()["connection closed"]), p.Number, "superseded"); err == nil {
		t.Fatal("no error although the answer was lost")
	}
	s.Around(nil)
	if err := h.Close(t.Context(), p.Number, "superseded"); err != nil {
		t.Fatal(err)
	}
	if got := s.Comments(p.Number); !slices.Equal(got, []string{"superseded"}) {
		t.Fatalf("comments are %q", got)
	}
}

// A list that is a moment behind hides the pull request; GitHub then refuses a second one.
func TestOpenFindsWhatAlreadyExists(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	hidden := true // used by one call at a time
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && hidden {
				hidden = false
				w.Write([]byte("[]")) //nolint:errcheck // the client is gone
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	again, err := h.Open(t.Context(), promotion.NewPullRequest{Branch: "promote", Head: p.HeadSHA, Title: "Promote", Body: "why"})
	if err != nil || again.Number != p.Number {
		t.Fatalf("opened %+v, %v", again, err)
	}
}

func wrote(t *testing.T, s *fakegithub.Server, want ...string) {
	t.Helper()
	if got := s.Writes(); !slices.Equal(got, want) {
		t.Fatalf("writing calls are %q, want %q", got, want)
	}
}

func tellsNoToken(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), fakegithub.Token) {
			t.Fatalf("the error tells the token: %v", e)
		}
	}
}
