package httpapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listApplications(c echo.Context) error {
	q := readQuery(c, "application")
	if q.err != nil {
		return q.err
	}
	rows, err := a.store.Board(c.Request().Context())
	if err != nil {
		return err
	}
	if name := q.text("application"); name != "" {
		rows = slices.DeleteFunc(rows, func(r promotion.BoardRow) bool { return r.Application != name })
	}
	return c.JSON(http.StatusOK, api.ApplicationList{Items: each(rows, func(r promotion.BoardRow) api.Application {
		return api.Application{Application: r.Application, Environments: each(r.Cells, environmentAnswer)}
	})})
}

func (a *API) listDeployments(c echo.Context) error {
	q := readQuery(c, "application", "environment")
	if q.err != nil {
		return q.err
	}
	deployments, err := a.store.Deployments(c.Request().Context(), q.text("application"), q.text("environment"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.DeploymentList{Items: each(deployments, deploymentAnswer)})
}

func (a *API) listHistory(c echo.Context) error {
	q := readQuery(c, "application", "environment", "at", "limit", "cursor")
	p := q.page()
	f := promotion.HistoryFilter{Application: q.text("application"), Environment: q.text("environment"), At: q.moment("at"),
		Before: p.before, Limit: p.probe()}
	if q.err != nil {
		return q.err
	}
	entries, err := a.store.History(c.Request().Context(), f)
	if err != nil {
		return err
	}
	var list api.HistoryList
	list.Items, list.NextCursor = cut(p, entries, func(e promotion.HistoryEntry) int64 { return e.ID }, historyAnswer)
	return c.JSON(http.StatusOK, list)
}

func (a *API) listAuditEvents(c echo.Context) error {
	q := readQuery(c, "application", "environment", "promotion", "release", "limit", "cursor")
	p := q.page()
	f := promotion.AuditFilter{Application: q.text("application"), Environment: q.text("environment"),
		PromotionID: q.id("promotion"), ReleaseID: q.id("release"), Before: p.before, Limit: p.probe()}
	if q.err != nil {
		return q.err
	}
	events, err := a.store.AuditEvents(c.Request().Context(), f)
	if err != nil {
		return err
	}
	var list api.AuditEventList
	list.Items, list.NextCursor = cut(p, events, func(e promotion.AuditEvent) int64 { return e.ID }, auditAnswer)
	return c.JSON(http.StatusOK, list)
}
