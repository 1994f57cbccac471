package gitea_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/gitea"
	"github.com/sluicehq/sluice/internal/promotion"
)

// What a real Gitea cannot be made to do: to fail, to hang, to be behind a proxy that limits calls.

const head = "1f2e3d4c5b6a79880716253443526170f0e1d2c3"

// open is what Gitea says of an open pull request.
const open = `{"number":1,"state":"open","html_url":"https://gitea.example.com/acme/config/pulls/1","updated_at":"2030-01-02T11:00:00Z",
	"head":{"label":"promote","ref":"promote","sha":"` + head + `","repo_id":1},"base":{"label":"main","ref":"main","sha":"2f","repo_id":1}}`

// answering is a Host whose reads are answered with an open pull request and
// whose writes with what is given. It counts the writes.
func answering(t *testing.T, write http.HandlerFunc, set ...func(*gitea.Options)) (h *gitea.Host, writes *int) {
	t.Helper()
	writes = new(int) // one call at a time
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "token "+secret {
			t.Errorf("%s %s has no token", r.Method, r.URL)
		}
		if strings.Contains(r.URL.Path, "/compare/") {
			w.Write([]byte(`{"total_commits":1}`)) //nolint:errcheck // the client is gone
			return
		}
		if r.Method == http.MethodGet {
			w.Write([]byte(open)) //nolint:errcheck // the client is gone
			return
		}
		*writes++
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // until then no end of the connection is noticed
			t.Error(err)
		}
		write(w, r)
	}))
	t.Cleanup(s.Close)
	o := options()
	o.Server, o.Clock = s.URL, func() time.Time { return noon }
	for _, f := range set {
		f(&o)
	}
	h, err := gitea.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h, writes
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		is     error
		says   string
		until  time.Duration // after noon, of a rate limit
	}{
		"401":                   {status: 401, body: `{"message":"invalid username, password or token"}`, says: "refused by Gitea (invalid username"},
		"403":                   {status: 403, body: `{"message":"token does not have at least one of required scope(s): [write:repository]"}`, says: "[write:repository]"},
		"404 between two calls": {status: 404, body: `{"message":"The target couldn't be found."}`, is: promotion.ErrNotMergeable},
		"405":                   {status: 405, body: `{"message":"User not allowed to merge PR"}`, is: promotion.ErrNotMergeable, says: "User not allowed"},
		"409, head":             {status: 409, body: `{"message":"head out of date"}`, is: promotion.ErrHeadMoved},
		"409, conflict":         {status: 409, body: `{"Style":"merge","StdErr":"CONFLICT (content)"}`, is: promotion.ErrConflict},
		"409, hook":             {status: 409, body: `{"message":"PushRejected with remote message: no"}`, is: promotion.ErrNotMergeable, says: "remote message: no"},
		"423":                   {status: 423, body: `{"message":"repo is archived"}`, is: promotion.ErrNotMergeable, says: "archived"},
		"500":                   {status: 500, body: `{"message":""}`, says: "answer 500"},
		"502 of a proxy":        {status: 502, body: `<html>Bad Gateway</html>`, says: "answer 502 of Gitea (Bad Gateway)"},
		"503":                   {status: 503, says: "answer 503"},
		"429":                   {status: 429, header: http.Header{"Retry-After": {"90"}}, until: 90 * time.Second},
		"429 with a date":       {status: 429, header: http.Header{"Retry-After": {noon.Add(5 * time.Minute).Format(http.TimeFormat)}}, until: 5 * time.Minute},
		"429 that has passed":   {status: 429, header: http.Header{"Retry-After": {noon.Add(-time.Hour).Format(http.TimeFormat)}}, until: time.Minute},
		"429 of no time":        {status: 429, header: http.Header{"Retry-After": {"0"}}, until: time.Minute},
		"429 without a hint":    {status: 429, until: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, writes := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				for name := range c.header {
					w.Header().Set(name, c.header.Get(name))
				}
				w.WriteHeader(c.status)
				w.Write([]byte(c.body)) //nolint:errcheck // the client is gone
			})
			sha, err := h.Merge(t.Context(), 1, head, "Promote", promotion.Sluice(), "")
			if err == nil || sha != "" || strings.Contains(err.Error(), secret) || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("merged as %q, %v; want %v saying %q", sha, err, c.is, c.says)
			}
			limited, is := errors.AsType[*gitea.Limited](err)
			if is != (c.until != 0) || is && !limited.RetryAt().Equal(noon.Add(c.until)) {
				t.Errorf("limited: %+v, want %s", limited, c.until)
			}
			if c.until != 0 { // no call is made while the limit holds
				if _, err := h.Merge(t.Context(), 1, head, "Promote", promotion.Sluice(), ""); !errors.As(err, &limited) {
					t.Errorf("error is %v", err)
				}
			}
			if *writes != 1 {
				t.Errorf("%d writing calls", *writes)
			}
		})
	}
}

// Answers that lack what Gitea always says are no answers.
func TestIncompleteAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"empty": "", "half": open[:60], "page of a proxy": "<html>Welcome</html>", "another object": `{"ok":true}`, "null": "null",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, writes := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Write([]byte(body)) //nolint:errcheck // the client is gone
			})
			for what, err := range map[string]error{
				"update": h.Update(t.Context(), 1, "a", "b"),
				"close":  h.Close(t.Context(), 1, "c"),
				"status": h.SetStatus(t.Context(), head, promotion.CommitStatus{Context: "sluice/gates", State: "success"}),
			} {
				if err == nil {
					t.Errorf("%s: no error", what)
				}
			}
			if _, err := h.Merge(t.Context(), 1, head, "Promote", promotion.Sluice(), ""); err == nil {
				t.Error("merge: no error although the pull request is still open")
			}
			if *writes != 4 { // a close goes no further than its comment
				t.Errorf("%d writing calls", *writes)
			}
		})
	}
}

func TestHostThatHangs(t *testing.T) {
	t.Parallel()
	h, writes := answering(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(o *gitea.Options) { o.HTTP = &http.Client{Timeout: 100 * time.Millisecond} })
	for _, err := range []error{
		func() error { _, err := h.Merge(t.Context(), 1, head, "Promote", promotion.Sluice(), ""); return err }(),
		h.SetStatus(t.Context(), head, promotion.CommitStatus{Context: "sluice/gates", State: "success"}),
	} {
		if err == nil || errors.Is(err, promotion.ErrNotMergeable) || strings.Contains(err.Error(), secret) {
			t.Errorf("error is %v", err)
		}
	}
	if *writes != 2 {
		t.Errorf("%d writing calls", *writes)
	}
}

// Gitea says "try again later" until it has checked the pull request.
func TestMergeWaitsForTheCheck(t *testing.T) {
	t.Parallel()
	h, writes := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusMethodNotAllowed)
		w.Write([]byte(`{"message":"Please try again later"}`)) //nolint:errcheck // the client is gone
	})
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	_, err := h.Merge(ctx, 1, head, "Promote", promotion.Sluice(), "")
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, promotion.ErrNotMergeable) || *writes != 2 {
		t.Errorf("error is %v after %d writing calls", err, *writes)
	}
}

func TestRedirectToAnotherServer(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s went to another server", r.Method, r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	h, _ := answering(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	if err := h.Update(t.Context(), 1, "a", "b"); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("error is %v", err)
	}
}

func TestTokenCannotBeHad(t *testing.T) {
	t.Parallel()
	none := errors.New("the file is not there")
	for name, token := range map[string]func(context.Context) (string, error){
		"none":             func(context.Context) (string, error) { return "", none },
		"no header's text": func(context.Context) (string, error) { return secret + "\n", nil },
	} {
		h, _ := answering(t, http.NotFound, func(o *gitea.Options) { o.Token = token })
		if _, err := h.Get(t.Context(), 1); err == nil || strings.Contains(err.Error(), secret) || name == "none" && !errors.Is(err, none) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
