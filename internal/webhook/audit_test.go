package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/webhook"
)

// notes keeps what LiveWritten was told.
type notes struct {
	cluster string
	all     []promotion.AuditedWrite
	err     error
}

func (n *notes) LiveWritten(_ context.Context, cluster string, all []promotion.AuditedWrite) error {
	n.cluster, n.all = cluster, append(n.all, all...)
	return n.err
}

func good() (string, error) { return "good-token", nil }

// sendsAudit posts a body to the door of clusters eu, which has a token, and broken, whose token cannot be read.
func sendsAudit(t *testing.T, receiver *notes, path, authorization, body string) *httptest.ResponseRecorder {
	t.Helper()
	door := webhook.NewAudit(map[string]func() (string, error){"eu": good,
		"broken": func() (string, error) { return "", errors.New("no such file") },
		"empty":  func() (string, error) { return "", nil }}, receiver, slog.New(slog.DiscardHandler))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	door.ServeHTTP(w, r)
	return w
}

func eventList(events ...string) string {
	return `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[` + strings.Join(events, ",") + `]}`
}

const patched = `{"level":"RequestResponse","auditID":"a1","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=kubectl-set",
 "verb":"patch","user":{"username":"ada@example.com","groups":["ops","system:authenticated"]},"sourceIPs":["1.2.3.4","10.0.0.7"],"userAgent":"kubectl/v1.36.0",
 "objectRef":{"resource":"deployments","namespace":"shop","name":"web","apiGroup":"apps","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},
 "requestObject":{"data":{"password":"c2VjcmV0"}},"requestReceivedTimestamp":"2026-03-01T12:00:00.123456Z","stageTimestamp":"2026-03-01T12:00:00.2Z"}`

func TestAuditIsTakenWithTheClustersOwnTokenAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path, authorization, body string
		fails                     error
		status                    int
		told                      bool
	}{
		"with the token":         {path: "eu", authorization: "Bearer good-token", body: eventList(patched), status: 200, told: true},
		"no token":               {path: "eu", body: eventList(patched), status: 401},
		"another token":          {path: "eu", authorization: "Bearer bad-token", body: eventList(patched), status: 401},
		"the token's beginning":  {path: "eu", authorization: "Bearer good", body: eventList(patched), status: 401},
		"another scheme":         {path: "eu", authorization: "Basic good-token", body: eventList(patched), status: 401},
		"no token is configured": {path: "us", authorization: "Bearer good-token", body: eventList(patched), status: 404},
		"an empty one is none":   {path: "empty", authorization: "Bearer ", body: eventList(patched), status: 401},
		"it cannot be read":      {path: "broken", authorization: "Bearer ", body: eventList(patched), status: 503},
		"not JSON":               {path: "eu", authorization: "Bearer good-token", body: "x", status: 400},
		"another kind":           {path: "eu", authorization: "Bearer good-token", body: `{"kind":"Event","apiVersion":"audit.k8s.io/v1"}`, status: 400},
		"an old version":         {path: "eu", authorization: "Bearer good-token", body: `{"kind":"EventList","apiVersion":"audit.k8s.io/v1beta1"}`, status: 400},
		"too long":               {path: "eu", authorization: "Bearer good-token", body: eventList(`{"x":"` + strings.Repeat("x", 11<<20) + `"}`), status: 413},
		"too long, unknown":      {path: "eu", body: strings.Repeat("x", 11<<20), status: 401},
		"it cannot be recorded":  {path: "eu", authorization: "Bearer good-token", body: eventList(patched), fails: errors.New("the database is away"), status: 503, told: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiver := &notes{err: test.fails}
			w := sendsAudit(t, receiver, "/webhooks/audit/"+test.path, test.authorization, test.body)
			if w.Code != test.status || (receiver.cluster == "eu") != test.told {
				t.Errorf("answered %d %s, told %+v", w.Code, w.Body, receiver)
			}
			if again := w.Header().Get("Retry-After") != ""; again != (test.status == 503) {
				t.Errorf("asks to be sent again: %v", again)
			}
		})
	}
}

func TestOnlyWritesAreTakenFromAnAudit(t *testing.T) {
	t.Parallel()
	with := func(changes ...string) string { return strings.NewReplacer(changes...).Replace(patched) }
	receiver := &notes{}
	w := sendsAudit(t, receiver, "/webhooks/audit/eu", "Bearer good-token", eventList(patched,
		with(`"verb":"patch"`, `"verb":"get"`),
		with(`"verb":"patch"`, `"verb":"deletecollection"`),
		with("ResponseComplete", "RequestReceived"),
		with(`"code":200`, `"code":403`),
		with("?fieldManager", "?dryRun=All&fieldManager"),
		with(`"apiVersion":"v1"`, `"subresource":"status"`),
		with(`"name":"web",`, ""),
		with(`"a1"`, `""`),
		with(`"a1"`, `"a2"`, `"apiVersion":"v1"`, `"subresource":"scale"`, "ada@example.com", strings.Repeat("é", 200), "kubectl/v1.36.0", `k\u0000ubectl`,
			`"userAgent"`, `"impersonatedUser":{"username":"bob"},"userAgent"`, `["1.2.3.4","10.0.0.7"]`, `[]`)))
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
	web := promotion.LiveRef{Group: "apps", Resource: "deployments", Namespace: "shop", Name: "web"}
	want := []promotion.AuditedWrite{
		{ID: "a1", Ref: web, LiveWrite: promotion.LiveWrite{Verb: "patch", User: "ada@example.com", Agent: "kubectl/v1.36.0", Source: "10.0.0.7", At: at}},
		{ID: "a2", Ref: web, As: "bob", LiveWrite: promotion.LiveWrite{Verb: "patch", User: strings.Repeat("é", 128), Agent: "kubectl", At: at}},
	}
	if w.Code != 200 || !reflect.DeepEqual(receiver.all, want) {
		t.Errorf("answered %d, told\n%+v\nwant\n%+v", w.Code, receiver.all, want)
	}
	if text := fmt.Sprintf("%+v", receiver.all); strings.Contains(text, "c2VjcmV0") {
		t.Errorf("a body came along: %s", text)
	}
}
