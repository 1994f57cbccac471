package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

func problem(t testing.TB, w *httptest.ResponseRecorder) api.Problem {
	t.Helper()
	var p api.Problem
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("status %d, Content-Type %q: %s", w.Code, got, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if p.Status != w.Code || p.Type != "urn:sluice:problem:"+p.Code || p.Title == "" || p.RequestID == "" || p.RequestID != w.Header().Get("X-Request-ID") {
		t.Errorf("an incomplete problem: %s", w.Body)
	}
	return p
}

func TestOnlyABuildMayBeLarge(t *testing.T) {
	t.Parallel()
	large := `{"summary": "` + strings.Repeat("1", 1<<20) + `"}`
	p := problem(t, newDoor(t).send(t, request(promotion.RoleCI, http.MethodPost, "/api/v1/evidence", large)))
	if p.Status != http.StatusRequestEntityTooLarge || !strings.Contains(p.Detail, "1048576 bytes") {
		t.Errorf("got %d: %s", p.Status, p.Detail)
	}
}

func TestBodiesRefused(t *testing.T) {
	t.Parallel()
	big := `{"version": "` + strings.Repeat("1", 8<<20) + `"}`
	tests := []struct {
		name, contentType, body string
		status                  int
		code, field, says       string
	}{
		{"empty", "application/json", "", 400, "invalid-json", "", "empty"},
		{"not JSON", "application/json", "{\"version\": \"1\",\n  oops}", 400, "invalid-json", "", "line 2, column 3"},
		{"cut off", "application/json", `{"version": "1"`, 400, "invalid-json", "", "line 1"},
		{"two values", "application/json", `{"version": "1"} {}`, 400, "invalid-json", "", "line 1, column 18"},
		{"trailing text", "application/json", `{"version": "1"}x`, 400, "invalid-json", "", "column 17"},
		{"not UTF-8", "application/json", "{\"version\": \"\xff\"}", 400, "invalid-json", "", "UTF-8"},
		{"NUL", "application/json", `{"version": "\u0000"}`, 400, "invalid-json", "", `\u0000`},
		{"unknown field", "application/json", `{"version": "1", "app": "web"}`, 400, "unknown-field", "app", "app"},
		{"unknown field inside", "application/json", `{"artifacts": [{}, {"tag": "1"}]}`, 400, "unknown-field", "artifacts[1].tag", "artifacts[1].tag"},
		{"other case", "application/json", `{"Version": "1"}`, 400, "unknown-field", "Version", "Version"},
		{"given twice", "application/json", `{"source": {"ref": "a", "ref": "b"}}`, 400, "duplicate-field", "source.ref", "twice"},
		{"number for text", "application/json", `{"version": 1.4}`, 400, "wrong-type", "version", "version must be a string"},
		{"text for a list", "application/json", `{"artifacts": "web"}`, 400, "wrong-type", "artifacts", "must be a list"},
		{"list for an object", "application/json", `{"source": []}`, 400, "wrong-type", "source", "must be an object"},
		{"list", "application/json", `[]`, 400, "wrong-type", "", "the body must be an object"},
		{"too large", "application/json", big, 413, "too-large", "", "8388608 bytes"},
		{"form", "application/x-www-form-urlencoded", "version=1", 415, "unsupported-media-type", "Content-Type", "application/json"},
		{"untyped", "", "{}", 415, "unsupported-media-type", "Content-Type", "application/json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			r := request(promotion.RoleCI, http.MethodPost, "/api/v1/builds", tt.body)
			r.Header.Set("Content-Type", tt.contentType)
			p := problem(t, d.send(t, r))
			if p.Status != tt.status || p.Code != tt.code || p.Field != tt.field || !strings.Contains(p.Detail, tt.says) {
				t.Errorf("got %d %s %q: %s", p.Status, p.Code, p.Field, p.Detail)
			}
			if d.asked != nil {
				t.Errorf("the domain was asked %v", d.asked)
			}
		})
	}
}

func TestRequestsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, target, body string
		status               int
		code, field          string
	}{
		{"GET", "/api/v1/promotions/web", "", 400, "malformed-parameter", "id"},
		{"GET", "/api/v1/releases/0/chain", "", 400, "malformed-parameter", "id"},
		{"GET", "/api/v1/builds/99999999999999999999", "", 400, "malformed-parameter", "id"},
		{"GET", "/api/v1/promotions?state=opened", "", 400, "malformed-parameter", "state"},
		{"GET", "/api/v1/promotions?release=1.4.2", "", 400, "malformed-parameter", "release"},
		{"GET", "/api/v1/promotions?unfinished=yes", "", 400, "malformed-parameter", "unfinished"},
		{"GET", "/api/v1/promotions?limit=0", "", 400, "malformed-parameter", "limit"},
		{"GET", "/api/v1/promotions?limit=201", "", 400, "malformed-parameter", "limit"},
		{"GET", "/api/v1/promotions?cursor=12", "", 400, "malformed-parameter", "cursor"},
		{"GET", "/api/v1/history?at=yesterday", "", 400, "malformed-parameter", "at"},
		{"GET", "/api/v1/history?at=2026-03-01T02:30:00+02:00", "", 400, "malformed-parameter", "at"},
		{"GET", "/api/v1/history?env=prod", "", 400, "unknown-parameter", "env"},
		{"GET", "/api/v1/history?environment=prod&environment=dev", "", 400, "malformed-parameter", "environment"},
		{"GET", "/api/v1/history?environment=%00", "", 400, "malformed-parameter", "environment"},
		{"GET", "/api/v1/history?environment=%ff", "", 400, "malformed-parameter", "environment"},
		{"GET", "/api/v1/history?environment=%zz", "", 400, "malformed-query", ""},
		{"POST", "/api/v1/promotions/12/merge", `{"force": true}`, 400, "unknown-field", "force"},
		{"POST", "/api/v1/promotions", `{"release": true}`, 400, "wrong-type", "release"},
		{"POST", "/api/v1/promotions", `{"release": 1.5}`, 400, "wrong-type", "release"},
		{"GET", "/api/v1/windows?from=today", "", 400, "malformed-parameter", "from"},
		{"GET", "/api/v1/notifications?kind=gossip", "", 400, "malformed-parameter", "kind"},
		{"GET", "/api/v1/violations?open=1", "", 400, "malformed-parameter", "open"},
		{"GET", "/api/v1/violations?cursor=MTI", "", 400, "unknown-parameter", "cursor"},
		{"GET", "/api/v1/revisions?environment=prod", "", 400, "missing-parameter", "application"},
		{"GET", "/api/v1/revisions?application=web&environment=", "", 400, "missing-parameter", "environment"},
		{"POST", "/api/v1/evidence", `{"expires_at": "tomorrow"}`, 400, "wrong-type", "expires_at"},
		{"POST", "/api/v1/promotions:plan", `{"at": 1772332200}`, 400, "wrong-type", "at"},
		{"POST", "/api/v1/freezes", `{"starts_at": "2026-03-01"}`, 400, "wrong-type", "starts_at"},
		{"POST", "/api/v1/holds", `{"reason": "fire"}`, 422, "missing-application", "application"},
		{"POST", "/api/v1/holds", `{"reason": "fire", "everything": true, "environment": "prod"}`, 422, "ambiguous-target", "everything"},
		{"POST", "/api/v1/holds:resume", `{}`, 422, "missing-application", "application"},
		{"POST", "/api/v1/holds:resume", `{"everything": true, "application": "web"}`, 422, "ambiguous-target", "everything"},
		{"POST", "/api/v1/holds:resume", "", 400, "invalid-json", ""},
		{"POST", "/api/v1/freezes/2/end", `{"why": "over"}`, 400, "unknown-field", "why"},
		{"POST", "/api/v1/holds:pause", `{}`, 404, "not-found", ""},
		{"GET", "/api/v1/promotions:plan", "", 405, "method-not-allowed", ""},
		{"GET", "/api/v1/promotion", "", 404, "not-found", ""},
		{"DELETE", "/api/v1/promotions/12", "", 405, "method-not-allowed", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.target+tt.body, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			p := problem(t, d.send(t, request(promotion.RoleAdmin, tt.method, tt.target, tt.body)))
			if p.Status != tt.status || p.Code != tt.code || p.Field != tt.field {
				t.Errorf("got %d %s %q: %s", p.Status, p.Code, p.Field, p.Detail)
			}
			if d.asked != nil || d.log.Len() > 0 {
				t.Errorf("asked %v, logged %s", d.asked, &d.log)
			}
		})
	}
}

func TestIdempotencyKeyRefused(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{"run 88"}, {strings.Repeat("x", 256)}, {""}, {"a", "b"}} {
		d := newDoor(t)
		r := request(promotion.RoleCI, http.MethodPost, "/api/v1/builds", buildBody)
		r.Header["Idempotency-Key"] = keys
		if p := problem(t, d.send(t, r)); p.Code != "malformed-idempotency-key" || d.asked != nil {
			t.Errorf("%q: %s, asked %v", keys, p.Code, d.asked)
		}
	}
}

func TestErrorsOfTheDomain(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err    error
		status int
		want   api.Problem
	}{
		{&promotion.Error{Kind: promotion.Invalid, Code: "malformed-digest", Field: "artifacts[0].digest", Message: "64 digits"}, 422,
			api.Problem{Code: "malformed-digest", Field: "artifacts[0].digest", Detail: "64 digits"}},
		{fmt.Errorf("look: %w", &promotion.Error{Kind: promotion.Absent, Code: "unknown-promotion", Message: "none"}), 404,
			api.Problem{Code: "unknown-promotion", Detail: "none"}},
		{&promotion.Error{Kind: promotion.Forbidden, Code: "forbidden", Message: "no"}, 403, api.Problem{Code: "forbidden", Detail: "no"}},
		{&promotion.Error{Kind: promotion.Conflict, Code: "not-open", Message: "closed"}, 409, api.Problem{Code: "not-open", Detail: "closed"}},
		{&promotion.Error{Kind: promotion.Refused, Code: "merge-refused", Message: "held"}, 409,
			api.Problem{Code: "merge-refused", Detail: "held", Gates: []api.Gate{}}},
	}
	for _, tt := range tests {
		d := newDoor(t)
		d.err = tt.err
		got := problem(t, d.post(t, "/api/v1/promotions/12/merge", ""))
		if got.Status != tt.status {
			t.Errorf("%v: status %d, want %d", tt.err, got.Status, tt.status)
		}
		got.Type, got.Title, got.Status, got.RequestID = "", "", 0, ""
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.err, diff)
		}
		if d.log.Len() > 0 {
			t.Errorf("%v was logged: %s", tt.err, &d.log)
		}
	}
}

func TestAbsentObjects(t *testing.T) {
	t.Parallel()
	for target, code := range map[string]string{
		"builds/5": "unknown-build", "promotions/5": "unknown-promotion", "releases/5": "unknown-release", "releases/5/chain": "unknown-release",
		"releases/5/evidence": "unknown-release",
	} {
		d := newDoor(t)
		d.err = fmt.Errorf("read it: %w", promotion.ErrNotFound)
		if p := problem(t, d.get(t, "/api/v1/"+target)); p.Status != 404 || p.Code != code || !strings.Contains(p.Detail, "5") {
			t.Errorf("%s: %d %s: %s", target, p.Status, p.Code, p.Detail)
		}
	}
}

// What went wrong inside is told to the log, once and with the request's id, and to nobody else.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.err = errors.New("dial tcp 10.0.0.1: password=hunter2")
	for _, r := range []*http.Request{
		request(promotion.RoleAdmin, http.MethodPost, "/api/v1/promotions/12/merge", ""),
		request(promotion.RoleViewer, http.MethodGet, "/api/v1/history", ""),
	} {
		d.log.Reset()
		w := d.send(t, identified(r))
		if p := problem(t, w); p.Status != 500 || p.Code != "internal" || strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s", w.Body)
		}
		if got := d.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "hunter2") || !strings.Contains(got, "request_id=r-1") {
			t.Errorf("logged %q", got)
		}
	}
}

func TestCallerThatLeftIsNotLogged(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.err = context.Canceled
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	d.send(t, request(promotion.RoleViewer, http.MethodGet, "/api/v1/history", "").WithContext(ctx))
	if d.log.Len() > 0 {
		t.Errorf("logged %s", &d.log)
	}
}

func TestUnauthenticated(t *testing.T) {
	t.Parallel()
	for token, code := range map[promotion.Role]string{"": "unauthenticated", "stolen": "invalid-token"} {
		d := newDoor(t)
		w := d.send(t, request(token, http.MethodGet, "/api/v1/history", ""))
		if p := problem(t, w); p.Status != 401 || p.Code != code || w.Header().Get("WWW-Authenticate") != "Bearer" || d.asked != nil {
			t.Errorf("%q: %d %s, WWW-Authenticate %q", token, p.Status, p.Code, w.Header().Get("WWW-Authenticate"))
		}
	}
}

func TestServerRoutes(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	anonymous := func(target string) *httptest.ResponseRecorder {
		return d.send(t, request("", http.MethodGet, target, ""))
	}
	for _, target := range []string{"/healthz", "/readyz"} {
		if w := anonymous(target); w.Code != 200 || !strings.Contains(w.Body.String(), `"ok"`) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := anonymous("/api/openapi.yaml"); !bytes.Equal(w.Body.Bytes(), api.Document) {
		t.Errorf("%d, not the document", w.Code)
	}
	d.notReady = errors.New("database at db.internal is down")
	w := anonymous("/readyz")
	if p := problem(t, w); p.Status != 503 || p.Code != "not-ready" || strings.Contains(w.Body.String(), "db.internal") {
		t.Errorf("%s", w.Body)
	}
	if got := d.log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "db.internal") {
		t.Errorf("logged %q", got)
	}
	if w := anonymous("/healthz"); w.Code != 200 {
		t.Errorf("healthz while not ready: %d", w.Code)
	}
}

func FuzzBuildBody(f *testing.F) {
	f.Add(buildBody)
	f.Add(`{"version": "1", "artifacts": [{"tag": 1}], "x": null}`)
	f.Add(`{"version": "1"} {}`)
	d := newDoor(f)
	f.Fuzz(func(t *testing.T, body string) {
		d.asked = nil
		w := httptest.NewRecorder() // not through send: what the fields mean is for the domain to check
		d.echo.ServeHTTP(w, request(promotion.RoleCI, http.MethodPost, "/api/v1/builds", body))
		taken := w.Code == http.StatusCreated
		if !taken && (w.Code < 400 || w.Code > 499) {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		if taken && !json.Valid([]byte(body)) || taken != (d.asked != nil) {
			t.Errorf("taken: %v, asked: %v", taken, d.asked)
		}
	})
}
