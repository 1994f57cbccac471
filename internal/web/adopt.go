package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// adoptView is the form for making Git say what was changed past it, with what it would change.
type adoptView struct {
	restoreView
	Fields   []int64 // ids of drift; none: the release that runs
	Cause    string
	SelfHeal bool
	PauseURL string
}

func adoptURL(t promotion.Target) string {
	return "/adopt?" + url.Values{"application": {t.Application}, "environment": {t.Environment}}.Encode()
}

func readAdopt(from url.Values) promotion.AdoptRequest {
	var fields []int64
	if from.Get("of") == "fields" && len(from["field"]) == 0 {
		fields = []int64{0} // nothing is ticked: of fields, and not of the release
	}
	for _, text := range from["field"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			fields = append(fields, id)
		} else {
			fields = append(fields, 0) // which no drift has, so that it is refused
		}
	}
	return promotion.AdoptRequest{Application: from.Get("application"), Environment: from.Get("environment"), Fields: fields, Reason: strings.TrimSpace(from.Get("reason"))}
}

func (w *Web) showAdopt(c echo.Context) error {
	return w.answerAdopt(c, http.StatusOK, readAdopt(c.QueryParams()), nil)
}

func (w *Web) adopt(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	r := readAdopt(c.Request().PostForm)
	p, err := w.useCases.Adopt(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/promotions/%d", p.ID))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerAdopt(c, auth.Status(refused.Kind), r, refused)
}

// answerAdopt shows what adopting would change today, or why it cannot be.
func (w *Web) answerAdopt(c echo.Context, status int, r promotion.AdoptRequest, refused *promotion.Error) error {
	ctx := c.Request().Context()
	if _, err := w.store.TargetNamed(ctx, r.Application, r.Environment); err != nil {
		return found(err, "unknown-target", "%s has no environment %s", r.Application, r.Environment)
	}
	v := adoptView{PauseURL: "/sync-pause?" + url.Values{"application": {r.Application}, "environment": {r.Environment}}.Encode()}
	v.Application, v.Environment, v.Fields = r.Application, r.Environment, r.Fields
	v.BackURL, v.MayNot = targetURL(r.Application, r.Environment), mayNot(c, "adopt live changes", managers)
	plan, err := w.useCases.PlanAdopt(ctx, r)
	switch wrong, ok := refusal(err); {
	case err == nil:
		v.Cause, v.SelfHeal = plan.Cause, plan.SelfHeal
		v.plan(plan.RestorePlan)
	case !ok:
		return err
	case refused == nil:
		refused, status = wrong, auth.Status(wrong.Kind)
	}
	form := refusedForm{refused: refused}
	v.Reason = form.field("", "reason", "Reason", r.Reason, "Why it was changed past Git. Approvers read it, and so does whoever asks later.")
	v.Problem = form.rest()
	return w.show(c, status, "adopt", page{Title: fmt.Sprintf("Adopt what runs of %s in %s", r.Application, r.Environment), Body: v})
}
