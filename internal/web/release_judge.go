package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// judgeView is the form that rejects a release everywhere, or reopens it.
type judgeView struct {
	Title, Does, Action, Button, Class string
	Reason                             fieldView
}

func rejectedView(r promotion.Release, now time.Time) *heldView {
	if r.RejectedBy == "" {
		return nil
	}
	return &heldView{By: r.RejectedBy, Reason: r.Rejection, At: at(r.RejectedAt, now)}
}

// judge adds the form for who may send it.
func (v *releaseView) judge(r promotion.Release, by promotion.Actor, tried attempt) {
	form := refusedForm{refused: tried.refused}
	if len(r.RolledBack) > 0 && by.Has(managers...) {
		v.Clear = &judgeView{Title: "Clear the rollback", Action: fmt.Sprintf("/releases/%d/clear-rollback", r.ID), Button: "clear-rollback",
			Does: "Where the policy promotes by itself, it may go there again."}
		var untouched refusedForm
		at, text := &untouched, ""
		if tried.action == "clear-rollback" {
			at, text, tried.text = &form, tried.text, ""
		}
		v.Clear.Reason = at.field("", "reason", "Reason", text, "")
		v.Clear.Reason.ID = "clear-reason"
	}
	j := judgeView{Title: "Reject everywhere", Action: fmt.Sprintf("/releases/%d/reject", r.ID), Button: "reject", Class: "danger",
		Does: "Nobody can promote it any more, anywhere, and every promotion of it that is not merged ends. What runs it goes on running."}
	who := deciders
	if r.RejectedBy != "" {
		j = judgeView{Title: "Reopen", Action: fmt.Sprintf("/releases/%d/reopen", r.ID), Button: "reopen", Does: "It can be promoted again. The promotions that ended with it stay ended."}
		who = managers
	}
	if by.Has(who...) {
		j.Reason = form.field("", "reason", "Reason", tried.text, "")
		v.Judge = &j
	}
	v.Problem = form.rest()
}

func (w *Web) rejectRelease(c echo.Context) error {
	return w.judgeRelease(c, "reject", w.useCases.RejectRelease)
}

func (w *Web) reopenRelease(c echo.Context) error {
	return w.judgeRelease(c, "reopen", w.useCases.ReopenRelease)
}

func (w *Web) clearRollback(c echo.Context) error {
	return w.judgeRelease(c, "clear-rollback", w.useCases.ClearRollback)
}

func (w *Web) judgeRelease(c echo.Context, action string, do func(context.Context, promotion.Actor, int64, string) (promotion.Release, error)) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	if err := readForm(c); err != nil {
		return err
	}
	reason := strings.TrimSpace(c.FormValue("reason"))
	_, err = do(c.Request().Context(), auth.ActorOf(c), id, reason)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/releases/%d", id))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerRelease(c, auth.Status(refused.Kind), id, attempt{action: action, text: reason, refused: refused})
}

func backToRelease(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/releases/%d", id))
}
