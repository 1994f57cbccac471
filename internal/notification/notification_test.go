package notification_test

import (
	"crypto/hmac"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/notification"
	"github.com/sluicehq/sluice/internal/promotion"
)

func constant(s string) func() (string, error) { return func() (string, error) { return s, nil } }

var message = promotion.Message{Delivery: "d-1", URL: "https://sluice.example.test/violations", Notification: promotion.Notification{
	Kind: promotion.NotifyViolation, Object: "violation/web/prod/pushed/abc", At: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
	Application: "web", Environment: "prod", PromotionID: 7, Actor: "mallory", Message: "pushed by <!channel> & co"}}

func TestADeliveryIsSignedAndFitForChat(t *testing.T) {
	t.Parallel()
	const secret = "s3cret"
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("a %s, body %v", r.Method, err)
		}
		if got := r.Header.Get("X-Sluice-Signature-256"); !hmac.Equal([]byte(got), []byte(notification.Signature(secret, content))) {
			t.Errorf("signed %q", got)
		}
		if r.Header.Get("X-Sluice-Delivery") != "d-1" || r.Header.Get("X-Sluice-Event") != "violation" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("headers are %v", r.Header)
		}
		var got map[string]any
		if err := json.Unmarshal(content, &got); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]any{
			"text":     "[violation] pushed by &lt;!channel&gt; &amp; co\nhttps://sluice.example.test/violations",
			"delivery": "d-1", "kind": "violation", "message": "pushed by <!channel> & co", "application": "web", "environment": "prod",
			"promotion": 7.0, "actor": "mallory", "at": "2026-03-02T09:00:00Z", "object": "violation/web/prod/pushed/abc",
		} {
			if got[key] != want {
				t.Errorf("%s is %v, want %v", key, got[key], want)
			}
		}
	}))
	t.Cleanup(server.Close)
	if err := notification.New(notification.Options{URL: constant(server.URL), Secret: constant(secret)}).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
}

func TestTheSignatureIsHMACSHA256(t *testing.T) {
	t.Parallel()
	// RFC 4231, test case 2
	const want = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
	if got := notification.Signature("Jefe", []byte("what do ya want for nothing?")); got != want {
		t.Errorf("signed %s, want %s", got, want)
	}
}

func TestAFailedDeliverySaysWhyAndNoSecret(t *testing.T) {
	t.Parallel()
	answering := func(status int) func() (string, error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			http.Error(w, "hook-token-4711", status)
		}))
		t.Cleanup(server.Close)
		return constant(server.URL + "/hook-token-4711")
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	broken := func() (string, error) { return "", errors.New("no such file") }
	tests := []struct {
		name        string
		url, secret func() (string, error)
		says        string
	}{
		{"a failure", answering(500), nil, "answered 500"},
		{"a refusal", answering(403), nil, "answered 403"},
		{"led elsewhere", answering(302), nil, "answered 302"},
		{"nobody there", constant(gone.URL + "/hook-token-4711"), nil, "cannot be reached"},
		{"no address", constant("hook-token-4711"), nil, "address cannot be read"},
		{"a malformed address", constant("https://chat.example/hook-token-4711\x7f"), nil, "address cannot be read"},
		{"an address that cannot be read", broken, nil, "no such file"},
		{"a secret that cannot be read", answering(200), broken, "read its secret"},
		{"an empty secret", answering(200), constant(""), "unsigned"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := notification.New(notification.Options{URL: tt.url, Secret: tt.secret}).Send(t.Context(), message)
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "4711") {
				t.Errorf("the error is %v, want one that says %q and no secret", err, tt.says)
			}
		})
	}
}
