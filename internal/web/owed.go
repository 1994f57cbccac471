package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// owedView is a release that an environment is owed since a hotfix went past it.
type owedView struct {
	Mark     mark
	Release  link
	LiveIn   string
	Hotfix   link
	Since    moment
	WaiveURL string
}

func newOwedView(o promotion.Owed, now time.Time) owedView {
	query := url.Values{"application": {o.Target.Application}, "environment": {o.Target.Environment}, "release": {strconv.FormatInt(o.Release.ID, 10)}}
	return owedView{Mark: mark{Shape: "clock", Tone: "warn", Word: "owed"}, Release: releaseLink(o.Release.ID, o.Release.Version), LiveIn: o.LiveIn,
		Hotfix: promotionLink(o.PromotionID), Since: at(o.Since, now), WaiveURL: "/owed/waive?" + query.Encode()}
}

type waiveView struct {
	Application, Environment, Release string
	BackURL                           string
	Owed                              *owedView // nil when it is owed no more
	Problem                           *promotion.Error
	Reason                            fieldView
	MayNot                            string
}

func (w *Web) showWaive(c echo.Context) error {
	return w.answerWaive(c, http.StatusOK, promotion.WaiveRequest{Application: c.QueryParam("application"),
		Environment: c.QueryParam("environment"), Release: c.QueryParam("release")}, nil)
}

func (w *Web) waive(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	r := promotion.WaiveRequest{Application: c.FormValue("application"), Environment: c.FormValue("environment"), Release: c.FormValue("release"),
		Reason: strings.TrimSpace(c.FormValue("reason"))}
	err := w.useCases.Waive(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, targetURL(r.Application, r.Environment))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerWaive(c, auth.Status(refused.Kind), r, refused)
}

func (w *Web) answerWaive(c echo.Context, status int, r promotion.WaiveRequest, refused *promotion.Error) error {
	ctx := c.Request().Context()
	t, err := w.store.TargetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return found(err, "unknown-target", "%s has no environment %s", r.Application, r.Environment)
	}
	owed, err := w.store.Owed(ctx, t.ID)
	if err != nil {
		return err
	}
	v := waiveView{Application: r.Application, Environment: r.Environment, Release: r.Release, BackURL: targetURL(r.Application, r.Environment),
		MayNot: mayNot(c, "waive what is owed", managers)}
	named := func(o promotion.Owed) bool {
		return strconv.FormatInt(o.Release.ID, 10) == r.Release || o.Release.Version == r.Release
	}
	if i := slices.IndexFunc(owed, named); i >= 0 {
		view := newOwedView(owed[i], w.now())
		v.Owed = &view
	}
	form := refusedForm{refused: refused}
	v.Reason = form.field("", "reason", "Reason", r.Reason, "Why it need not get it: it is past that line, or goes away.")
	v.Problem = form.rest()
	return w.show(c, status, "waive", page{Title: "Waive what " + r.Environment + " is owed", Body: v})
}
