package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// timelineLength is how many events a promotion's page shows.
const timelineLength = 50

// promotionFacts is what a promotion's page is made from.
type promotionFacts struct {
	promotion promotion.Promotion
	gates     []promotion.GateResult
	approvals []promotion.Approval
	events    []promotion.AuditEvent
	evidence  []promotion.Evidence   // of the release
	overrides []promotion.Override   // of the target, in force
	siblings  []promotion.Promotion  // that the same pull request is for, too
	stopped   *promotion.Hold        // of everything
	accepted  []promotion.Acceptance // unknowns of the way back
	deployed  []promotion.Deployment // of the target, while the merge is on its way
}

func (w *Web) promotionFacts(ctx context.Context, id int64) (f promotionFacts, err error) {
	if f.promotion, err = w.store.Promotion(ctx, id); err != nil {
		return f, found(err, "unknown-promotion", "there is no promotion %d", id)
	}
	if f.gates, err = w.store.Gates(ctx, id); err != nil {
		return f, err
	}
	if f.approvals, err = w.store.Approvals(ctx, id); err != nil {
		return f, err
	}
	if f.accepted, err = w.store.AcceptancesOf(ctx, id); err != nil {
		return f, err
	}
	if f.events, err = w.store.AuditEvents(ctx, promotion.AuditFilter{PromotionID: id, Limit: timelineLength + 1}); err != nil {
		return f, err
	}
	if f.stopped, err = w.heldNow(ctx, 0); err != nil {
		return f, err
	}
	return f, w.addAround(ctx, &f)
}

// addAround adds what stands around a promotion: evidence for its release, overrides of its target, and what else its
// pull request changes.
func (w *Web) addAround(ctx context.Context, f *promotionFacts) (err error) {
	p := f.promotion
	if p.Release.ID != 0 {
		if f.evidence, err = w.store.EvidenceFor(ctx, p.Release.ID); err != nil {
			return err
		}
	}
	if !p.State().Finished() {
		if f.overrides, err = w.store.OverridesOf(ctx, p.Target.ID, w.now()); err != nil {
			return err
		}
	}
	if p.PullRequest == promotion.PullRequestMerged && !p.State().Finished() {
		if f.deployed, err = w.store.Deployments(ctx, p.Target.Application, p.Target.Environment); err != nil {
			return err
		}
	}
	if p.Number == 0 {
		return nil
	}
	changes, err := w.store.Changes(ctx, p.Target.Repository, p.Number)
	for _, other := range changes {
		if other.ID != p.ID {
			f.siblings = append(f.siblings, other)
		}
	}
	return err
}

func (w *Web) showPromotion(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	facts, err := w.promotionFacts(c.Request().Context(), id)
	if err != nil {
		return err
	}
	by := auth.ActorOf(c)
	v := newPromotionView(facts, by, attempt{}, w.now())
	if c.QueryParam("fragment") == "promotion" {
		return w.answerFragment(c, "promotion", body{Stopped: newHeldView(facts.stopped, w.now()), Body: v})
	}
	content, err := w.promotionFragment(facts, by)
	if err != nil {
		return err
	}
	return w.answerPromotion(c, http.StatusOK, v, &live{Fragment: fmt.Sprintf("/promotions/%d?fragment=promotion", v.ID),
		Events: fmt.Sprintf("/events?promotion=%d&seen=%s", v.ID, hashOf(content))})
}

// promotionFragment is the page's content as of a fixed time, so that it changes only with the facts.
func (w *Web) promotionFragment(facts promotionFacts, by promotion.Actor) ([]byte, error) {
	return w.fragment("promotion", body{Stopped: newHeldView(facts.stopped, time.Time{}), Body: newPromotionView(facts, by, attempt{}, time.Time{})})
}

func (w *Web) answerPromotion(c echo.Context, status int, v promotionView, l *live) error {
	title := fmt.Sprintf("%s %s → %s", v.Application, v.Carries, v.Environment)
	return w.show(c, status, "promotion", page{Title: title, Live: l, Body: v})
}

// pathID reads a whole number above 0 from the path.
func pathID(c echo.Context, name string) (int64, error) {
	id, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil || id < 1 {
		return 0, absent("malformed-id", "%q is no number of anything here", c.Param(name))
	}
	return id, nil
}
