package github_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

func TestUnchangedReadsAreFree(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	var first promotion.PullRequest
	for i := range 5 {
		got, err := h.Get(t.Context(), p.Number)
		if err != nil || i > 0 && got != first {
			t.Fatalf("read %+v, %v; want %+v", got, err, first)
		}
		first = got
	}
	full, unchanged := s.Reads()
	if full != 2 || unchanged != 4 { // in full: the list before it was opened, and the first look
		t.Fatalf("%d reads in full, %d unchanged", full, unchanged)
	}
	if err := h.Update(t.Context(), p.Number, "Another title", "Another body"); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Get(t.Context(), p.Number); err != nil || got.Title != "Another title" {
		t.Fatalf("read %+v, %v after a change", got, err)
	}
}

// Pages of a list are found again by the remembered answer's Link.
func TestUnchangedListsHaveAllTheirPages(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	for range 40 {
		s.Fork("somebody", "promote", p.HeadSHA)
	}
	for range 2 {
		if list, err := h.ListOpen(t.Context()); err != nil || len(list) != 41 {
			t.Fatalf("%d pull requests, %v", len(list), err)
		}
	}
	if _, unchanged := s.Reads(); unchanged != 2 {
		t.Fatalf("%d reads unchanged", unchanged)
	}
}

// What one token may see is not given to another.
func TestMemoryIsOfAToken(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	token := fakegithub.Token
	h := newHost(t, s, func(o *github.Options) { o.Token = func(context.Context) (string, error) { return token, nil } })
	p := opened(t, s, h)
	if _, err := h.Get(t.Context(), p.Number); err != nil {
		t.Fatal(err)
	}
	conditional := false // one call at a time
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conditional = conditional || r.Header.Get("If-None-Match") != ""
			next.ServeHTTP(w, r)
		})
	})
	token = "ghs_another"
	if got, err := h.Get(t.Context(), p.Number); err == nil || conditional {
		t.Fatalf("read %+v with another token; conditional: %t", got, conditional)
	}
	token = fakegithub.Token
	if _, err := h.Get(t.Context(), p.Number); err != nil || !conditional {
		t.Fatalf("%v; conditional: %t", err, conditional)
	}
}

// told is a GitHub whose answers have a size and validators of their own.
func told(t *testing.T, header http.Header, size func(*http.Request) int) (h *github.Host, conditions func() []string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since"))
		mu.Unlock()
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Write([]byte("[" + strings.Repeat(" ", size(r)) + "]")) //nolint:errcheck // the client is gone
	}))
	t.Cleanup(s.Close)
	h, err := github.New(github.Options{Owner: "acme", Repository: "config", BaseBranch: "main", BaseURL: s.URL,
		Token: func(context.Context) (string, error) { return "a-token", nil }})
	if err != nil {
		t.Fatal(err)
	}
	return h, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

func TestWhatIsRemembered(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	for name, c := range map[string]struct {
		header http.Header
		size   int
		asks   string // on the second call
	}{
		"tag":           {http.Header{"Etag": {`"1"`}}, 10, `"1"`},
		"date":          {http.Header{"Last-Modified": {"Wed, 02 Jan 2030 12:00:00 GMT"}}, 10, "Wed, 02 Jan 2030 12:00:00 GMT"},
		"neither":       {nil, 10, ""},
		"as long as is": {http.Header{"Etag": {`"1"`}}, mebibyte - 2, `"1"`},
		"too long":      {http.Header{"Etag": {`"1"`}}, mebibyte - 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, asked := told(t, c.header, func(*http.Request) int { return c.size })
			for range 2 {
				if list, err := h.ListOpen(t.Context()); err != nil || len(list) != 0 {
					t.Fatalf("%+v, %v", list, err)
				}
			}
			if got := asked(); got[0] != "" || got[1] != c.asks {
				t.Fatalf("asked with %q, want %q the second time", got, c.asks)
			}
		})
	}
}

// The memory does not grow for ever: the least recently used goes first.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1<<20 - 2
	h, asked := told(t, http.Header{"Etag": {`"1"`}}, func(*http.Request) int { return most })
	look := func(number int) string {
		if _, err := h.Reviews(t.Context(), number); err != nil {
			t.Fatal(err)
		}
		all := asked()
		return all[len(all)-1]
	}
	for n := range 16 { // as many as fit
		look(n + 1)
	}
	if look(1) == "" {
		t.Fatal("the first is forgotten too early")
	}
	look(17)
	if look(1) == "" || look(3) == "" {
		t.Fatal("what was used since is forgotten")
	}
	if look(2) != "" {
		t.Fatal("the least recently used is still remembered")
	}
}
