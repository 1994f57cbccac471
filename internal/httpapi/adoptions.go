package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) planAdoption(c echo.Context) error {
	r, err := adoptRequest(c)
	if err != nil {
		return err
	}
	plan, err := a.useCases.PlanAdopt(c.Request().Context(), r)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.AdoptionPlan{Plan: restorationAnswer(plan.RestorePlan), Cause: plan.Cause, SelfHeal: plan.SelfHeal})
}

func (a *API) adopt(c echo.Context) error {
	r, err := adoptRequest(c)
	if err != nil {
		return err
	}
	p, err := a.useCases.Adopt(c.Request().Context(), auth.ActorOf(c), r)
	if err != nil {
		return err
	}
	return a.answerPromotion(c, http.StatusCreated, p)
}

func adoptRequest(c echo.Context) (promotion.AdoptRequest, error) {
	var r api.AdoptionRequest
	err := decode(c, &r)
	return promotion.AdoptRequest{Application: r.Application, Environment: r.Environment, Fields: r.Fields, Reason: r.Reason}, err
}
