package github_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// answers makes GitHub answer calls of a method, doing nothing.
func answers(method string, status int, header http.Header, body string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method {
				next.ServeHTTP(w, r)
				return
			}
			for name := range header {
				w.Header().Set(name, header.Get(name))
			}
			w.WriteHeader(status)
			w.Write([]byte(body)) //nolint:errcheck // the client is gone
		})
	}
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	p := opened(t, s, newHost(t, s))
	abuse := `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`
	reset := strconv.FormatInt(noon.Add(20*time.Minute).Unix(), 10)
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		is     error
		says   string
		until  time.Duration // after noon, of a rate limit
	}{
		"401":                            {status: 401, body: `{"message":"Bad credentials"}`, says: "refuses the token (Bad credentials)"},
		"403 of an App":                  {status: 403, header: http.Header{"X-Accepted-Github-Permissions": {"contents=write"}}, body: `{"message":"Resource not accessible by integration"}`, says: "permission contents: write"},
		"403 of a personal token":        {status: 403, header: http.Header{"X-Accepted-Oauth-Scopes": {"repo"}}, body: `{"message":"Must have write access"}`, says: "scope repo"},
		"404 after a rename":             {status: 404, body: `{"message":"Not Found"}`, is: promotion.ErrNotFound, says: "acme/platform-config"},
		"405":                            {status: 405, body: `{"message":"At least 1 approving review is required"}`, is: promotion.ErrNotMergeable, says: "approving review"},
		"409":                            {status: 409, body: `{"message":"Head branch was modified. Review and try the merge again."}`, is: promotion.ErrHeadMoved},
		"422":                            {status: 422, body: `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom","message":"Squash merges are not allowed"}]}`, is: promotion.ErrNotMergeable, says: "Squash merges are not allowed"},
		"500":                            {status: 500, body: `oops`, says: "answers 500"},
		"503":                            {status: 503, body: ``, says: "answers 503"},
		"rate limit":                     {status: 403, header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}}, body: `{"message":"API rate limit exceeded"}`, until: 20 * time.Minute},
		"rate limit, 429":                {status: 429, header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}}, body: `{"message":"API rate limit exceeded"}`, until: 20 * time.Minute},
		"rate limit that has passed":     {status: 429, header: http.Header{"X-Ratelimit-Reset": {"1"}}, body: `{}`, until: time.Minute},
		"secondary limit":                {status: 403, header: http.Header{"Retry-After": {"90"}}, body: abuse, until: 90 * time.Second},
		"secondary limit, 429":           {status: 429, header: http.Header{"Retry-After": {"90"}}, body: abuse, until: 90 * time.Second},
		"secondary limit of no time":     {status: 403, header: http.Header{"Retry-After": {"0"}}, body: abuse, until: time.Minute},
		"secondary limit, no hint":       {status: 403, body: abuse, until: time.Minute},
		"429 without a hint":             {status: 429, body: `{}`, until: time.Minute},
		"secondary limit in words":       {status: 403, body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, until: time.Minute},
		"abuse in words":                 {status: 403, body: `{"message":"You have triggered an abuse detection mechanism."}`, until: time.Minute},
		"secondary limit, budget left":   {status: 429, header: http.Header{"X-Ratelimit-Remaining": {"4000"}, "X-Ratelimit-Reset": {reset}}, body: abuse, until: time.Minute},
		"Retry-After without an address": {status: 403, header: http.Header{"Retry-After": {"90"}}, body: `{"message":"slow down"}`, until: 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) { // in turn: nothing is done, so one pull request is enough for all
			h := newHost(t, s, func(o *github.Options) { o.Clock = func() time.Time { return noon } })
			s.Around(answers(http.MethodPut, c.status, c.header, c.body))
			sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
			tellsNoToken(t, err)
			if sha != "" || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("merged as %q, %v; want %v saying %q", sha, err, c.is, c.says)
			}
			limited, is := errors.AsType[*github.Limited](err)
			if is != (c.until != 0) {
				t.Fatalf("error is %v; a rate limit: %t", err, c.until != 0)
			}
			if is && !limited.RetryAt().Equal(noon.Add(c.until)) {
				t.Errorf("limited until %s, want %s after noon", limited.Until, c.until)
			}
		})
	}
}

// While a limit holds, no call reaches GitHub: it would prolong the limit.
func TestNoCallsWhileLimited(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	calls := 0 // one call at a time
	s.Around(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Limit", "5000")
			w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte(`{"message":"API rate limit exceeded"}`)) //nolint:errcheck // the client is gone
		})
	})
	for range 3 {
		_, err := h.Get(t.Context(), 1)
		if _, is := errors.AsType[*github.Limited](err); !is {
			t.Fatalf("error is %v", err)
		}
	}
	if calls != 1 {
		t.Fatalf("%d calls", calls)
	}
}

// A repository that the token cannot see is not one without pull requests.
func TestListThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusUnauthorized, http.StatusInternalServerError} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			s.Around(answers(http.MethodGet, status, nil, `{"message":"Not Found"}`))
			h := newHost(t, s)
			_, err := h.Find(t.Context(), "promote")
			tellsNoToken(t, err)
			if errors.Is(err, promotion.ErrNotFound) {
				t.Errorf("taken for a branch without a pull request: %v", err)
			}
			if _, err := h.Open(t.Context(), promotion.NewPullRequest{Branch: "promote", Title: "Promote"}); err == nil {
				t.Error("opened")
			}
			if _, err := h.Get(t.Context(), 1); err == nil || errors.Is(err, promotion.ErrNotFound) {
				t.Errorf("taken for a pull request that is not there: %v", err)
			}
			wrote(t, s)
		})
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s went to another server", r.Method, r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	const to = "/api/v3/repos/acme/platform-config/pulls/1"
	moved := func(status int, location string) {
		s.Around(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Has("again") {
					next.ServeHTTP(w, r)
					return
				}
				http.Redirect(w, r, location, status)
			})
		})
	}
	update := func() error { return h.Update(t.Context(), p.Number, "Another title", "Another body") }

	moved(http.StatusMovedPermanently, elsewhere.URL+to)
	if _, err := h.Get(t.Context(), p.Number); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("redirect to another server: %v", err)
	}
	moved(http.StatusMovedPermanently, to+"?again")
	if _, err := h.Get(t.Context(), p.Number); err != nil {
		t.Errorf("redirect of a read: %v", err)
	}
	if err := update(); err == nil || !strings.Contains(err.Error(), "change its name in the configuration") {
		t.Errorf("redirect that turns a change into a read: %v", err)
	}
	moved(http.StatusTemporaryRedirect, to+"?again")
	if err := update(); err != nil {
		t.Errorf("redirect of a change: %v", err)
	}
	if title, body := s.Text(p.Number); title != "Another title" || body != "Another body" {
		t.Errorf("text is %q, %q", title, body)
	}
}

func TestTokenCannotBeHad(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	none := errors.New("the App's key is not valid")
	h := newHost(t, s, func(o *github.Options) { o.Token = func(context.Context) (string, error) { return "", none } })
	if _, err := h.Find(t.Context(), "promote"); !errors.Is(err, none) {
		t.Fatalf("error is %v", err)
	}
	wrong := newHost(t, s, func(o *github.Options) {
		o.Token = func(context.Context) (string, error) { return fakegithub.Token + "\n", nil } // no header takes it
	})
	_, err := wrong.Find(t.Context(), "promote")
	tellsNoToken(t, err)
}
