package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

var (
	digest = "sha256:" + strings.Repeat("ab", 32)
	commit = strings.Repeat("c0", 20)
)

// serve answers every request with the same, after checking it against the document.
func serve(t *testing.T, status int, contentType, body string) (c *client.Client, got *http.Request) {
	t.Helper()
	document, err := openapi3.NewLoader().LoadFromData(api.Document)
	if err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		t.Fatal(err)
	}
	got = &http.Request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*got = *r
		r.URL.Scheme, r.URL.Host = "", ""
		route, params, err := router.FindRoute(r)
		if err == nil {
			err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params,
				Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, RejectWhenRequestBodyNotSpecified: true}})
		}
		if err != nil {
			t.Errorf("%s %s is not in the document: %v", r.Method, r.URL, err)
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	c, err = client.New(server.URL+"/", "sluice_secret")
	if err != nil {
		t.Fatal(err)
	}
	return c, got
}

func TestCalls(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 30, 0, 0, time.FixedZone("", 2*3600))
	build := api.BuildRequest{Version: "1.4.2", Artifacts: []api.BuildArtifact{{Repository: "r.test/web", Digest: digest}},
		Source: api.Source{Repository: "https://git.test/web", Commit: commit}}
	tests := []struct {
		name, want string
		call       func(context.Context, *client.Client) (id int64, err error)
	}{
		{"post a build", "POST /api/v1/builds", func(ctx context.Context, c *client.Client) (int64, error) {
			b, err := c.PostBuild(ctx, build)
			return b.ID, err
		}},
		{"promote", "POST /api/v1/promotions", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.Promote(ctx, api.PromotionRequest{Application: "web", Environment: "prod", Release: "3"})
			return p.ID, err
		}},
		{"decide", "POST /api/v1/promotions/12/approvals", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.Decide(ctx, 12, api.DecisionRequest{Decision: api.DecisionRequestDecisionApprove})
			return p.ID, err
		}},
		{"board", "GET /api/v1/applications?application=a%26b", func(ctx context.Context, c *client.Client) (int64, error) {
			_, err := c.Applications(ctx, "a&b")
			return 7, err
		}},
		{"history", "GET /api/v1/history?application=web&at=2026-03-01T02%3A30%3A00%2B02%3A00&limit=5",
			func(ctx context.Context, c *client.Client) (int64, error) {
				_, err := c.History(ctx, client.HistoryFilter{Application: "web", At: at, Limit: 5})
				return 7, err
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, got := serve(t, http.StatusOK, "application/json", `{"id": 7}`)
			id, err := tt.call(t.Context(), c)
			if err != nil || id != 7 {
				t.Errorf("id %d, %v", id, err)
			}
			if sent := got.Method + " " + got.RequestURI; sent != tt.want {
				t.Errorf("sent %s, want %s", sent, tt.want)
			}
			if got.Header.Get("Authorization") != "Bearer sluice_secret" {
				t.Errorf("Authorization %q", got.Header.Get("Authorization"))
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, http.StatusConflict, "application/problem+json", `{"status": 409, "code": "not-open", "detail": "promotion 12 is merged"}`)
	_, err := c.Decide(t.Context(), 12, api.DecisionRequest{Decision: api.DecisionRequestDecisionApprove})
	var refusal *client.Refusal
	if !errors.As(err, &refusal) || refusal.Code != "not-open" || err.Error() != "promotion 12 is merged" {
		t.Errorf("%v", err)
	}
}

func TestOtherServers(t *testing.T) {
	t.Parallel()
	for _, answer := range []struct {
		status      int
		contentType string
		body        string
	}{
		{http.StatusBadGateway, "text/html", "<h1>Bad Gateway</h1>"},
		{http.StatusOK, "text/html", "<h1>Welcome</h1>"},
		{http.StatusBadRequest, "application/problem+json", "<h1>"},
		{http.StatusNotFound, "application/json", "{}"},
		{http.StatusOK, "application/json", "[]"},
	} {
		c, _ := serve(t, answer.status, answer.contentType, answer.body)
		if _, err := c.Applications(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:") {
			t.Errorf("%v: %v", answer, err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(server.URL, "sluice_secret")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Applications(t.Context(), "")
	if err == nil || !strings.HasPrefix(err.Error(), "cannot reach the server at "+server.URL) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "sluice.example.com", "127.0.0.1:8080", "ftp://sluice.example.com", "http://"} {
		if _, err := client.New(address, ""); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
