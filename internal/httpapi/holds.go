package httpapi

import (
	"context"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listHolds(c echo.Context) error {
	q := readQuery(c, "application", "environment")
	if q.err != nil {
		return q.err
	}
	return a.answerHolds(c, func(h promotion.Hold) bool { return h.Target.ID == 0 || q.about(h.Target) })
}

func (a *API) hold(c echo.Context) error {
	var r api.HoldRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	return a.holdOrResume(c, a.useCases.Hold, r)
}

func (a *API) resume(c echo.Context) error {
	var r api.ResumeRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	return a.holdOrResume(c, a.useCases.Resume, api.HoldRequest{Application: r.Application, Environment: r.Environment, Everything: r.Everything})
}

// holdOrResume answers with what holds the target, or everything, afterwards. The domain takes no name for everything;
// here it has to be said.
func (a *API) holdOrResume(c echo.Context, do func(context.Context, promotion.Actor, promotion.HoldRequest) error, r api.HoldRequest) error {
	named := r.Application != "" || r.Environment != ""
	switch {
	case named && r.Everything:
		return refuse(http.StatusUnprocessableEntity, "ambiguous-target", "everything", "everything has no application and no environment: give one or the other")
	case !named && !r.Everything:
		return refuse(http.StatusUnprocessableEntity, "missing-application", "application", "say which application and environment, or \"everything\": true")
	}
	err := do(c.Request().Context(), auth.ActorOf(c), promotion.HoldRequest{Application: r.Application, Environment: r.Environment, Reason: r.Reason})
	if err != nil {
		return err
	}
	return a.answerHolds(c, func(h promotion.Hold) bool {
		return h.Target.ID == 0 || h.Target.Application == r.Application && h.Target.Environment == r.Environment
	})
}

func (a *API) answerHolds(c echo.Context, about func(promotion.Hold) bool) error {
	holds, err := a.store.HoldsOf(c.Request().Context(), 0)
	if err != nil {
		return err
	}
	holds = slices.DeleteFunc(holds, func(h promotion.Hold) bool { return !about(h) })
	return c.JSON(http.StatusOK, api.HoldList{Items: each(holds, holdAnswer)})
}

func holdAnswer(h promotion.Hold) api.Hold {
	return api.Hold{ID: h.ID, Application: h.Target.Application, Environment: h.Target.Environment, Everything: h.Target.ID == 0,
		Reason: h.Reason, HeldBy: h.HeldBy, HeldAt: h.HeldAt.UTC()}
}
