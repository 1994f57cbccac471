package httpapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listDrifts(c echo.Context) error {
	q := readQuery(c, "application", "environment", "open", "limit")
	open, p := q.flag("open"), q.page()
	if q.err != nil {
		return q.err
	}
	ctx := c.Request().Context()
	drifts, err := a.drifts(ctx, q, open, p.limit)
	if err != nil {
		return err
	}
	looks, err := a.store.DriftLooks(ctx, 0)
	if err != nil {
		return err
	}
	looks = slices.DeleteFunc(looks, func(l promotion.DriftLook) bool { return !q.about(l.Target) })
	return c.JSON(http.StatusOK, api.DriftList{Items: each(drifts, driftAnswer), Looks: each(looks, driftLookAnswer)})
}

// drifts are the newest of the targets that are asked about.
func (a *API) drifts(ctx context.Context, q *query, open bool, limit int) ([]promotion.Drift, error) {
	if q.text("application") == "" && q.text("environment") == "" {
		return a.store.Drifts(ctx, 0, open, limit)
	}
	targets, err := a.store.Targets(ctx)
	if err != nil {
		return nil, err
	}
	var all []promotion.Drift
	for _, t := range targets {
		if !q.about(t) {
			continue
		}
		of, err := a.store.Drifts(ctx, t.ID, open, limit)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b promotion.Drift) int { return cmp.Compare(b.ID, a.ID) })
	return all[:min(len(all), limit)], nil
}

func driftAnswer(d promotion.Drift) api.Drift {
	return api.Drift{ID: d.ID, Application: d.Target.Application, Environment: d.Target.Environment, Cluster: d.Deployment.Cluster,
		Deployment: d.Deployment.Name, Object: d.Object, Path: d.Path, Want: d.Want, Have: d.Have, Class: api.DriftClass(d.Class), Owner: d.Owner,
		OwnedAt: d.OwnedAt.UTC(), Counts: d.Counts(), Excuse: d.Excuse, Finding: d.Finding, Oscillates: d.Oscillates(),
		FirstSeenAt: d.FirstSeen.UTC(), LastSeenAt: d.LastSeen.UTC(), ResolvedAt: d.ResolvedAt.UTC()}
}

func driftLookAnswer(l promotion.DriftLook) api.DriftLook {
	return api.DriftLook{Application: l.Target.Application, Environment: l.Target.Environment, Cluster: l.Deployment.Cluster, Deployment: l.Deployment.Name,
		LookedAt: l.LookedAt.UTC(), Problem: l.Problem, ProblemSince: l.ProblemSince.UTC(), Revision: l.Revision, SelfHeal: l.SelfHeal,
		Rollback: l.Rollback, Unchecked: append([]string{}, l.Unchecked...)}
}
