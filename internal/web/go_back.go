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

// goBackView is the form for going back, with what it would change.
type goBackView struct {
	restoreView
	To               string
	WithConfig       bool
	Revert           bool   // of a promotion's change
	Promotion        string // its id
	PromotionProblem string
	CheckURL         string // the table of what the target could go back to
	ToProblem        string
}

func readGoBack(from url.Values) promotion.GoBackRequest {
	r := promotion.GoBackRequest{Application: from.Get("application"), Environment: from.Get("environment"),
		Way: promotion.Way(from.Get("way")), To: strings.TrimSpace(from.Get("to")), Reason: strings.TrimSpace(from.Get("reason"))}
	if r.Way == "" {
		r.Way = promotion.ImagesOnly
	}
	if r.Way == promotion.Revert { // it is for no release
		r.To = ""
		r.Promotion, _ = strconv.ParseInt(strings.TrimSpace(from.Get("promotion")), 10, 64) // what is no number is missing
	}
	if r.Way == promotion.ImagesAndConfig { // by images alone there is nothing to tick
		r.Base, r.Secrets = from.Get("base") == "1", from.Get("secrets") == "1"
	}
	return r
}

// showGoBack shows the form; where nothing was chosen yet, with the nearest safe release by the way that is recommended.
func (w *Web) showGoBack(c echo.Context) error {
	asked := c.QueryParams()
	r := readGoBack(asked)
	if asked.Has("to") || asked.Has("way") || asked.Has("promotion") {
		return w.answerGoBack(c, http.StatusOK, r, nil)
	}
	check, err := w.useCases.CheckRollback(c.Request().Context(), promotion.RollbackRequest{Application: r.Application, Environment: r.Environment})
	if _, refused := refusal(err); err != nil && !refused { // what is wrong with the target, the form says
		return err
	}
	if nearest := check.Nearest(); nearest != nil {
		r.Way = nearest.Best().Way
		if r.Way == promotion.Revert {
			r.Promotion = nearest.Undo.Promotion
		} else {
			r.To = fmt.Sprint(nearest.Release.ID)
		}
	}
	return w.answerGoBack(c, http.StatusOK, r, nil)
}

func (w *Web) goBack(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	r := readGoBack(c.Request().PostForm)
	p, err := w.useCases.StartRollback(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/promotions/%d", p.ID))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerGoBack(c, auth.Status(refused.Kind), r, refused)
}

// answerGoBack shows what going back would change today, or why it cannot be.
func (w *Web) answerGoBack(c echo.Context, status int, r promotion.GoBackRequest, refused *promotion.Error) error {
	ctx := c.Request().Context()
	if _, err := w.store.TargetNamed(ctx, r.Application, r.Environment); err != nil {
		return found(err, "unknown-target", "%s has no environment %s", r.Application, r.Environment)
	}
	v := goBackView{To: r.To, WithConfig: r.Way == promotion.ImagesAndConfig, Revert: r.Way == promotion.Revert, CheckURL: rollbackURL(r.Application, r.Environment)}
	if r.Promotion != 0 {
		v.Promotion = fmt.Sprint(r.Promotion)
	}
	v.Application, v.Environment, v.Base, v.Secrets = r.Application, r.Environment, r.Base, r.Secrets
	v.BackURL, v.MayNot = targetURL(r.Application, r.Environment), mayNot(c, "roll back", managers)
	plan, err := w.useCases.PlanRollback(ctx, r)
	switch wrong, ok := refusal(err); {
	case err == nil:
		v.plan(plan)
	case !ok:
		return err
	case refused == nil:
		refused, status = wrong, auth.Status(wrong.Kind)
	}
	form := refusedForm{refused: refused}
	v.Reason = form.field("", "reason", "Reason", r.Reason, "Approvers read it, and so does whoever asks later.")
	v.ToProblem, v.PromotionProblem = form.problem("to"), form.problem("promotion")
	v.Problem = form.rest()
	return w.show(c, status, "go-back", page{Title: fmt.Sprintf("Roll %s back in %s", r.Application, r.Environment), Body: v})
}
