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

func (a *API) listPromotions(c echo.Context) error {
	q := readQuery(c, "application", "environment", "state", "release", "unfinished", "limit", "cursor")
	p := q.page()
	f := promotion.PromotionFilter{
		Application: q.text("application"), Environment: q.text("environment"), State: promotion.State(q.oneOf("state", states()...)),
		ReleaseID: q.id("release"), Unfinished: q.flag("unfinished"), Before: p.before, Limit: p.probe(),
	}
	if q.err != nil {
		return q.err
	}
	promotions, err := a.store.Promotions(c.Request().Context(), f)
	if err != nil {
		return err
	}
	var list api.PromotionList
	list.Items, list.NextCursor = cut(p, promotions, func(p promotion.Promotion) int64 { return p.ID }, promotionAnswer)
	return c.JSON(http.StatusOK, list)
}

func (a *API) requestPromotion(c echo.Context) error {
	var r api.PromotionRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	p, err := a.useCases.Promote(c.Request().Context(), auth.ActorOf(c), promotion.PromoteRequest{
		Application: r.Application, Environment: r.Environment, Release: string(r.Release), Reason: r.Reason, Hotfix: r.Hotfix, With: r.With})
	if err != nil {
		return err
	}
	return a.answerPromotion(c, http.StatusCreated, p)
}

func (a *API) getPromotion(c echo.Context) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	p, err := a.store.Promotion(c.Request().Context(), id)
	if err != nil {
		return found(err, "unknown-promotion", "there is no promotion %d", id)
	}
	return a.answerPromotion(c, http.StatusOK, p)
}

func (a *API) decidePromotion(c echo.Context) error {
	var r api.DecisionRequest
	if err := decode(c, &r); err != nil {
		return err
	}
	return a.run(c, func(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
		return a.useCases.Decide(ctx, by, promotion.DecideRequest{
			PromotionID: id, Decision: string(r.Decision), Comment: r.Comment, Rendered: r.RenderedHash})
	})
}

func (a *API) mergeWhenPassing(c echo.Context) error {
	var r api.StandingMergeRequest
	if err := decodeOptional(c, &r); err != nil {
		return err
	}
	return a.run(c, func(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
		return a.useCases.MergeWhenPassing(ctx, by, id, r.RenderedHash)
	})
}

func (a *API) cancelPromotion(c echo.Context) error {
	var r api.CancelRequest
	if err := decodeOptional(c, &r); err != nil {
		return err
	}
	return a.run(c, func(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error) {
		return a.useCases.Cancel(ctx, by, id, r.Reason)
	})
}

type action func(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)

// act handles an action that the request has nothing to say about.
func (a *API) act(do action) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := decodeOptional(c, &struct{}{}); err != nil {
			return err
		}
		return a.run(c, do)
	}
}

// run acts on the promotion of the path and answers with what became of it.
func (a *API) run(c echo.Context, do action) error {
	id, err := pathID(c)
	if err != nil {
		return err
	}
	p, err := do(c.Request().Context(), auth.ActorOf(c), id)
	if err != nil {
		return err
	}
	return a.answerPromotion(c, http.StatusOK, p)
}

// answerPromotion answers with a single promotion: with gates, approvals, siblings and diff.
func (a *API) answerPromotion(c echo.Context, status int, p promotion.Promotion) error {
	gates, err := a.store.Gates(c.Request().Context(), p.ID)
	if err != nil {
		return err
	}
	approvals, err := a.store.Approvals(c.Request().Context(), p.ID)
	if err != nil {
		return err
	}
	siblings, err := a.siblings(c.Request().Context(), p)
	if err != nil {
		return err
	}
	answer := promotionAnswer(p)
	answer.Gates, answer.Approvals, answer.Diff = each(gates, gateAnswer), each(approvals, approvalAnswer), p.Diff
	answer.Siblings = each(siblings, summaryAnswer)
	return c.JSON(status, answer)
}

// siblings are what else the pull request changes: judged as changes of their own, whoever opened it.
func (a *API) siblings(ctx context.Context, p promotion.Promotion) ([]promotion.Promotion, error) {
	if p.Number == 0 {
		return nil, nil
	}
	all, err := a.store.Changes(ctx, p.Target.Repository, p.Number)
	return slices.DeleteFunc(all, func(other promotion.Promotion) bool { return other.Target.ID == p.Target.ID }), err
}
