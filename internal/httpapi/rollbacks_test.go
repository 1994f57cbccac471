package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestRollbacks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		target string
		asked  any
	}{
		"rollbacks": {"rollbacks?application=web&environment=prod&to=1.1.0&limit=3",
			promotion.RollbackRequest{Application: "web", Environment: "prod", To: "1.1.0", Limit: 3}},
		"rollback-verdicts-7": {"rollback-verdicts/7", int64(7)},
		"attestations":        {"attestations?application=web", []any{"web", 200}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			golden(t, d.get(t, "/api/v1/"+test.target), http.StatusOK, name)
			if diff := cmp.Diff(test.asked, d.asked); diff != "" {
				t.Errorf("the domain was asked something else (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnAttestationIsSigned(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	w := d.send(t, request(promotion.RoleApprover, http.MethodPost, "/api/v1/attestations", `{"application": "web", "from": "1.4.2", "to": "1.4.1",
		"subject": "messages", "verdict": "compatible", "reason": "same schema", "expires_at": "2026-03-02T00:00:00Z"}`))
	golden(t, w, http.StatusCreated, "attestation")
	want := promotion.AttestRequest{Application: "web", From: "1.4.2", To: "1.4.1", Subject: promotion.SubjectMessages, Verdict: promotion.AttestedCompatible,
		Reason: "same schema", ExpiresAt: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)}
	if diff := cmp.Diff(want, d.asked); diff != "" {
		t.Errorf("the domain was asked something else (-want +got):\n%s", diff)
	}
}

func TestAnUnknownIsAccepted(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	until := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	w := d.send(t, request(promotion.RoleApprover, http.MethodPost, "/api/v1/promotions/12/acceptances",
		`{"unknown": "platforms-unread", "reason": "all nodes are amd64", "expires_at": "2026-03-02T00:00:00Z"}`))
	golden(t, w, http.StatusOK, "promotions-12")
	want := promotion.AcceptRequest{Promotion: 12, Unknown: "platforms-unread", Reason: "all nodes are amd64", ExpiresAt: until}
	if diff := cmp.Diff(want, d.asked); diff != "" {
		t.Errorf("the domain was asked something else (-want +got):\n%s", diff)
	}
	if d.by.Name != "approver" {
		t.Errorf("accepted by %q", d.by.Name)
	}
}
