package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/promotion"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestAnswers(t *testing.T) {
	t.Parallel()
	read := []string{
		"builds/7", "promotions/12", "promotions", "releases", "releases/3", "releases/3/chain", "releases/3/evidence", "applications",
		"deployments", "history", "audit-events", "windows", "freezes", "holds", "sync-pauses", "drifts", "overrides", "violations", "notifications", "repositories",
	}
	for _, target := range read {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			golden(t, newDoor(t).get(t, "/api/v1/"+target), http.StatusOK, strings.ReplaceAll(target, "/", "-"))
		})
	}
	t.Run("merge refused", func(t *testing.T) {
		t.Parallel()
		d := newDoor(t)
		d.err = &promotion.Error{Kind: promotion.Refused, Code: "merge-refused", Message: "held by approvals", Gates: sampleGates()}
		golden(t, d.send(t, identified(request(promotion.RoleAdmin, http.MethodPost, "/api/v1/promotions/12/merge", ""))), http.StatusConflict, "merge-refused")
	})
}

func identified(r *http.Request) *http.Request {
	r.Header.Set("X-Request-ID", "r-1")
	return r
}

func golden(t *testing.T, w *httptest.ResponseRecorder, status int, name string) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.TrimSpace(w.Body.Bytes()), "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	file := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), pretty.String()); diff != "" {
		t.Errorf("differs from %s (-want +got):\n%s", file, diff)
	}
}

func TestBuildIsRecordedOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	body := `{"application": "web", "version": "1.4.2", "line": "1.4", "group": "ci-88", "expects": ["web", "worker"],
		"artifacts": [{"repository": "r.test/web", "digest": "` + digest + `", "tags": ["1.4.2"]}], "charts": [{"name": "web", "version": "2.0.1"}],
		"attestations": [{"subject": "caches", "verdict": "compatible", "since": "1.4.0", "summary": "same keys"}],
		"source": {"repository": "https://git.test/web", "commit": "` + commit + `", "ref": "refs/heads/main"},
		"ci": {"provider": "jenkins", "run_url": "https://ci.test/88"}}`
	r := request(promotion.RoleCI, http.MethodPost, "/api/v1/builds", body)
	r.Header.Set("Idempotency-Key", "run-88")
	first := d.send(t, r)
	want := promotion.BuildRequest{Application: "web", Version: "1.4.2", Line: "1.4", Group: "ci-88", GroupExpects: []string{"web", "worker"},
		Artifacts:    []promotion.BuildArtifact{{Repository: "r.test/web", Digest: digest, Tags: []string{"1.4.2"}}},
		Charts:       []promotion.Chart{{Name: "web", Version: "2.0.1"}},
		Attestations: []promotion.BuildAttestation{{Subject: promotion.SubjectCaches, Verdict: promotion.AttestedCompatible, Since: "1.4.0", Summary: "same keys"}},
		Source:       promotion.Source{Repository: "https://git.test/web", Commit: commit, Ref: "refs/heads/main"},
		CI:           promotion.CIRun{Provider: "jenkins", RunURL: "https://ci.test/88"}, IdempotencyKey: "run-88"}
	if diff := cmp.Diff(want, d.asked); diff != "" {
		t.Errorf("the domain was asked something else (-want +got):\n%s", diff)
	}
	if d.by.Name != "ci" {
		t.Errorf("posted by %q", d.by.Name)
	}
	d.created = false
	again := d.post(t, "/api/v1/builds", body)
	if first.Code != http.StatusCreated || again.Code != http.StatusOK {
		t.Errorf("first %d, again %d; want 201 and 200", first.Code, again.Code)
	}
	if first.Body.String() != again.Body.String() {
		t.Errorf("first %s\nagain %s", first.Body, again.Body)
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	web := promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "3", Reason: "fix"}
	version := promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "1.4.2"}
	tests := []struct {
		target, body string
		status       int
		asked        any
	}{
		{"", `{"application": "web", "environment": "prod", "release": 3, "reason": "fix"}`, 201, web},
		{"", `{"application": "web", "environment": "prod", "release": "3", "reason": "fix"}`, 201, web},
		{"", `{"application": "web", "environment": "prod", "release": "1.4.2"}`, 201, version},
		{"", `{"application": "web", "environment": "prod", "release": "1.4.2", "with": ["prod-us"]}`, 201,
			promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "1.4.2", With: []string{"prod-us"}}},
		{"/12/approvals", `{"decision": "approve", "comment": "read", "rendered_hash": "f00d"}`, 200,
			promotion.DecideRequest{PromotionID: 12, Decision: "approve", Comment: "read", Rendered: "f00d"}},
		{"/12/approvals", `{"decision": "reject", "comment": "no"}`, 200,
			promotion.DecideRequest{PromotionID: 12, Decision: "reject", Comment: "no"}},
		{"/12/merge", "", 200, []any{"merge", int64(12)}},
		{"/12/standing-merge", "", 200, []any{"merge when passing", int64(12), ""}},
		{"/12/standing-merge", `{"rendered_hash": "f00d"}`, 200, []any{"merge when passing", int64(12), "f00d"}},
		{"/12/standing-merge/withdraw", "", 200, []any{"withdraw merge", int64(12)}},
		{"/12/sync", "", 200, []any{"sync", int64(12)}},
		{"/12/retry", "", 200, []any{"retry", int64(12)}},
		{"/12/cancel", "", 200, []any{"cancel", int64(12), ""}},
		{"/12/cancel", `{"reason": "not today"}`, 200, []any{"cancel", int64(12), "not today"}},
	}
	for _, tt := range tests {
		t.Run(tt.target+tt.body, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			w := d.post(t, "/api/v1/promotions"+tt.target, tt.body)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if diff := cmp.Diff(tt.asked, d.asked); diff != "" {
				t.Errorf("the domain was asked something else (-want +got):\n%s", diff)
			}
			var p struct {
				ID    int64 `json:"id"`
				Gates []any `json:"gates"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.ID != 12 || len(p.Gates) != 2 {
				t.Errorf("the answer is not the promotion with its gates: %v %s", err, w.Body)
			}
		})
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC)
	tests := []struct {
		target string
		asked  any
	}{
		{"promotions?application=web&environment=prod&state=rolled%20back&release=3&unfinished=true&limit=7&cursor=MTI",
			promotion.PromotionFilter{Application: "web", Environment: "prod", State: promotion.StateRolledBack, ReleaseID: 3,
				Unfinished: true, Before: 12, Limit: 8}},
		{"promotions", promotion.PromotionFilter{Limit: 51}},
		{"history?application=web&environment=prod&at=2026-03-01T02:30:00%2B02:00&limit=1",
			promotion.HistoryFilter{Application: "web", Environment: "prod", At: at, Limit: 2}},
		{"history?application=&environment=&at=", promotion.HistoryFilter{Limit: 51}},
		{"audit-events?application=web&environment=prod&promotion=12&release=3",
			promotion.AuditFilter{Application: "web", Environment: "prod", PromotionID: 12, ReleaseID: 3, Limit: 51}},
		{"drifts?application=web&environment=prod&open=true&limit=7&cursor=MTI",
			promotion.DriftFilter{Application: "web", Environment: "prod", Open: true, Before: 12, Limit: 8}},
		{"drifts", promotion.DriftFilter{Limit: 51}},
		{"notifications?application=web&environment=prod&kind=drift&undelivered=true&limit=7&cursor=MTI",
			promotion.NotificationFilter{Application: "web", Environment: "prod", Kind: promotion.NotifyDrift, Undelivered: true, Before: 12, Limit: 8}},
		{"notifications", promotion.NotificationFilter{Limit: 51}},
		{"deployments?application=web&environment=prod", []any{"web", "prod"}},
		{"releases?application=web&limit=200", []any{"web", int64(0), 201}},
		{"windows?from=2026-03-01T02:30:00%2B02:00&to=2026-03-02T00:30:00Z", []any{at, at.Add(24 * time.Hour)}},
		{"windows?from=2026-03-01T02:30:00%2B02:00", []any{at, at.Add(7 * 24 * time.Hour)}},
		{"windows", []any{noon, noon.Add(7 * 24 * time.Hour)}},
		{"freezes", noon},
		{"overrides", noon},
		{"violations", []any{false, 50}},
		{"violations?open=true&limit=7", []any{true, 7}},
		{"revisions?application=web&environment=prod", []any{int64(6), 200}},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			if w := d.get(t, "/api/v1/"+tt.target); w.Code >= 300 {
				t.Fatalf("status %d: %s", w.Code, w.Body)
			}
			if diff := cmp.Diff(tt.asked, d.asked, cmp.Comparer(time.Time.Equal)); diff != "" {
				t.Errorf("the store was asked something else (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPagesCoverTheList(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.promotions = nil
	for id := int64(7); id > 0; id-- {
		p := sampleRequested()
		p.ID = id
		d.promotions = append(d.promotions, p)
	}
	var ids []int64
	pages, cursor := 0, ""
	for pages == 0 || cursor != "" {
		var list struct {
			Items []struct {
				ID int64 `json:"id"`
			} `json:"items"`
			NextCursor string `json:"next_cursor"`
		}
		w := d.get(t, "/api/v1/promotions?limit=3&cursor="+cursor)
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Items) == 0 {
			t.Fatalf("page %d: %v %s", pages, err, w.Body)
		}
		for _, p := range list.Items {
			ids = append(ids, p.ID)
		}
		pages, cursor = pages+1, list.NextCursor
	}
	if diff := cmp.Diff([]int64{7, 6, 5, 4, 3, 2, 1}, ids); diff != "" || pages != 3 {
		t.Errorf("%d pages with %v", pages, ids)
	}
}

func TestApplicationsOfOneName(t *testing.T) {
	t.Parallel()
	var list struct {
		Items []struct {
			Application string `json:"application"`
		} `json:"items"`
	}
	w := newDoor(t).get(t, "/api/v1/applications?application=order-service")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list.Items) != 1 || list.Items[0].Application != "order-service" {
		t.Errorf("%v %s", err, w.Body)
	}
}
