package prometheus_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/prometheus"
)

func TestAServerThatFailsSaysNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers http.HandlerFunc
		says    string
	}{
		"no answer in time": {func(_ http.ResponseWriter, r *http.Request) {
			_, _ = r.FormValue("query"), <-r.Context().Done() // it sees the caller go away once the question is read
		}, "did not answer"},
		"credentials revoked": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "the token was revoked", http.StatusUnauthorized)
		}, "401"},
		"half an answer": {func(w http.ResponseWriter, _ *http.Request) {
			whole := matrix(hour(func([]string) {}))
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte(whole[:len(whole)/2]))
		}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(test.answers)
			t.Cleanup(server.Close)
			s, err := prometheus.New(prometheus.Options{URL: server.URL, Token: func() (string, error) { return "secret-7", nil }})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, _, err = s.Over(ctx, "up", noon.Add(-time.Hour), noon)
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "secret-7") {
				t.Errorf("the error is %v, want one that says %q", err, test.says)
			}
		})
	}
}
