package github_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// allowed are the permissions that Sluice's App needs.
func allowed() map[string]string {
	return map[string]string{"metadata": "read", "contents": "write", "pull_requests": "write", "statuses": "write", "administration": "write", "repository_hooks": "write"}
}

func newApp(t testing.TB, s *fakegithub.Server, options ...func(*github.AppOptions)) *github.App {
	t.Helper()
	o := github.AppOptions{ID: fakegithub.AppID, PrivateKey: s.App(allowed()), Owner: fakegithub.Owner, Repository: fakegithub.Repository, BaseURL: s.URL}
	for _, set := range options {
		set(&o)
	}
	a, err := github.NewApp(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// acting is a host that acts as an App.
func acting(a *github.App) func(*github.Options) {
	return func(o *github.Options) { o.AppID, o.Token, o.Refused = fakegithub.AppID, a.Token, a.Refused }
}

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestAppTokensAreKeptAndRenewed(t *testing.T) {
	t.Parallel()
	for name, installation := range map[string]int64{"looked up": 0, "given": fakegithub.InstallationID} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := fakegithub.New(t), &clock{at: noon}
			s.SetClock(c.now)
			a := newApp(t, s, func(o *github.AppOptions) { o.InstallationID, o.Clock = installation, c.now })
			ask := func(given int) string {
				t.Helper()
				token, err := a.Token(t.Context())
				if err != nil || s.TokensGiven() != given {
					t.Fatalf("%q, %v after %d tokens, want %d", token, err, s.TokensGiven(), given)
				}
				return token
			}
			first := ask(1)
			c.pass(54 * time.Minute)
			ask(1)
			c.pass(2 * time.Minute) // it would end in less than five
			if ask(2) == first {
				t.Fatal("the same token")
			}
		})
	}
}

func TestAppAsksOnceForManyCallers(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	a := newApp(t, s)
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			if _, err := a.Token(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if s.TokensGiven() != 1 {
		t.Fatalf("%d tokens", s.TokensGiven())
	}
}

// While GitHub gives no new token, the old one serves to its end.
func TestAppKeepsATokenThatStillHolds(t *testing.T) {
	t.Parallel()
	s, c := fakegithub.New(t), &clock{at: noon}
	s.SetClock(c.now)
	a := newApp(t, s, func(o *github.AppOptions) { o.Clock = c.now })
	first, err := a.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Around(answers(http.MethodPost, http.StatusBadGateway, nil, ""))
	c.pass(57 * time.Minute)
	if again, err := a.Token(t.Context()); err != nil || again != first {
		t.Fatalf("got %q, %v", again, err)
	}
	c.pass(4 * time.Minute)
	if again, err := a.Token(t.Context()); err == nil {
		t.Fatalf("got %q, which has ended", again)
	}
	s.Around(nil)
	if again, err := a.Token(t.Context()); err != nil || again == first {
		t.Fatalf("got %q, %v", again, err)
	}
}

func TestAppThatGetsNoToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    func(*fakegithub.Server, *github.AppOptions)
		around func(http.Handler) http.Handler
		says   string
		until  time.Duration
	}{
		"not installed":      {set: func(s *fakegithub.Server, _ *github.AppOptions) { s.Uninstall() }, says: "not installed"},
		"other installation": {set: func(_ *fakegithub.Server, o *github.AppOptions) { o.InstallationID = 1 }, says: "installation_id"},
		"other App":          {set: func(_ *fakegithub.Server, o *github.AppOptions) { o.ID++ }, says: "refuses the App's key"},
		"clock is wrong":     {set: func(_ *fakegithub.Server, o *github.AppOptions) { o.Clock = func() time.Time { return noon } }, says: "clock is wrong"},
		"suspended":          {around: answers(http.MethodPost, 403, nil, `{"message":"This installation has been suspended"}`), says: "suspended"},
		"server error":       {around: answers(http.MethodPost, 500, nil, `oops`), says: "GitHub answers 500"},
		"empty":              {around: answers(http.MethodPost, 201, nil, `{}`), says: "not complete"},
		"limited": {set: func(_ *fakegithub.Server, o *github.AppOptions) { o.Clock = func() time.Time { return noon } },
			around: answers(http.MethodGet, 429, http.Header{"Retry-After": {"90"}}, `{"message":"slow down"}`), says: "rate limit", until: 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			a := newApp(t, s, func(o *github.AppOptions) {
				if c.set != nil {
					c.set(s, o)
				}
			})
			s.Around(c.around)
			_, err := newHost(t, s, acting(a)).Find(t.Context(), "promote")
			if err == nil || !strings.Contains(err.Error(), c.says) || errors.Is(err, promotion.ErrNotFound) {
				t.Fatalf("error is %v, want it to say %q", err, c.says)
			}
			limited, is := errors.AsType[*github.Limited](err)
			if is != (c.until != 0) || is && !limited.RetryAt().Equal(noon.Add(c.until)) {
				t.Fatalf("error is %v; limited for %s", err, c.until)
			}
		})
	}
}

func TestAppWaitsNoLongerThanItsCaller(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	a := newApp(t, s)
	asked, done := make(chan struct{}), make(chan struct{})
	s.Around(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-done
		})
	})
	var first sync.WaitGroup
	first.Go(func() { a.Token(t.Context()) }) //nolint:errcheck // it only keeps the other one waiting
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Token(ctx)
	close(done)
	first.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error is %v", err)
	}
}

// A call whose token has ended is made again with a new one; it was not done the first time.
func TestCallAfterTheTokenEnded(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s, acting(newApp(t, s)))
	p := opened(t, s, h)
	s.ExpireTokens()
	if err := h.Update(t.Context(), p.Number, "Another title", "Another body"); err != nil {
		t.Fatal(err)
	}
	if title, _ := s.Text(p.Number); title != "Another title" {
		t.Fatalf("title is %q", title)
	}
	s.ExpireTokens()
	if got, err := h.Get(t.Context(), p.Number); err != nil || got.Number != p.Number {
		t.Fatalf("read %+v, %v", got, err)
	}
	wrote(t, s, "POST pulls", "PATCH pulls/1")
	if s.TokensGiven() != 3 {
		t.Fatalf("%d tokens were asked for", s.TokensGiven())
	}
}

// GitHub that refuses the new token too is not asked for ever.
func TestCallThatIsRefusedTwice(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s, acting(newApp(t, s)))
	p := opened(t, s, h)
	calls := 0 // one call at a time
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				calls++
				w.WriteHeader(http.StatusUnauthorized)
				w.Write([]byte(`{"message":"Bad credentials"}`)) //nolint:errcheck // the client is gone
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	err := h.Update(t.Context(), p.Number, "Another title", "Another body")
	if err == nil || !strings.Contains(err.Error(), "refuses the token") || calls != 2 {
		t.Fatalf("error is %v after %d calls", err, calls)
	}
}

func TestAppOptions(t *testing.T) {
	t.Parallel()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	valid := fakegithub.New(t).App(allowed())
	block, _ := pem.Decode(valid)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	private := func(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}) }
	for name, c := range map[string]struct {
		set  func(*github.AppOptions)
		says string
	}{
		"PKCS 1":      {func(*github.AppOptions) {}, ""},
		"PKCS 8":      {func(o *github.AppOptions) { o.PrivateKey = private(pkcs8) }, ""},
		"no id":       {func(o *github.AppOptions) { o.ID = 0 }, "needs its id"},
		"no owner":    {func(o *github.AppOptions) { o.Owner = "" }, "owner"},
		"no PEM":      {func(o *github.AppOptions) { o.PrivateKey = []byte("hush") }, "not in PEM"},
		"broken":      {func(o *github.AppOptions) { o.PrivateKey = private([]byte("hush")) }, "cannot be read"},
		"another key": {func(o *github.AppOptions) { o.PrivateKey = private(der) }, "not an RSA key"},
		"base URL":    {func(o *github.AppOptions) { o.BaseURL = "github.example.com" }, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := github.AppOptions{ID: 1, PrivateKey: valid, Owner: "acme", Repository: "config"}
			c.set(&o)
			_, err := github.NewApp(o)
			switch {
			case c.says == "" && err != nil:
				t.Fatal(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hush")):
				t.Fatalf("error is %v, want it to say %q", err, c.says)
			}
		})
	}
}
