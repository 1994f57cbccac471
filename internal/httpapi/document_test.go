package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	if err := newDoor(t).document.Validate(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestDocumentNamesEveryRoute(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	var documented, registered []string
	for path, item := range d.document.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, r := range d.echo.Routes() {
		registered = append(registered, r.Method+" "+strings.NewReplacer(":id", "{id}", `\:`, ":").Replace(r.Path))
	}
	slices.Sort(documented)
	slices.Sort(registered)
	if diff := gocmp.Diff(documented, registered); diff != "" {
		t.Errorf("documented (-) and registered (+) routes differ:\n%s", diff)
	}
	if undeclared := d.router.Undeclared(); len(undeclared) > 0 {
		t.Errorf("routes without declared access: %v", undeclared)
	}
}

// bodies are the smallest that operations accept.
var bodies = map[string]string{
	"postBuild":        buildBody,
	"requestPromotion": `{"application": "web", "environment": "prod", "release": 3}`,
	"decidePromotion":  `{"decision": "approve"}`,
	"postEvidence":     `{"application": "web", "release": 3, "name": "integration-tests", "verdict": "pass"}`,
	"mergeWhenPassing": `{"rendered_hash": "f00d"}`,
	"planPromotion":    `{"application": "web", "environment": "prod", "release": 3}`,
	"acceptUnknown":    `{"unknown": "chart-unread", "reason": "no chart", "expires_at": "2026-03-02T12:00:00Z"}`,
	"planRollback":     `{"application": "web", "environment": "prod", "way": "images", "to": "1.4.1"}`,
	"startRollback":    `{"application": "web", "environment": "prod", "way": "images", "to": "1.4.1", "reason": "orders"}`,
	"planAdoption":     `{"application": "web", "environment": "prod"}`,
	"adopt":            `{"application": "web", "environment": "prod", "reason": "INC-77"}`,
	"planRestoration":  `{"application": "web", "environment": "prod", "commit": "c0"}`,
	"restore":          `{"application": "web", "environment": "prod", "commit": "c0", "reason": "back"}`,
	"rejectRelease":    `{"reason": "it leaks"}`,
	"reopenRelease":    `{"reason": "it does not"}`,
	"clearRollback":    `{"reason": "it was the network"}`,
	"freeze":           freezeBody,
	"planFreeze":       freezeBody,
	"hold":             `{"everything": true, "reason": "fire"}`,
	"resume":           `{"everything": true}`,
	"pauseSync":        `{"application": "web", "environment": "prod", "reason": "fire", "expires_at": "2026-03-02T00:00:00Z"}`,
	"resumeSync":       `{"application": "web", "environment": "prod"}`,
	"override":         `{"application": "web", "environment": "prod", "gates": ["sync-window"], "reason": "fire", "expires_at": "2026-03-01T12:00:00Z"}`,
	"waiveOwed":        `{"application": "web", "environment": "prod", "release": 3, "reason": "past that line"}`,
	"attest":           `{"application": "web", "from": "1.4.2", "to": "1.4.1", "subject": "messages", "verdict": "compatible", "reason": "same schema", "expires_at": "2026-03-02T00:00:00Z"}`,
	"reviewOverride":   `{"review": "it was right"}`,
	"reviewViolation":  `{"review": "it was not"}`,
}

const freezeBody = `{"kind": "freeze", "reason": "fair", "owner": "ops", "starts_at": "2026-03-02T00:00:00Z", "ends_at": "2026-03-03T00:00:00Z"}`

var buildBody = fmt.Sprintf(`{"version": "1.4.2", "artifacts": [{"repository": "r.test/web", "digest": %q}],
	"source": {"repository": "https://git.test/web", "commit": %q}}`, digest, commit)

func TestAccessIsAsDocumented(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for path, item := range d.document.Paths.Map() {
		for method, op := range item.Operations() {
			target := strings.ReplaceAll(path, "{id}", "12") + "?" + neededParameters(op)
			allowed, public := accessOf(t, op)
			for _, role := range append(roles(), "") {
				w := d.send(t, request(role, method, target, bodies[op.OperationID]))
				want := "success"
				switch {
				case public || slices.Contains(allowed, string(role)):
				case role == "":
					want = "401"
				default:
					want = "403"
				}
				got := fmt.Sprint(w.Code)
				if w.Code < 300 {
					got = "success"
				}
				if got != want {
					t.Errorf("%s %s as %q: %s, want %s", method, path, role, got, want)
				}
			}
		}
	}
}

func neededParameters(op *openapi3.Operation) (query string) {
	for _, p := range op.Parameters {
		if p.Value.Required && p.Value.In == openapi3.ParameterInQuery {
			query += p.Value.Name + "=web&"
		}
	}
	return query
}

func accessOf(t *testing.T, op *openapi3.Operation) (allowed []string, public bool) {
	t.Helper()
	public = op.Security != nil && len(*op.Security) == 0
	names, _ := op.Extensions["x-roles"].([]any)
	for _, name := range names {
		if !slices.Contains(roles(), promotion.Role(name.(string))) {
			t.Errorf("%s: x-roles names %v, which is no role", op.OperationID, name)
		}
		allowed = append(allowed, name.(string))
	}
	if public == (len(allowed) > 0) {
		t.Errorf("%s: wants either x-roles or no security", op.OperationID)
	}
	return allowed, public
}

// Every documented parameter is taken, and none besides.
func TestParametersAreAsDocumented(t *testing.T) {
	t.Parallel()
	samples := map[string]string{"limit": "10", "cursor": "MTI", "at": "2026-03-01T02:30:00Z", "release": "3", "promotion": "12",
		"unfinished": "true", "state": "rolled%20back", "open": "true", "undelivered": "true", "kind": "drift", "from": "2026-03-01T02:30:00Z", "to": "2026-03-02T02:30:00Z"}
	d := newDoor(t)
	for path, item := range d.document.Paths.Map() {
		op := item.Get
		if op == nil || strings.Contains(path, "{id}") || !strings.HasPrefix(path, "/api/v1/") {
			continue
		}
		for _, p := range op.Parameters {
			sent := neededParameters(op)
			if !p.Value.Required {
				sent += p.Value.Name + "=" + cmp.Or(samples[p.Value.Name], "web")
			}
			if w := d.get(t, path+"?"+sent); w.Code != http.StatusOK {
				t.Errorf("%s?%s: %d %s", path, sent, w.Code, w.Body)
			}
		}
		if w := d.get(t, path+"?app=web"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "unknown-parameter") {
			t.Errorf("%s with a misspelt parameter: %d %s", path, w.Code, w.Body)
		}
	}
}
