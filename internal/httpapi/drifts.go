package httpapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listDrifts(c echo.Context) error {
	q := readQuery(c, "application", "environment", "open", "limit", "cursor")
	p := q.page()
	f := promotion.DriftFilter{Application: q.text("application"), Environment: q.text("environment"), Open: q.flag("open"), Before: p.before, Limit: p.probe()}
	if q.err != nil {
		return q.err
	}
	drifts, err := a.store.DriftPage(c.Request().Context(), f)
	if err != nil {
		return err
	}
	looks, err := a.store.DriftLooks(c.Request().Context(), 0)
	if err != nil {
		return err
	}
	looks = slices.DeleteFunc(looks, func(l promotion.DriftLook) bool { return !q.about(l.Target) })
	list := api.DriftList{Looks: each(looks, driftLookAnswer)}
	list.Items, list.NextCursor = cut(p, drifts, func(d promotion.Drift) int64 { return d.ID }, driftAnswer)
	return c.JSON(http.StatusOK, list)
}

func liveWriteAnswer(w promotion.LiveWrite) api.LiveWrite {
	return api.LiveWrite{User: w.User, Verb: api.LiveWriteVerb(w.Verb), Agent: w.Agent, SourceAddress: w.Source, At: w.At.UTC()}
}

func driftAnswer(d promotion.Drift) api.Drift {
	return api.Drift{ID: d.ID, Application: d.Target.Application, Environment: d.Target.Environment, Cluster: d.Deployment.Cluster,
		Deployment: d.Deployment.Name, Object: d.Object, Path: d.Path, Want: d.Want, Have: d.Have, Class: api.DriftClass(d.Class), Owner: d.Owner,
		OwnedAt: d.OwnedAt.UTC(), Counts: d.Counts(), Excuse: d.Excuse, Finding: d.Finding, Oscillates: d.Oscillates(),
		WrittenBy:   each(d.Written, liveWriteAnswer),
		FirstSeenAt: d.FirstSeen.UTC(), LastSeenAt: d.LastSeen.UTC(), ResolvedAt: d.ResolvedAt.UTC()}
}

func driftLookAnswer(l promotion.DriftLook) api.DriftLook {
	return api.DriftLook{Application: l.Target.Application, Environment: l.Target.Environment, Cluster: l.Deployment.Cluster, Deployment: l.Deployment.Name,
		LookedAt: l.LookedAt.UTC(), Problem: l.Problem, ProblemSince: l.ProblemSince.UTC(), Revision: l.Revision, SelfHeal: l.SelfHeal,
		Rollback: l.Rollback, Unchecked: append([]string{}, l.Unchecked...)}
}
