package httpapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

// What each request asks of the domain, and what it answers.
func TestGateRequests(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	freeze := promotion.Freeze{Kind: promotion.KindFreeze, Reason: "fair", Owner: "ops", Applications: []string{"web-*"},
		Environments: []string{"prod"}, Clusters: []string{"eu"}, StartsAt: day, EndsAt: day.Add(24 * time.Hour)}
	freezing := `{"kind": "freeze", "reason": "fair", "owner": "ops", "applications": ["web-*"], "environments": ["prod"], "clusters": ["eu"],
		"starts_at": "2026-03-02T02:00:00+02:00", "ends_at": "2026-03-03T00:00:00Z"}`
	back := promotion.RestoreRequest{Application: "web", Environment: "prod", ImagesOfToday: true, Reason: "limits",
		Restoration: promotion.Restoration{Commit: commit, Base: true, Secrets: true}}
	restoring := `{"application": "web", "environment": "prod", "commit": "` + commit + `", "base": true, "secrets": true,
		"images_of_today": true, "reason": "limits"}`
	goBack := promotion.GoBackRequest{Application: "web", Environment: "prod", Way: promotion.ImagesAndConfig, To: "1.4.1", Base: true,
		Secrets: true, Reason: "orders"}
	goingBack := `{"application": "web", "environment": "prod", "way": "images-and-config", "to": "1.4.1", "base": true, "secrets": true,
		"reason": "orders"}`
	tests := []struct {
		target, body string
		as           promotion.Role
		status       int
		asked        any
		golden       string
	}{
		{"evidence", `{"application": "web", "release": 3, "environment": "staging", "name": "integration-tests", "source": "jenkins",
			"verdict": "pass", "url": "https://ci.test/88", "summary": "212 passed", "expires_at": "2026-03-02T00:00:00Z"}`, "ci", 201,
			promotion.EvidenceRequest{Application: "web", Release: "3", Evidence: promotion.Evidence{Environment: "staging",
				Name: "integration-tests", Source: "jenkins", Verdict: "pass", URL: "https://ci.test/88", Summary: "212 passed", ExpiresAt: day}},
			"evidence"},
		{"evidence", `{"digest": "` + digest + `", "name": "image-scan", "verdict": "fail"}`, "ci", 201,
			promotion.EvidenceRequest{Digest: digest, Evidence: promotion.Evidence{Name: "image-scan", Verdict: "fail"}}, "evidence"},
		{"promotions:plan", `{"application": "web", "environment": "prod", "release": "1.4.2", "at": "2026-03-02T00:00:00Z"}`, "viewer", 200,
			promotion.PlanRequest{Application: "web", Environment: "prod", Release: "1.4.2", At: day}, "promotions-plan"},
		{"promotions:plan", `{"application": "web", "environment": "prod", "release": "1.4.2", "hotfix": true, "at": "2026-03-02T00:00:00Z"}`, "viewer", 200,
			promotion.PlanRequest{Application: "web", Environment: "prod", Release: "1.4.2", Hotfix: true, At: day}, "promotions-plan"},
		{"rollbacks:plan", goingBack, "viewer", 200, goBack, "restorations-plan"},
		{"rollbacks", goingBack, "release-manager", 201, goBack, ""},
		{"adoptions:plan", `{"application": "web", "environment": "prod"}`, "viewer", 200, promotion.AdoptRequest{Application: "web", Environment: "prod"}, "adoptions-plan"},
		{"adoptions", `{"application": "web", "environment": "prod", "fields": [7, 8], "reason": "INC-77"}`, "release-manager", 201,
			promotion.AdoptRequest{Application: "web", Environment: "prod", Fields: []int64{7, 8}, Reason: "INC-77"}, ""},
		{"restorations:plan", restoring, "viewer", 200, back, "restorations-plan"},
		{"restorations", restoring, "release-manager", 201, back, ""},
		{"releases/3/reject", `{"reason": "it leaks"}`, "approver", 200, []any{"reject", int64(3), "it leaks"}, "releases-3-reject"},
		{"releases/3/reopen", `{"reason": "it does not"}`, "release-manager", 200, []any{"reopen", int64(3), "it does not"}, "releases-3-reopen"},
		{"releases/3/clear-rollback", `{"reason": "the network"}`, "release-manager", 200, []any{"clear rollback", int64(3), "the network"}, ""},
		{"freezes:plan", freezing, "viewer", 200, freeze, "freezes-plan"},
		{"freezes", freezing, "release-manager", 201, freeze, "freeze"},
		{"freezes/2/end", "", "release-manager", 204, []any{"thaw", int64(2)}, ""},
		{"holds", `{"application": "web", "environment": "prod", "reason": "load test"}`, "release-manager", 200,
			[]any{"hold", promotion.HoldRequest{Application: "web", Environment: "prod", Reason: "load test"}}, "holds-web-prod"},
		{"holds", `{"everything": true, "reason": "fire"}`, "release-manager", 200,
			[]any{"hold", promotion.HoldRequest{Reason: "fire"}}, "holds-everything"},
		{"holds:resume", `{"application": "web", "environment": "prod"}`, "release-manager", 200,
			[]any{"resume", promotion.HoldRequest{Application: "web", Environment: "prod"}}, "holds-web-prod"},
		{"holds:resume", `{"everything": true}`, "release-manager", 200, []any{"resume", promotion.HoldRequest{}}, "holds-everything"},
		{"sync-pauses", `{"application": "web", "environment": "prod", "owner": "ada", "reason": "INC-77", "expires_at": "2026-03-02T00:00:00Z"}`, "release-manager", 201,
			promotion.SyncPauseRequest{Application: "web", Environment: "prod", Owner: "ada", Reason: "INC-77", ExpiresAt: day}, "sync-pause"},
		{"sync-pauses:resume", `{"application": "web", "environment": "prod"}`, "release-manager", 200, []any{"resume sync", "web", "prod"}, "sync-pauses-resume"},
		{"overrides", `{"application": "web", "environment": "prod", "gates": ["sync-window", "approvals"], "reason": "fire",
			"incident": "https://incidents.test/9", "expires_at": "2026-03-02T00:00:00Z"}`, "break-glass", 201,
			promotion.OverrideRequest{Application: "web", Environment: "prod", Gates: []string{"sync-window", "approvals"}, Reason: "fire",
				Incident: "https://incidents.test/9", ExpiresAt: day}, "override"},
		{"owed:waive", `{"application": "web", "environment": "staging", "release": 3, "reason": "past that line"}`, "release-manager", 204,
			promotion.WaiveRequest{Application: "web", Environment: "staging", Release: "3", Reason: "past that line"}, ""},
		{"overrides/2/review", `{"review": "it was right"}`, "approver", 204, []any{"review override", int64(2), "it was right"}, ""},
		{"deliveries/d-1/retry", "", "release-manager", 204, []any{"try again", "d-1"}, ""},
		{"violations/2/review", `{"review": "it was not"}`, "approver", 204, []any{"close violation", int64(2), "it was not"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.target+tt.body, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			w := d.send(t, request(tt.as, http.MethodPost, "/api/v1/"+tt.target, tt.body))
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if diff := gocmp.Diff(tt.asked, d.asked, gocmp.Comparer(time.Time.Equal)); diff != "" {
				t.Errorf("the domain was asked something else (-want +got):\n%s", diff)
			}
			if d.by.Name != string(tt.as) && d.by.Name != "" {
				t.Errorf("asked by %q, want %s", d.by.Name, tt.as)
			}
			if tt.golden != "" {
				golden(t, w, tt.status, tt.golden)
			}
			if tt.status == 204 && w.Body.Len() > 0 {
				t.Errorf("answered %s", w.Body)
			}
		})
	}
}

// Every operation that takes a body hands on what the domain refuses, and takes no member that is not documented.
func TestEveryBodyIsReadStrictly(t *testing.T) {
	t.Parallel()
	for path, item := range newDoor(t).document.Paths.Map() {
		op := item.Post
		if op == nil || bodies[op.OperationID] == "" {
			continue
		}
		roles, _ := op.Extensions["x-roles"].([]any)
		send := func(t *testing.T, d *door, path, body string) api.Problem {
			role := promotion.Role(roles[0].(string))
			return problem(t, d.send(t, request(role, http.MethodPost, strings.ReplaceAll(path, "{id}", "12"), body)))
		}
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			misspelt := strings.Replace(bodies[op.OperationID], "{", `{"resaon": "",`, 1)
			if p := send(t, d, path, misspelt); p.Status != 400 || p.Code != "unknown-field" || p.Field != "resaon" || d.asked != nil {
				t.Errorf("a misspelt member: %d %s %q, asked %v", p.Status, p.Code, p.Field, d.asked)
			}
			if strings.Contains(path, "{id}") {
				p := send(t, d, strings.ReplaceAll(path, "{id}", "x"), bodies[op.OperationID])
				if p.Status != 400 || p.Field != "id" || d.asked != nil {
					t.Errorf("no id: %d %s %q, asked %v", p.Status, p.Code, p.Field, d.asked)
				}
			}
			d.err = &promotion.Error{Kind: promotion.Invalid, Code: "missing-reason", Field: "reason", Message: "say why"}
			if p := send(t, d, path, bodies[op.OperationID]); p.Status != 422 || p.Code != "missing-reason" || p.Field != "reason" || p.Detail != "say why" {
				t.Errorf("refused by the domain: %d %s %q: %s", p.Status, p.Code, p.Field, p.Detail)
			}
			d.err = &promotion.Error{Kind: promotion.Conflict, Code: "reviewed", Message: "ada has"}
			if p := send(t, d, path, bodies[op.OperationID]); p.Status != 409 || p.Code != "reviewed" {
				t.Errorf("in conflict: %d %s", p.Status, p.Code)
			}
		})
	}
}

func TestPlanThatNothingHolds(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.plan.Earliest, d.plan.Gates = time.Time{}, sampleGates()
	var plan api.Plan
	w := d.post(t, "/api/v1/promotions:plan", bodies["planPromotion"])
	if err := json.Unmarshal(w.Body.Bytes(), &plan); err != nil || plan.Held || plan.Earliest != nil || plan.Gates[1].Override != 2 {
		t.Errorf("%v: held %v, earliest %v: %s", err, plan.Held, plan.Earliest, w.Body)
	}
}

// Restoring files with secrets shows their names, and never what is in them.
func TestRestorationPlanHasNoContents(t *testing.T) {
	t.Parallel()
	w := newDoor(t).post(t, "/api/v1/restorations:plan", bodies["planRestoration"])
	if strings.Contains(w.Body.String(), "hunter2") || !strings.Contains(w.Body.String(), "secret.yaml") {
		t.Errorf("%s", w.Body)
	}
}

func TestRevisions(t *testing.T) {
	t.Parallel()
	golden(t, newDoor(t).get(t, "/api/v1/revisions?application=web&environment=prod"), http.StatusOK, "revisions")
	d := newDoor(t)
	d.err = promotion.ErrNotFound
	if p := problem(t, d.get(t, "/api/v1/revisions?application=web&environment=qa")); p.Status != 404 || p.Code != "unknown-target" {
		t.Errorf("%d %s: %s", p.Status, p.Code, p.Detail)
	}
}

// A restoration says what it restores; a change may have no release.
func TestKindsOfPromotions(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.promotions = []promotion.Promotion{sampleChange(), sampleRestore()}
	golden(t, d.get(t, "/api/v1/promotions"), http.StatusOK, "promotions-kinds")
}

func TestTargetsAreFiltered(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"windows":                               {"web/dev", "web/prod"},
		"windows?environment=prod":              {"web/prod"},
		"windows?application=api":               {},
		"owed":                                  {"web/dev", "api/dev"},
		"owed?application=api":                  {"api/dev"},
		"holds":                                 {"web/dev", "web/prod", "/"},
		"holds?application=web&environment=dev": {"web/dev", "/"},
		"holds?application=api&environment=staging": {"/"},
	}
	for target, want := range tests {
		var list struct {
			Items []struct {
				Application, Environment string
			} `json:"items"`
		}
		w := newDoor(t).get(t, "/api/v1/"+target)
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, i := range list.Items {
			got = append(got, i.Application+"/"+i.Environment)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}

// The document names the gates that the domain lets anybody override, and no other.
func TestOverridableGatesAreAsDocumented(t *testing.T) {
	t.Parallel()
	documented := []string{}
	for _, name := range newDoor(t).document.Components.Schemas["OverridableGate"].Value.Enum {
		documented = append(documented, name.(string))
	}
	domain := slices.Sorted(slices.Values(promotion.Overridable()))
	slices.Sort(documented)
	if diff := gocmp.Diff(domain, documented); diff != "" {
		t.Errorf("(-domain +document):\n%s", diff)
	}
}
