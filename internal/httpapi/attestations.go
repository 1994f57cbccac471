package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) attest(c echo.Context) error {
	var r api.AttestationRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	signed, err := a.useCases.Attest(c.Request().Context(), auth.ActorOf(c), promotion.AttestRequest{Application: r.Application, From: r.From, To: r.To,
		Subject: promotion.Subject(r.Subject), Verdict: promotion.AttestedVerdict(r.Verdict), Reason: r.Reason, ExpiresAt: r.ExpiresAt})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, attestationAnswer(signed))
}

// mostAttestations is how many a list has.
const mostAttestations = 200

func (a *API) listAttestations(c echo.Context) error {
	q := readQuery(c, "application")
	application := q.needed("application")
	if q.err != nil {
		return q.err
	}
	all, err := a.store.Attestations(c.Request().Context(), application, mostAttestations)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.AttestationList{Items: each(all, attestationAnswer)})
}

func attestationAnswer(a promotion.Attestation) api.Attestation {
	return api.Attestation{ID: a.ID, Build: a.BuildID, Subject: api.AttestationSubject(a.Subject), Verdict: api.AttestationVerdict(a.Verdict),
		From: a.From, FromVersion: a.FromVersion, To: a.To, ToVersion: a.ToVersion, Since: a.Since, Reason: a.Reason,
		AttestedBy: a.By, AttestedAt: a.At.UTC(), ExpiresAt: a.ExpiresAt.UTC()}
}

func buildAttestation(a api.BuildAttestation) promotion.BuildAttestation {
	return promotion.BuildAttestation{Subject: promotion.Subject(a.Subject), Verdict: promotion.AttestedVerdict(a.Verdict), Since: a.Since, Summary: a.Summary}
}
