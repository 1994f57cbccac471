package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// How many violations are shown, of those to review and of all.
const violationsShown = 100

type exceptionsView struct {
	ToReview   string
	Problem    *promotion.Error
	Violations []exceptionView
	Overrides  []exceptionView
	Reviewed   []exceptionView // violations
	BreakURL   string
}

// reviewAttempt is a review that was refused.
type reviewAttempt struct {
	kind    string // violation or override
	id      int64
	text    string
	refused *promotion.Error
}

func (w *Web) showExceptions(c echo.Context) error {
	return w.answerExceptions(c, http.StatusOK, reviewAttempt{})
}

func (w *Web) closeViolation(c echo.Context) error {
	return w.review(c, "violation", w.useCases.CloseViolation)
}

func (w *Web) reviewOverride(c echo.Context) error {
	return w.review(c, "override", w.useCases.ReviewOverride)
}

func (w *Web) review(c echo.Context, kind string, do func(context.Context, promotion.Actor, int64, string) error) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	if err := readForm(c); err != nil {
		return err
	}
	text := strings.TrimSpace(c.FormValue("review"))
	err = do(c.Request().Context(), auth.ActorOf(c), id, text)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/violations")
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerExceptions(c, auth.Status(refused.Kind), reviewAttempt{kind, id, text, refused})
}

func (w *Web) answerExceptions(c echo.Context, status int, tried reviewAttempt) error {
	ctx, by := c.Request().Context(), auth.ActorOf(c)
	open, err := w.store.Violations(ctx, true, violationsShown)
	if err != nil {
		return err
	}
	all, err := w.store.Violations(ctx, false, violationsShown)
	if err != nil {
		return err
	}
	overrides, err := w.store.Overrides(ctx, w.now())
	if err != nil {
		return err
	}
	v := exceptionsView{ToReview: toReview(len(open), unreviewed(overrides)), BreakURL: "/overrides/new"}
	shown := false
	for _, violation := range open {
		e := w.newViolationView(violation)
		shown = e.offer(tried, "violation", violation.Actor, by) || shown
		v.Violations = append(v.Violations, e)
	}
	for _, o := range overrides {
		e := newOverrideView(o, w.now())
		if o.ReviewedBy == "" {
			shown = e.offer(tried, "override", o.GivenBy, by) || shown
		}
		v.Overrides = append(v.Overrides, e)
	}
	for _, violation := range all {
		if violation.ClosedBy != "" {
			v.Reviewed = append(v.Reviewed, w.newViolationView(violation))
		}
	}
	if !shown {
		v.Problem = tried.refused
	}
	return w.show(c, status, "exceptions", page{Title: "Violations & overrides", Body: v})
}
