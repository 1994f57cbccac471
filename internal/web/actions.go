package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// attempt is an action that was refused: what was sent, and why not.
type attempt struct {
	action  string
	text    string // the comment or reason that was sent
	refused *promotion.Error
	accept  acceptForm // of the action accept
}

func (w *Web) approve(c echo.Context) error { return w.decide(c, "approve") }

func (w *Web) reject(c echo.Context) error { return w.decide(c, "reject") }

func (w *Web) decide(c echo.Context, decision string) error {
	return w.act(c, decision, "comment", func(ctx context.Context, by promotion.Actor, id int64, comment string) (promotion.Promotion, error) {
		return w.useCases.Decide(ctx, by, promotion.DecideRequest{PromotionID: id, Decision: decision, Comment: comment,
			Rendered: c.FormValue("rendered")})
	})
}

func (w *Web) merge(c echo.Context) error { return w.act(c, "merge", "", plain(w.useCases.Merge)) }

func (w *Web) mergeWhenPassing(c echo.Context) error {
	return w.act(c, "standing-merge", "", func(ctx context.Context, by promotion.Actor, id int64, _ string) (promotion.Promotion, error) {
		return w.useCases.MergeWhenPassing(ctx, by, id, c.FormValue("rendered"))
	})
}

func (w *Web) withdrawMerge(c echo.Context) error {
	return w.act(c, "withdraw-merge", "", plain(w.useCases.WithdrawMergeWhenPassing))
}

func (w *Web) sync(c echo.Context) error { return w.act(c, "sync", "", plain(w.useCases.Sync)) }

func (w *Web) retry(c echo.Context) error { return w.act(c, "retry", "", plain(w.useCases.Retry)) }

func (w *Web) cancel(c echo.Context) error { return w.act(c, "cancel", "reason", w.useCases.Cancel) }

type useCase func(ctx context.Context, by promotion.Actor, id int64, text string) (promotion.Promotion, error)

// plain is a use case that takes no text.
func plain(do func(context.Context, promotion.Actor, int64) (promotion.Promotion, error)) useCase {
	return func(ctx context.Context, by promotion.Actor, id int64, _ string) (promotion.Promotion, error) {
		return do(ctx, by, id)
	}
}

// act does something with the promotion and goes back to its page. A refusal
// shows the page as it is now, with what was sent and why not.
func (w *Web) act(c echo.Context, action, field string, do useCase) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	if err := readForm(c); err != nil {
		return err
	}
	text := ""
	if field != "" {
		text = strings.TrimSpace(c.FormValue(field))
	}
	ctx, by := c.Request().Context(), auth.ActorOf(c)
	_, err = do(ctx, by, id, text)
	return w.afterAction(c, id, err, attempt{action: action, text: text})
}

// afterAction leads back to the promotion's page, or shows it with why nothing was done.
func (w *Web) afterAction(c echo.Context, id int64, err error, tried attempt) error {
	if err == nil {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/promotions/%d", id))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	tried.refused = refused
	facts, err := w.promotionFacts(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if len(refused.Gates) > 0 {
		facts.gates = refused.Gates
	}
	v := newPromotionView(facts, auth.ActorOf(c), tried, w.now())
	return w.answerPromotion(c, auth.Status(refused.Kind), v, nil) // not live: a refusal stays until the person leaves it
}

func backToPromotion(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/promotions/%d", id))
}

// refusal is an error that the page with the form shows; every other one has a page of its own.
func refusal(err error) (*promotion.Error, bool) {
	var e *promotion.Error
	if !errors.As(err, &e) {
		return nil, false
	}
	return e, e.Kind == promotion.Invalid || e.Kind == promotion.Conflict || e.Kind == promotion.Refused
}

func readForm(c echo.Context) error {
	if err := c.Request().ParseForm(); err != nil {
		return echo.NewHTTPError(http.StatusBadRequest).SetInternal(fmt.Errorf("read the form: %w", err))
	}
	return nil
}
