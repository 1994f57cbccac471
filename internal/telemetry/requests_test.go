package telemetry_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/telemetry"
)

// measured answers the requests and returns how often each route, method and status was counted.
func measured(t *testing.T, routes func(*echo.Echo), requests ...*http.Request) (counts []string, answers []*httptest.ResponseRecorder) {
	t.Helper()
	m := telemetry.New(postgres.NewStore(seeded(t), nil), noon, slog.New(slog.DiscardHandler))
	e := echo.New()
	e.Use(m.Requests())
	routes(e)
	for _, r := range requests {
		w := httptest.NewRecorder()
		func() {
			defer func() { _ = recover() }()
			e.ServeHTTP(w, r)
		}()
		answers = append(answers, w)
	}
	for line := range strings.Lines(scrape(t, m)) {
		if rest, ok := strings.CutPrefix(line, "sluice_http_request_duration_seconds_count"); ok {
			counts = append(counts, strings.TrimSpace(rest))
		}
	}
	return counts, answers
}

func TestRequests(t *testing.T) {
	t.Parallel()
	routes := func(e *echo.Echo) {
		e.GET("/apps/:app", func(c echo.Context) error { return c.String(http.StatusOK, c.Param("app")) })
		e.GET("/refused", func(echo.Context) error { return echo.NewHTTPError(http.StatusConflict) })
		e.GET("/broken", func(echo.Context) error { return errors.New("broken") })
		e.GET("/panics", func(echo.Context) error { panic("broken") })
		e.GET("/moved", func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, "/") })
		e.GET("/events", func(c echo.Context) error {
			c.Response().Header().Set(echo.HeaderContentType, "text/event-stream; charset=utf-8")
			return c.NoContent(http.StatusOK)
		})
	}
	var requests []*http.Request
	for i := range 50 { // as many paths as anybody likes are one route
		requests = append(requests, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/apps/app-%d?secret=%d", i, i), nil),
			httptest.NewRequest(http.MethodGet, fmt.Sprintf("/no/such/%d", i), nil), httptest.NewRequest(fmt.Sprintf("METHOD%d", i), "/apps/x", nil))
	}
	for _, path := range []string{"/refused", "/broken", "/panics", "/moved", "/events"} {
		requests = append(requests, httptest.NewRequest(http.MethodGet, path, nil))
	}
	got, answers := measured(t, routes, requests...)
	want := []string{
		`{method="GET",route="/apps/:app",status="2xx"} 50`,
		`{method="GET",route="/broken",status="5xx"} 1`,
		`{method="GET",route="/moved",status="3xx"} 1`,
		`{method="GET",route="/panics",status="5xx"} 1`,
		`{method="GET",route="/refused",status="4xx"} 1`,
		`{method="GET",route="none",status="4xx"} 50`,
		`{method="other",route="/apps/:app",status="4xx"} 50`,
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counted otherwise (-want +got):\n%s", diff)
	}
	if refused := answers[150]; refused.Code != http.StatusConflict || strings.Count(refused.Body.String(), "message") != 1 {
		t.Errorf("the error is not answered once: %d %s", refused.Code, refused.Body)
	}
}

// TestClientGone answers nothing, as Sluice's own error handlers do when nobody waits any more.
func TestClientGone(t *testing.T) {
	t.Parallel()
	got, _ := measured(t, func(e *echo.Echo) {
		e.HTTPErrorHandler = func(error, echo.Context) {}
		e.GET("/slow", func(echo.Context) error { return errors.New("context canceled") })
	}, httptest.NewRequest(http.MethodGet, "/slow", nil))
	if want := []string{`{method="GET",route="/slow",status="4xx"} 1`}; !slices.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

// TestManyScrapes holds scrapes up in a store and asks for one more than are answered at once.
func TestManyScrapes(t *testing.T) {
	t.Parallel()
	pool := seeded(t)
	lock, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "LOCK TABLE config_repositories"); err != nil {
		t.Fatal(err)
	}
	m := telemetry.New(postgres.NewStore(connect(t, pool.Config().ConnString()), nil), noon, slog.New(slog.DiscardHandler))
	codes := make(chan int)
	for range 5 {
		go func() {
			answer := httptest.NewRecorder()
			m.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			codes <- answer.Code
		}()
	}
	select {
	case code := <-codes:
		if code != http.StatusServiceUnavailable {
			t.Errorf("the scrape too many is answered with %d", code)
		}
	case <-time.After(time.Minute):
		t.Fatal("the scrape too many waits")
	}
	if err := lock.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("the others are answered with %d", code)
		}
	}
}
