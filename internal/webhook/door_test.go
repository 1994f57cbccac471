package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/webhook"
)

const (
	oldSecret = "the-secret-until-now"
	newSecret = "the-secret-from-now-on"
	push      = `{"ref":"refs/heads/main","repository":{"full_name":"acme/config"}}`
)

// receiver keeps what it gets.
type receiver struct {
	mu     sync.Mutex
	events []webhook.Event
	err    error
}

func (r *receiver) Receive(_ context.Context, e webhook.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	return r.err
}

func newDoor(t testing.TB, r *receiver) http.Handler {
	t.Helper()
	hosts := []webhook.Host{{Name: "github", Secrets: []string{oldSecret, newSecret}}, {Name: "forge", Secrets: []string{"another"}}}
	door, err := webhook.New(hosts, r, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return door
}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

// delivery is what GitHub sends.
func delivery(kind, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/github", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", kind)
	r.Header.Set("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	r.Header.Set("X-Hub-Signature-256", "sha256="+sign(newSecret, body))
	return r
}

func send(door http.Handler, r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	door.ServeHTTP(answer, r)
	return answer
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	old := hmac.New(sha1.New, []byte(newSecret))
	old.Write([]byte(push))
	for name, c := range map[string]struct {
		set  func(h http.Header)
		want int
	}{
		"new secret":               {func(http.Header) {}, 202},
		"old secret":               {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+sign(oldSecret, push)) }, 202},
		"Gitea's header":           {func(h http.Header) { h.Del("X-Hub-Signature-256"); h.Set("X-Gitea-Signature", sign(newSecret, push)) }, 202},
		"upper case":               {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+strings.ToUpper(sign(newSecret, push))) }, 202},
		"none":                     {func(h http.Header) { h.Del("X-Hub-Signature-256") }, 401},
		"empty":                    {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256=") }, 401},
		"of another host's secret": {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+sign("another", push)) }, 401},
		"of no secret":             {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+sign("", push)) }, 401},
		"of another body":          {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+sign(newSecret, push+" ")) }, 401},
		"cut off":                  {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256="+sign(newSecret, push)[:62]) }, 401},
		"no hex":                   {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha256=zz") }, 401},
		"without its prefix":       {func(h http.Header) { h.Set("X-Hub-Signature-256", sign(newSecret, push)) }, 401},
		"another algorithm's":      {func(h http.Header) { h.Set("X-Hub-Signature-256", "sha1="+hex.EncodeToString(old.Sum(nil))) }, 401},
		"SHA-1 alone": {func(h http.Header) {
			h.Del("X-Hub-Signature-256")
			h.Set("X-Hub-Signature", "sha1="+hex.EncodeToString(old.Sum(nil)))
		}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := &receiver{}
			r := delivery("push", push)
			c.set(r.Header)
			if answer := send(newDoor(t, got), r); answer.Code != c.want {
				t.Errorf("answered %d: %s", answer.Code, answer.Body)
			}
			if received := len(got.events) == 1; received != (c.want == 202) {
				t.Errorf("received %+v", got.events)
			}
		})
	}
}

// What is refused never reaches the receiver, and what comes without a
// signature is not even parsed.
func TestRefusals(t *testing.T) {
	t.Parallel()
	long := `{"ref":"` + strings.Repeat("x", 6<<20) + `"}`
	for name, c := range map[string]struct {
		request func() *http.Request
		want    int
	}{
		"unknown host": {func() *http.Request { r := delivery("push", push); r.URL.Path = "/webhooks/gitlab"; return r }, 404},
		"read":         {func() *http.Request { r := delivery("push", push); r.Method = http.MethodGet; return r }, 405},
		"a form": {func() *http.Request {
			r := delivery("push", push)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return r
		}, 415},
		"no content type": {func() *http.Request { r := delivery("push", push); r.Header.Del("Content-Type"); return r }, 415},
		"too long":        {func() *http.Request { return delivery("push", long) }, 413},
		"ends early": {func() *http.Request {
			r := delivery("push", push)
			r.Body = io.NopCloser(iotest.ErrReader(errors.New("gone")))
			return r
		}, 400},
		"no JSON":    {func() *http.Request { return delivery("push", push[1:]) }, 400},
		"half of it": {func() *http.Request { return delivery("push", push[:30]) }, 400},
		"empty":      {func() *http.Request { return delivery("push", "") }, 400},
		"no JSON, not signed": {func() *http.Request {
			r := delivery("push", push)
			r.Body = io.NopCloser(strings.NewReader("{"))
			return r
		}, 401},
		"no delivery": {func() *http.Request { r := delivery("push", push); r.Header.Del("X-GitHub-Delivery"); return r }, 400},
		"a very long delivery": {func() *http.Request {
			r := delivery("push", push)
			r.Header.Set("X-GitHub-Delivery", strings.Repeat("1", 101))
			return r
		}, 400},
		"unknown event":          {func() *http.Request { return delivery("sponsorship", push) }, 202},
		"no event":               {func() *http.Request { return delivery("", push) }, 202},
		"a list":                 {func() *http.Request { return delivery("push", `[1]`) }, 202},
		"null":                   {func() *http.Request { return delivery("push", `null`) }, 202},
		"no repository":          {func() *http.Request { return delivery("push", `{"ref":"refs/heads/main"}`) }, 202},
		"a repository of a sort": {func() *http.Request { return delivery("push", `{"repository":["acme/config"]}`) }, 202},
		"half a name":            {func() *http.Request { return delivery("push", `{"repository":{"full_name":"acme/"}}`) }, 202},
		"ping":                   {func() *http.Request { return delivery("ping", `{"zen":"Keep it logically awesome.","hook_id":1}`) }, 202},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := &receiver{}
			if answer := send(newDoor(t, got), c.request()); answer.Code != c.want || strings.Contains(answer.Body.String(), newSecret) {
				t.Errorf("answered %d: %s", answer.Code, answer.Body)
			}
			if len(got.events) > 0 {
				t.Errorf("received %+v", got.events)
			}
		})
	}
}

// An event that could not be recorded has to be delivered again.
func TestReceiverFails(t *testing.T) {
	t.Parallel()
	got := &receiver{err: errors.New("no database")}
	answer := send(newDoor(t, got), delivery("push", push))
	if answer.Code != http.StatusServiceUnavailable || strings.Contains(answer.Body.String(), "database") {
		t.Errorf("answered %d: %s", answer.Code, answer.Body)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	const repository = `"repository":{"full_name":"acme/config","name":"config","owner":{"login":"acme"}}`
	for name, c := range map[string]struct {
		kind, body string
		want       webhook.Event
	}{
		"push":                    {"push", `{"ref":"refs/heads/sluice/shop-prod-7","after":"0000","deleted":true,` + repository + `}`, webhook.Event{Refs: []string{"refs/heads/sluice/shop-prod-7"}}},
		"odd push":                {"push", `{"ref":7,` + repository + `}`, webhook.Event{}},
		"opened":                  {"pull_request", `{"action":"opened","number":7,"pull_request":{"number":7,"head":{"ref":"promote"},"base":{"ref":"main"}},` + repository + `}`, webhook.Event{PullRequest: 7, Refs: []string{"refs/heads/promote"}}},
		"merged":                  {"pull_request", `{"number":7,"pull_request":{"merged":true,"head":{"ref":"promote"},"base":{"ref":"main"}},` + repository + `}`, webhook.Event{PullRequest: 7, Refs: []string{"refs/heads/promote", "refs/heads/main"}}},
		"reviewed":                {"pull_request_review", `{"action":"submitted","review":{"state":"approved"},"pull_request":{"number":7},` + repository + `}`, webhook.Event{PullRequest: 7}},
		"approved in Gitea":       {"pull_request_approved", `{"action":"reviewed","number":7,"pull_request":{"number":7,"merged":false,"head":{"ref":"refs/pull/7/head"}},` + repository + `}`, webhook.Event{PullRequest: 7}},
		"no number":               {"pull_request", `{"number":"seven",` + repository + `}`, webhook.Event{}},
		"negative":                {"pull_request", `{"number":-7,` + repository + `}`, webhook.Event{}},
		"renamed":                 {"repository", `{"action":"renamed","changes":{"repository":{"name":{"from":"old"}}},"sender":{"login":"pat"},` + repository + `}`, webhook.Event{Formerly: "acme/old", Sender: "pat"}},
		"transferred from a user": {"repository", `{"changes":{"owner":{"from":{"user":{"login":"pat"}}}},` + repository + `}`, webhook.Event{Formerly: "pat/config"}},
		"transferred":             {"repository", `{"changes":{"owner":{"from":{"organization":{"login":"umbrella"}}}},` + repository + `}`, webhook.Event{Formerly: "umbrella/config"}},
		"archived":                {"repository", `{"action":"archived",` + repository + `}`, webhook.Event{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := &receiver{}
			if answer := send(newDoor(t, got), delivery(c.kind, c.body)); answer.Code != http.StatusAccepted {
				t.Fatalf("answered %d: %s", answer.Code, answer.Body)
			}
			c.want.Host, c.want.Delivery, c.want.Repository = "github", "72d3162e-cc78-11e3-81ab-4c9367dc0958", "acme/config"
			if diff := cmp.Diff([]webhook.Event{c.want}, got.events); diff != "" {
				t.Errorf("received (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a secret there is no door.
func TestSecretsAreNeeded(t *testing.T) {
	t.Parallel()
	for name, host := range map[string]webhook.Host{
		"none": {Name: "github"}, "empty": {Name: "github", Secrets: []string{newSecret, ""}}, "no name": {Secrets: []string{newSecret}},
	} {
		if _, err := webhook.New([]webhook.Host{host}, &receiver{}, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
