package httpapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listOwed(c echo.Context) error {
	q := readQuery(c, "application", "environment")
	if q.err != nil {
		return q.err
	}
	owed, err := a.store.Owed(c.Request().Context(), 0)
	if err != nil {
		return err
	}
	owed = slices.DeleteFunc(owed, func(o promotion.Owed) bool { return !q.about(o.Target) })
	return c.JSON(http.StatusOK, api.OwedList{Items: each(owed, owedAnswer)})
}

func (a *API) waiveOwed(c echo.Context) error {
	var r api.WaiveRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	err := a.useCases.Waive(c.Request().Context(), auth.ActorOf(c), promotion.WaiveRequest{
		Application: r.Application, Environment: r.Environment, Release: string(r.Release), Reason: r.Reason})
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func owedAnswer(o promotion.Owed) api.Owed {
	return api.Owed{Application: o.Target.Application, Environment: o.Target.Environment,
		Release: o.Release.ID, ReleaseNumber: o.Release.Number, Version: o.Release.Version, Line: o.Release.Line,
		Promotion: o.PromotionID, LiveIn: o.LiveIn, Since: o.Since.UTC()}
}
