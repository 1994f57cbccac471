package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// pausedView is a pause of automatic sync that nobody has ended.
type pausedView struct {
	Mark              mark
	By, Owner, Reason string
	At, Until         moment
	Overdue           bool
	Undone            bool // it syncs by itself all the same
}

// newPausedView is nil without a pause. Without now, nothing is overdue.
func newPausedView(p *promotion.SyncPause, deployments []promotion.Deployment, now time.Time) *pausedView {
	if p == nil {
		return nil
	}
	v := &pausedView{Mark: mark{Shape: "pause", Tone: "warn", Word: "automatic sync paused"}, By: p.PausedBy, Owner: p.Owner, Reason: p.Reason,
		At: at(p.PausedAt, now), Until: at(p.ExpiresAt, now), Overdue: p.Overdue(now),
		Undone: slices.ContainsFunc(deployments, func(d promotion.Deployment) bool { return d.AutomatedSync })}
	if v.Overdue {
		v.Mark.Tone, v.Mark.Word = "bad", "pause overdue"
	}
	return v
}

type syncPauseView struct {
	Application, Environment, BackURL string
	Paused                            *pausedView
	Problem                           *promotion.Error
	Owner, Reason, Lasts              fieldView
	MayNot                            string
}

// syncPauseForm is what was sent.
type syncPauseForm struct{ application, environment, owner, reason, lasts string }

func readSyncPause(from url.Values) syncPauseForm {
	s := syncPauseForm{from.Get("application"), from.Get("environment"), strings.TrimSpace(from.Get("owner")), strings.TrimSpace(from.Get("reason")), from.Get("lasts")}
	if s.lasts == "" {
		s.lasts = (2 * time.Hour).String()
	}
	return s
}

func syncPauseURL(application, environment string) string {
	return "/sync-pause?" + url.Values{"application": {application}, "environment": {environment}}.Encode()
}

func (w *Web) showSyncPause(c echo.Context) error {
	return w.answerSyncPause(c, http.StatusOK, readSyncPause(c.QueryParams()), nil)
}

func (w *Web) pauseSync(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	s := readSyncPause(c.Request().PostForm)
	r := promotion.SyncPauseRequest{Application: s.application, Environment: s.environment, Owner: s.owner, Reason: s.reason}
	if lasts, err := time.ParseDuration(s.lasts); err == nil {
		r.ExpiresAt = w.now().Add(lasts)
	}
	_, err := w.useCases.PauseSync(c.Request().Context(), auth.ActorOf(c), r)
	return w.afterSyncPause(c, s, err)
}

func (w *Web) resumeSync(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	s := readSyncPause(c.Request().PostForm)
	return w.afterSyncPause(c, s, w.useCases.ResumeSync(c.Request().Context(), auth.ActorOf(c), s.application, s.environment))
}

func (w *Web) afterSyncPause(c echo.Context, s syncPauseForm, err error) error {
	if err == nil {
		return c.Redirect(http.StatusSeeOther, targetURL(s.application, s.environment))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerSyncPause(c, auth.Status(refused.Kind), s, refused)
}

func (w *Web) answerSyncPause(c echo.Context, status int, s syncPauseForm, refused *promotion.Error) error {
	ctx := c.Request().Context()
	t, err := w.store.TargetNamed(ctx, s.application, s.environment)
	if err != nil {
		return found(err, "unknown-target", "%s has no environment %s", s.application, s.environment)
	}
	pauses, err := w.store.SyncPauses(ctx, t.ID)
	if err != nil {
		return err
	}
	v := syncPauseView{Application: s.application, Environment: s.environment, BackURL: targetURL(s.application, s.environment),
		MayNot: mayNot(c, "pause or resume automatic sync", managers)}
	title := "Pause automatic sync of " + s.application + " in " + s.environment
	if len(pauses) > 0 {
		v.Paused = newPausedView(&pauses[0], nil, w.now())
		title = "Resume automatic sync of " + s.application + " in " + s.environment
	}
	v.fields(s, refused)
	return w.show(c, status, "sync-pause", page{Title: title, Body: v})
}

func (v *syncPauseView) fields(s syncPauseForm, refused *promotion.Error) {
	form := refusedForm{refused: refused}
	v.Owner = form.field("", "owner", "Owner", s.owner, "Who sees to it that it ends; you, when left empty.")
	v.Reason = form.field("", "reason", "Reason", s.reason, "Everybody who wonders that nothing is synced reads it.")
	v.Lasts = form.lasts("Should end after", "Then it is shown as overdue, and stays paused.", s.lasts)
	v.Problem = form.rest()
}
