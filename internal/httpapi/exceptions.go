package httpapi

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (a *API) listOverrides(c echo.Context) error {
	if q := readQuery(c); q.err != nil {
		return q.err
	}
	overrides, err := a.store.Overrides(c.Request().Context(), a.now())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.OverrideList{Items: each(overrides, overrideAnswer)})
}

func (a *API) override(c echo.Context) error {
	var r api.OverrideRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	o, err := a.useCases.Override(c.Request().Context(), auth.ActorOf(c), promotion.OverrideRequest{
		Application: r.Application, Environment: r.Environment, Gates: each(r.Gates, func(g api.OverridableGate) string { return string(g) }),
		Reason: r.Reason, Incident: r.Incident, ExpiresAt: r.ExpiresAt.Time})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, overrideAnswer(o))
}

func (a *API) listViolations(c echo.Context) error {
	q := readQuery(c, "open", "limit")
	open, p := q.flag("open"), q.page()
	if q.err != nil {
		return q.err
	}
	violations, err := a.store.Violations(c.Request().Context(), open, p.limit)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.ViolationList{Items: each(violations, violationAnswer)})
}

// review handles the closing of a review.
func (a *API) review(end func(ctx context.Context, by promotion.Actor, id int64, review string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		var r api.ReviewRequest
		if err := decode(c, &r); err != nil {
			return err
		}
		id, err := pathID(c)
		if err != nil {
			return err
		}
		if err := end(c.Request().Context(), auth.ActorOf(c), id, r.Review); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	}
}

func overrideAnswer(o promotion.Override) api.Override {
	return api.Override{ID: o.ID, Application: o.Target.Application, Environment: o.Target.Environment, Gates: each(o.Gates, same[string]),
		Reason: o.Reason, Incident: o.Incident, GivenBy: o.GivenBy, GivenAt: o.GivenAt.UTC(), ExpiresAt: o.ExpiresAt.UTC(),
		ReviewedBy: o.ReviewedBy, ReviewedAt: o.ReviewedAt.UTC(), Review: o.Review}
}

func violationAnswer(v promotion.Violation) api.Violation {
	return api.Violation{ID: v.ID, Application: v.Target.Application, Environment: v.Target.Environment, Promotion: unlessZero(v.PromotionID),
		Kind: api.ViolationKind(v.Kind), Actor: v.Actor, Message: v.Message, Subject: v.Subject, FoundAt: v.FoundAt.UTC(),
		ClosedBy: v.ClosedBy, ClosedAt: v.ClosedAt.UTC(), Review: v.Review}
}
