package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// heldView is a hold that nobody has released.
type heldView struct {
	Mark       mark
	By, Reason string
	At         moment
}

func newHeldView(h *promotion.Hold, now time.Time) *heldView {
	if h == nil {
		return nil
	}
	return &heldView{Mark: mark{Shape: "pause", Tone: "bad", Word: "held"}, By: h.HeldBy, Reason: h.Reason, At: at(h.HeldAt, now)}
}

// heldNow is the hold of exactly this target, or of everything for zero; nil without one.
func (w *Web) heldNow(ctx context.Context, target int64) (*promotion.Hold, error) {
	holds, err := w.store.HoldsOf(ctx, target)
	if err != nil {
		return nil, err
	}
	for _, h := range holds {
		if h.Target.ID == target {
			return &h, nil
		}
	}
	return nil, nil
}

type holdView struct {
	Application, Environment string // empty: everything
	What, BackURL            string
	Held                     *heldView
	Problem                  *promotion.Error
	Reason                   fieldView
	MayNot                   string
}

func holdURL(application, environment string) string {
	return "/hold?" + url.Values{"application": {application}, "environment": {environment}}.Encode()
}

func targetURL(application, environment string) string {
	return "/applications/" + url.PathEscape(application) + "/" + url.PathEscape(environment)
}

func (w *Web) showHold(c echo.Context) error {
	return w.answerHold(c, http.StatusOK, promotion.HoldRequest{Application: c.QueryParam("application"), Environment: c.QueryParam("environment")}, nil)
}

func (w *Web) hold(c echo.Context) error { return w.changeHold(c, w.useCases.Hold) }

func (w *Web) resume(c echo.Context) error { return w.changeHold(c, w.useCases.Resume) }

func (w *Web) changeHold(c echo.Context, do func(context.Context, promotion.Actor, promotion.HoldRequest) error) error {
	if err := readForm(c); err != nil {
		return err
	}
	r := promotion.HoldRequest{Application: c.FormValue("application"), Environment: c.FormValue("environment"), Reason: strings.TrimSpace(c.FormValue("reason"))}
	err := do(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		back := "/"
		if r.Application != "" {
			back = targetURL(r.Application, r.Environment)
		}
		return c.Redirect(http.StatusSeeOther, back)
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerHold(c, auth.Status(refused.Kind), r, refused)
}

func (w *Web) answerHold(c echo.Context, status int, r promotion.HoldRequest, refused *promotion.Error) error {
	ctx := c.Request().Context()
	v := holdView{Application: r.Application, Environment: r.Environment, What: "everything", BackURL: "/", MayNot: mayNot(c, "hold or resume", managers)}
	var id int64
	if r.Application != "" || r.Environment != "" {
		t, err := w.store.TargetNamed(ctx, r.Application, r.Environment)
		if err != nil {
			return found(err, "unknown-target", "%s has no environment %s", r.Application, r.Environment)
		}
		id, v.What, v.BackURL = t.ID, r.Application+" in "+r.Environment, targetURL(r.Application, r.Environment)
	}
	held, err := w.heldNow(ctx, id)
	if err != nil {
		return err
	}
	v.Held = newHeldView(held, w.now())
	form := refusedForm{refused: refused}
	v.Reason = form.field("", "reason", "Reason", r.Reason, "Everybody who is held by it reads it: an incident, whom to ask.")
	v.Problem = form.rest()
	title := "Hold " + v.What
	if id == 0 {
		title = "Stop everything"
	}
	if v.Held != nil {
		title = "Resume " + v.What
	}
	return w.show(c, status, "hold", page{Title: title, Body: v})
}
