package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

type restoreView struct {
	Application, Environment string
	Commit                   shortened
	Today, Base, Secrets     bool
	BackURL                  string
	Problem                  *promotion.Error
	CommitProblem            string
	Planned                  bool
	Release                  link
	Number                   int
	Notes                    []string
	Removed                  []promotion.RemovedObject
	Secret                   []string // Secrets in plain text that it would bring
	Others                   []link
	Diff                     []diffLine
	Files                    string
	Reason                   fieldView
	MayNot                   string
}

func readRestore(from url.Values) promotion.RestoreRequest {
	return promotion.RestoreRequest{Application: from.Get("application"), Environment: from.Get("environment"),
		Restoration:   promotion.Restoration{Commit: strings.TrimSpace(from.Get("commit")), Base: from.Get("base") == "1", Secrets: from.Get("secrets") == "1"},
		ImagesOfToday: from.Get("images") == "today", Reason: strings.TrimSpace(from.Get("reason"))}
}

func (w *Web) showRestore(c echo.Context) error {
	return w.answerRestore(c, http.StatusOK, readRestore(c.QueryParams()), nil)
}

func (w *Web) restore(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	r := readRestore(c.Request().PostForm)
	p, err := w.useCases.Restore(c.Request().Context(), auth.ActorOf(c), r)
	if err == nil {
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("/promotions/%d", p.ID))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerRestore(c, auth.Status(refused.Kind), r, refused)
}

// answerRestore shows what the restoration would change today, or why there is none.
func (w *Web) answerRestore(c echo.Context, status int, r promotion.RestoreRequest, refused *promotion.Error) error {
	ctx := c.Request().Context()
	if _, err := w.store.TargetNamed(ctx, r.Application, r.Environment); err != nil {
		return found(err, "unknown-target", "%s has no environment %s", r.Application, r.Environment)
	}
	v := restoreView{Application: r.Application, Environment: r.Environment, Commit: shorten(r.Commit), Today: r.ImagesOfToday, Base: r.Base,
		Secrets: r.Secrets, BackURL: targetURL(r.Application, r.Environment), MayNot: mayNot(c, "restore configuration", managers)}
	plan, err := w.useCases.PlanRestore(ctx, r)
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
	v.CommitProblem = form.problem("commit")
	v.Problem = form.rest()
	return w.show(c, status, "restore", page{Title: fmt.Sprintf("Restore %s in %s", r.Application, r.Environment), Body: v})
}

func (v *restoreView) plan(p promotion.RestorePlan) {
	v.Planned, v.Release, v.Number, v.Notes = true, releaseLink(p.Release.ID, p.Release.Version), p.Release.Number, p.Change.Notes
	v.Secret, v.Diff, v.Others = p.Change.PlaintextSecrets, changeLines(p.Change.Diff), each(p.Others, targetLink)
	v.Removed = p.Change.Removed
	v.Files = plural(len(p.Change.Files), "file") + " written, " + plural(len(p.Change.Deletes), "file") + " removed"
}
