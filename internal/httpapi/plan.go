package httpapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) planPromotion(c echo.Context) error {
	var r api.PlanRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	plan, err := a.useCases.Plan(c.Request().Context(), promotion.PlanRequest{
		Application: r.Application, Environment: r.Environment, Release: string(r.Release), Hotfix: r.Hotfix, At: r.At.Time})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, planAnswer(plan))
}

func planAnswer(p promotion.Plan) api.Plan {
	return api.Plan{
		Application: p.Target.Application, Environment: p.Target.Environment,
		Release: p.Release.ID, ReleaseNumber: p.Release.Number, Version: p.Release.Version,
		At: p.At.UTC(), Held: slices.ContainsFunc(p.Gates, promotion.GateResult.Holds), Gates: each(p.Gates, gateAnswer),
		Earliest: unlessNever(p.Earliest), Behind: p.Behind, WaitsFor: p.Waits, Diff: p.Diff,
	}
}
