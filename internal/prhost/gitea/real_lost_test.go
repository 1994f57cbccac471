//go:build peers

package gitea_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/sluicehq/sluice/internal/prhost/gitea"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

// wire is between a Host and Gitea. It keeps the writing calls, and loses
// answers after Gitea did what was asked.
type wire struct {
	mu     sync.Mutex
	writes []string
	method string // whose answers are lost, empty for none
	lose   loss
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method != http.MethodGet {
		_, call, _ := strings.Cut(r.URL.Path, "/config-")
		_, call, _ = strings.Cut(call, "/")
		w.writes = append(w.writes, r.Method+" "+call)
	}
	if err == nil && r.Method == w.method {
		if err := w.lose(answer); err != nil {
			answer.Body.Close()
			return nil, err
		}
	}
	return answer, err
}

func (w *wire) set(method string, lose loss) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.method, w.lose = method, lose
}

func (w *wire) wrote(t *testing.T, want ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.writes, want) {
		t.Fatalf("writing calls are %q, want %q", w.writes, want)
	}
}

func through(w *wire) func(*gitea.Options) {
	return func(o *gitea.Options) { o.HTTP = &http.Client{Transport: w} }
}

// loss is what becomes of an answer.
type loss func(answer *http.Response) error

func losses() map[string]loss {
	says := func(text string) loss {
		return func(answer *http.Response) error {
			answer.Body.Close()
			answer.Body = io.NopCloser(strings.NewReader(text))
			return nil
		}
	}
	return map[string]loss{
		"time-out":        func(*http.Response) error { return context.DeadlineExceeded },
		"reset":           func(*http.Response) error { return errors.New("connection reset by peer") },
		"empty":           says(""),
		"page of a proxy": says("<html>Welcome</html>"),
		"bad gateway": func(answer *http.Response) error {
			answer.StatusCode = http.StatusBadGateway
			return nil
		},
		"truncated": func(answer *http.Response) error {
			const some = 20
			answer.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(io.LimitReader(answer.Body, some), iotest.ErrReader(io.ErrUnexpectedEOF)), answer.Body}
			return nil
		},
	}
}

func lostAnswers(t *testing.T, s *realgitea.Server) {
	for name, lose := range losses() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, w := s.NewRepository(t), &wire{}
			h := newHost(t, s, r, through(w))

			ask := asked(t, r)
			w.set(http.MethodPost, lose)
			if _, err := h.Open(t.Context(), ask); err == nil {
				t.Fatal("no error although the answer was lost")
			} else {
				tellsNo(t, s.BotToken, err)
			}
			w.set("", nil)
			p, err := h.Open(t.Context(), ask)
			if err != nil || p.Number != 1 {
				t.Fatalf("opened again: %+v, %v", p, err)
			}
			w.wrote(t, "POST pulls")

			w.set(http.MethodPatch, lose)
			tellsNo(t, s.BotToken, h.Close(t.Context(), p.Number, "superseded"))
			w.set("", nil)
			if err := h.Close(t.Context(), p.Number, "superseded"); err != nil {
				t.Fatal(err)
			}
			w.wrote(t, "POST pulls", "POST issues/1/comments", "PATCH pulls/1")
		})
		t.Run("merge, "+name, func(t *testing.T) {
			t.Parallel()
			r, w := s.NewRepository(t), &wire{}
			h := newHost(t, s, r, through(w))
			p := opened(t, r, h)
			mergeable(t, s, r, p.Number) // so that the first call merges

			w.set(http.MethodPost, lose)
			first, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
			if err != nil {
				tellsNo(t, s.BotToken, err)
			}
			w.set("", nil)
			got, getErr := h.Get(t.Context(), p.Number)
			if getErr != nil || got.State != promotion.PullRequestMerged || err == nil && first != got.MergeSHA {
				t.Fatalf("merged as %s; looked: %+v, %v", first, got, getErr)
			}
			sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
			if err != nil || sha != got.MergeSHA {
				t.Fatalf("merged again as %s, %v; want %s", sha, err, got.MergeSHA)
			}
			w.wrote(t, "POST pulls", "POST pulls/1/merge")
		})
	}
}

func mergeable(t *testing.T, s *realgitea.Server, r *realgitea.Repository, number int) {
	t.Helper()
	realgitea.Eventually(t, "Gitea finds the pull request mergeable", func() bool {
		p, _, err := s.As(t, s.PersonToken).GetPullRequest(r.Owner, r.Name, int64(number))
		if err != nil {
			t.Fatal(err)
		}
		return p.Mergeable
	})
}

// The comment was left, and no more than that.
func commentNotTwice(t *testing.T, s *realgitea.Server) {
	r, w := s.NewRepository(t), &wire{}
	h := newHost(t, s, r, through(w))
	p := opened(t, r, h)
	w.set(http.MethodPost, losses()["reset"])
	tellsNo(t, s.BotToken, h.Close(t.Context(), p.Number, "superseded"))
	w.set("", nil)
	if err := h.Close(t.Context(), p.Number, "superseded"); err != nil {
		t.Fatal(err)
	}
	w.wrote(t, "POST pulls", "POST issues/1/comments", "PATCH pulls/1")
}

func twoOpensAtOnce(t *testing.T, s *realgitea.Server) {
	r := s.NewRepository(t)
	h, ask := newHost(t, s, r), asked(t, r)
	var racers sync.WaitGroup
	numbers := make([]int, 4)
	for i := range numbers {
		racers.Go(func() {
			p, err := h.Open(t.Context(), ask)
			if err != nil {
				t.Error(err)
			}
			numbers[i] = p.Number
		})
	}
	racers.Wait()
	if !slices.Equal(numbers, []int{1, 1, 1, 1}) {
		t.Errorf("opened %v", numbers)
	}
}

func tellsNo(t *testing.T, token string, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), token) {
			t.Fatalf("the error tells the token: %v", e)
		}
	}
}
