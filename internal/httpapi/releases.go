package httpapi

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listReleases(c echo.Context) error {
	q := readQuery(c, "application", "limit", "cursor")
	p := q.page()
	if q.err != nil {
		return q.err
	}
	releases, err := a.store.Releases(c.Request().Context(), q.text("application"), p.before, p.probe())
	if err != nil {
		return err
	}
	var list api.ReleaseList
	list.Items, list.NextCursor = cut(p, releases, func(r promotion.Release) int64 { return r.ID }, releaseAnswer)
	return c.JSON(http.StatusOK, list)
}

func (a *API) getRelease(c echo.Context) error {
	r, err := a.release(c)
	if err != nil {
		return err
	}
	m, err := a.useCases.ReleaseMigrations(c.Request().Context(), r)
	if err != nil {
		return err
	}
	answer := releaseAnswer(r)
	answer.Migrations = migrationsAnswer(m)
	return c.JSON(http.StatusOK, answer)
}

func (a *API) getReleaseChain(c echo.Context) error {
	r, err := a.release(c)
	if err != nil {
		return err
	}
	links, err := a.useCases.Chain(c.Request().Context(), r.ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.Chain{Release: r.ID, Application: r.Application, ReleaseNumber: r.Number, Version: r.Version,
		Links: each(links, func(l promotion.Link) api.Link {
			return api.Link{Name: l.Name, Environment: l.Environment, Verified: l.Verified, Expected: l.Expected, Found: l.Found,
				Proof: l.Proof, At: l.At.UTC()}
		})})
}

// judge handles the rejection of a release, or the end of it.
func (a *API) judge(do func(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Release, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		var r api.ReasonRequest
		if err := decode(c, &r); err != nil {
			return err
		}
		id, err := pathID(c)
		if err != nil {
			return err
		}
		release, err := do(c.Request().Context(), auth.ActorOf(c), id, r.Reason)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, releaseAnswer(release))
	}
}

func (a *API) release(c echo.Context) (promotion.Release, error) {
	id, err := pathID(c)
	if err != nil {
		return promotion.Release{}, err
	}
	r, err := a.store.Release(c.Request().Context(), id)
	return r, found(err, "unknown-release", "there is no release with id %d", id)
}

func releaseAnswer(r promotion.Release) api.Release {
	return api.Release{
		ID: r.ID, Application: r.Application, Number: r.Number, Version: r.Version, Line: r.Line, Origin: api.ReleaseOrigin(r.Origin),
		Build: r.BuildID, RebuildOf: r.RebuildOf, Aliases: r.Aliases, CreatedAt: r.CreatedAt.UTC(),
		RejectedBy: r.RejectedBy, RejectedAt: r.RejectedAt.UTC(), Rejection: r.Rejection,
		RolledBack: each(r.RolledBack, func(m promotion.RollbackMark) api.RollbackMark {
			return api.RollbackMark{Promotion: m.PromotionID, Environment: m.Environment, By: m.By, Reason: m.Reason, At: m.At.UTC()}
		}),
		Artifacts: each(r.Artifacts, func(a promotion.Artifact) api.Artifact {
			return api.Artifact{Name: a.Name, Repository: a.Repository, Digest: a.Digest, Tag: a.Tag, Reference: a.Reference(),
				Build: a.BuildID, CarriedFrom: a.CarriedFrom}
		}),
		Charts: each(r.Charts, func(c promotion.ReleaseChart) api.ReleaseChart {
			return api.ReleaseChart{Name: c.Name, Version: c.Version, Build: c.BuildID, CarriedFrom: c.CarriedFrom}
		}),
	}
}
