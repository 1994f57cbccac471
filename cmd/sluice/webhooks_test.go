package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/promotion"
)

// TestWebhookDoors: hosts and API servers each come in by their own door, and nobody without a secret does.
func TestWebhookDoors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	token := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token("first\n")
	s := &server{log: slog.New(slog.DiscardHandler), service: &promotion.Service{LiveObjects: map[string]promotion.LiveObjects{"eu": nil}},
		config: config.Config{Clusters: []config.Cluster{{Name: "eu", AuditTokenFile: file}, {Name: "us"}},
			Webhooks: []config.Webhook{{Host: "github", SecretFiles: []string{file}}}}}
	doors, err := s.webhooks()
	if err != nil {
		t.Fatal(err)
	}
	status := func(path, bearer string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"kind": "Event"}`))
		r.Header.Set("Authorization", "Bearer "+bearer)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		doors.ServeHTTP(w, r)
		return w.Code
	}
	for _, test := range []struct {
		path, bearer string
		status       int
	}{
		{"/webhooks/audit/eu", "first", http.StatusBadRequest}, // let in, and it is no EventList
		{"/webhooks/audit/eu", "other", http.StatusUnauthorized},
		{"/webhooks/audit/us", "first", http.StatusNotFound},
		{"/webhooks/audit/us", "", http.StatusNotFound},
		{"/webhooks/github", "first", http.StatusUnauthorized}, // not signed
		{"/webhooks/gitea", "first", http.StatusNotFound},
	} {
		if got := status(test.path, test.bearer); got != test.status {
			t.Errorf("%s with %q answers %d, want %d", test.path, test.bearer, got, test.status)
		}
	}
	token("second")
	if before, after := status("/webhooks/audit/eu", "first"), status("/webhooks/audit/eu", "second"); before != http.StatusUnauthorized || after != http.StatusBadRequest {
		t.Errorf("a token that was replaced: the old one answers %d, the new one %d", before, after)
	}
}
