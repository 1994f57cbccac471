package client_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/client"
)

func TestCallsAboutGates(t *testing.T) {
	t.Parallel()
	at := api.Time{Time: time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)}
	freeze := api.FreezeRequest{Kind: api.FreezeRequestKindFreeze, Reason: "fair", Owner: "ops", StartsAt: at, EndsAt: api.Time{Time: at.Add(time.Hour)}}
	back := api.RestorationRequest{Application: "web", Environment: "prod", Commit: commit, Reason: "limits"}
	tests := []struct {
		want string
		call func(context.Context, *client.Client) (id int64, err error)
	}{
		{"POST /api/v1/evidence", func(ctx context.Context, c *client.Client) (int64, error) {
			e, err := c.PostEvidence(ctx, api.EvidenceRequest{Digest: digest, Name: "scan", Verdict: api.EvidenceRequestVerdictPass})
			return e.ID, err
		}},
		{"POST /api/v1/promotions:plan", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.Plan(ctx, api.PlanRequest{Application: "web", Environment: "prod", Release: "3", At: at})
			return p.Release, err
		}},
		{"GET /api/v1/revisions?application=web&environment=prod", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Revisions(ctx, "web", "prod")
			return *l.Items[0].Release, err
		}},
		{"POST /api/v1/adoptions:plan", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.PlanAdoption(ctx, api.AdoptionRequest{Application: "web", Environment: "prod"})
			return p.Plan.Release, err
		}},
		{"POST /api/v1/adoptions", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.Adopt(ctx, api.AdoptionRequest{Application: "web", Environment: "prod", Reason: "INC-77"})
			return p.ID, err
		}},
		{"POST /api/v1/restorations:plan", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.PlanRestoration(ctx, back)
			return p.Release, err
		}},
		{"POST /api/v1/restorations", func(ctx context.Context, c *client.Client) (int64, error) {
			p, err := c.Restore(ctx, back)
			return p.ID, err
		}},
		{"GET /api/v1/freezes", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Freezes(ctx)
			return l.Items[0].ID, err
		}},
		{"POST /api/v1/freezes", func(ctx context.Context, c *client.Client) (int64, error) {
			z, err := c.Freeze(ctx, freeze)
			return z.ID, err
		}},
		{"POST /api/v1/freezes:plan", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.PlanFreeze(ctx, freeze)
			return int64(len(l.Items)) + 6, err
		}},
		{"GET /api/v1/owed", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Owed(ctx)
			return l.Items[0].Release, err
		}},
		{"GET /api/v1/holds", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Holds(ctx)
			return l.Items[0].ID, err
		}},
		{"POST /api/v1/holds", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Hold(ctx, api.HoldRequest{Everything: true, Reason: "fire"})
			return l.Items[0].ID, err
		}},
		{"POST /api/v1/holds:resume", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Resume(ctx, api.ResumeRequest{Application: "web", Environment: "prod"})
			return l.Items[0].ID, err
		}},
		{"GET /api/v1/overrides", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Overrides(ctx)
			return l.Items[0].ID, err
		}},
		{"POST /api/v1/overrides", func(ctx context.Context, c *client.Client) (int64, error) {
			o, err := c.Override(ctx, api.OverrideRequest{Application: "web", Environment: "prod", Reason: "fire", ExpiresAt: at,
				Gates: []api.OverridableGate{api.OverridableGateSyncWindow}})
			return o.ID, err
		}},
		{"GET /api/v1/notifications?limit=9&undelivered=true", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Notifications(ctx, true, 9)
			return l.Items[0].ID, err
		}},
		{"GET /api/v1/violations?limit=9&open=true", func(ctx context.Context, c *client.Client) (int64, error) {
			l, err := c.Violations(ctx, true, 9)
			return l.Items[0].ID, err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			c, got := serve(t, http.StatusOK, "application/json", `{"id": 7, "release": 7, "plan": {"release": 7}, "items": [{"id": 7, "release": 7}]}`)
			id, err := tt.call(t.Context(), c)
			if err != nil || id != 7 {
				t.Errorf("id %d, %v", id, err)
			}
			if sent := got.Method + " " + got.RequestURI; sent != tt.want {
				t.Errorf("sent %s, want %s", sent, tt.want)
			}
		})
	}
}

// What leaves nothing to show is answered with nothing.
func TestCallsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	tests := map[string]func(context.Context, *client.Client) error{
		"POST /api/v1/freezes/7/end":      func(ctx context.Context, c *client.Client) error { return c.EndFreeze(ctx, 7) },
		"POST /api/v1/overrides/7/review": func(ctx context.Context, c *client.Client) error { return c.ReviewOverride(ctx, 7, "right") },
		"POST /api/v1/owed:waive": func(ctx context.Context, c *client.Client) error {
			return c.Waive(ctx, api.WaiveRequest{Application: "web", Environment: "staging", Release: "1.0.1", Reason: "past it"})
		},
		"POST /api/v1/deliveries/d%2F1/retry": func(ctx context.Context, c *client.Client) error { return c.RetryDelivery(ctx, "d/1") },
		"POST /api/v1/violations/7/review":    func(ctx context.Context, c *client.Client) error { return c.ReviewViolation(ctx, 7, "wrong") },
	}
	for want, do := range tests {
		c, got := serve(t, http.StatusNoContent, "", "")
		if err := do(t.Context(), c); err != nil || got.Method+" "+got.RequestURI != want {
			t.Errorf("sent %s %s, want %s: %v", got.Method, got.RequestURI, want, err)
		}
		c, _ = serve(t, http.StatusForbidden, "application/problem+json", `{"status": 403, "code": "forbidden", "detail": "not you"}`)
		if err := do(t.Context(), c); err == nil || err.Error() != "not you" {
			t.Errorf("%s refused: %v", want, err)
		}
	}
}
