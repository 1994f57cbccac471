package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) postEvidence(c echo.Context) error {
	var r api.EvidenceRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	e, err := a.useCases.PostEvidence(c.Request().Context(), auth.ActorOf(c), promotion.EvidenceRequest{
		Application: r.Application, Release: string(r.Release), Digest: r.Digest,
		Evidence: promotion.Evidence{Environment: r.Environment, Name: r.Name, Source: r.Source, Verdict: string(r.Verdict),
			URL: r.URL, Summary: r.Summary, ExpiresAt: r.ExpiresAt.Time},
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, evidenceAnswer(e))
}

func (a *API) listReleaseEvidence(c echo.Context) error {
	r, err := a.release(c)
	if err != nil {
		return err
	}
	all, err := a.store.EvidenceFor(c.Request().Context(), r.ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.EvidenceList{Items: each(all, evidenceAnswer)})
}

func evidenceAnswer(e promotion.Evidence) api.Evidence {
	return api.Evidence{ID: e.ID, Release: e.ReleaseID, Environment: e.Environment, Name: e.Name, Source: e.Source,
		Verdict: api.EvidenceVerdict(e.Verdict), URL: e.URL, Summary: e.Summary, ExpiresAt: e.ExpiresAt.UTC(),
		PostedBy: e.PostedBy, PostedAt: e.PostedAt.UTC()}
}
