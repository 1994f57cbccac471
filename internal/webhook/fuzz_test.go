package webhook_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A signed body is answered with 400 if it is not JSON, and otherwise accepted,
// with an event that names a repository or none at all.
func FuzzDoor(f *testing.F) {
	for _, body := range []string{push, "", "null", "{", `{"repository":{"full_name":"a/b"},"pull_request":{"number":1e9}}`,
		`{"repository":{"full_name":"a/b"},"changes":{"owner":{"from":{"user":{"login":"c"}}}}}`} {
		for _, kind := range []string{"push", "pull_request", "repository", "ping"} {
			f.Add(kind, body)
		}
	}
	f.Fuzz(func(t *testing.T, kind, body string) {
		got := &receiver{}
		answer := send(newDoor(t, got), delivery(kind, body))
		switch {
		case json.Valid([]byte(body)) && answer.Code != http.StatusAccepted:
			t.Errorf("answered %d: %s", answer.Code, answer.Body)
		case !json.Valid([]byte(body)) && answer.Code != http.StatusBadRequest:
			t.Errorf("answered %d: %s", answer.Code, answer.Body)
		}
		for _, e := range got.events {
			if owner, name, _ := strings.Cut(e.Repository, "/"); owner == "" || name == "" || e.PullRequest < 0 {
				t.Errorf("received %+v", e)
			}
		}
	})
}
