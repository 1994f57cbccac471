package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// addPullActions adds what can be done with an open pull request of the built-in host, and the promotions that it is: one
// that has any is merged through them, and any other at the host, which asks for the green check.
func (w *Web) addPullActions(c echo.Context, v *pullView, p PullRequest) error {
	changes, err := w.store.Changes(c.Request().Context(), v.Repository, p.Number)
	if err != nil {
		return err
	}
	v.Changes = each(changes, newSiblingView)
	if p.State != "open" {
		return nil
	}
	by := auth.ActorOf(c)
	through := v.Promotion
	for _, change := range changes {
		if change.Open() && through.URL == "" {
			through = promotionLink(change.ID)
		}
	}
	if v.Promotion.URL == "" {
		seen, err := w.store.SeenPullRequests(c.Request().Context(), v.Repository)
		if err != nil {
			return err
		}
		v.Verdict = verdict(seen, p.Number)
		if by.Has(managers...) {
			v.CloseURL = v.URL + "/close"
		}
	}
	v.Through = through
	switch {
	case !by.Has(deciders...):
	case through.URL != "":
		v.MergeURL = through.URL + "/merge"
	default:
		v.HostMergeURL = v.URL + "/merge"
	}
	return nil
}

func (w *Web) mergePull(c echo.Context) error {
	return w.actOnPull(c, func(ctx context.Context, by promotion.Actor, repository string, number int) error {
		changes, err := w.store.Changes(ctx, repository, number)
		if err != nil {
			return err
		}
		for _, change := range changes {
			if change.Open() {
				return &promotion.Error{Kind: promotion.Conflict, Code: "gated",
					Message: fmt.Sprintf("It changes %s, which has gates: merge it through promotion %d.", change.Target.Environment, change.ID)}
			}
		}
		return w.pullRequests.Merge(ctx, by, repository, number, c.FormValue("head"))
	})
}

func (w *Web) closePull(c echo.Context) error {
	return w.actOnPull(c, func(ctx context.Context, by promotion.Actor, repository string, number int) error {
		return w.pullRequests.Close(ctx, by, repository, number)
	})
}

// actOnPull does something with a person's pull request. Those of promotions are acted on there.
func (w *Web) actOnPull(c echo.Context, do func(context.Context, promotion.Actor, string, int) error) error {
	repository := c.Param("repository")
	number, err := pathID(c, "number")
	if err != nil {
		return err
	}
	if err := readForm(c); err != nil {
		return err
	}
	ctx := c.Request().Context()
	p, err := w.pullRequests.Get(ctx, repository, int(number))
	if err != nil {
		return found(err, "unknown-pull-request", "there is no pull request #%d of %s here", number, repository)
	}
	if row := w.newPullRow(repository, p.PullRequestSummary); row.Promotion.URL != "" {
		err = &promotion.Error{Kind: promotion.Conflict, Code: "sluices-own", Message: "It is the pull request of " + row.Promotion.Text + ": merge or cancel that."}
	} else {
		err = hostRefusal(do(ctx, auth.ActorOf(c), repository, int(number)))
	}
	if err == nil {
		if err := w.useCases.Pushed(ctx, repository, []string{"refs/heads/" + p.Branch}); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("%s/%d", pullsURL(repository), number))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerPull(c, auth.Status(refused.Kind), refused)
}

// hostRefusal says in words what the host refused.
func hostRefusal(err error) error {
	says := func(message string) error {
		return &promotion.Error{Kind: promotion.Conflict, Code: "refused-by-host", Message: message}
	}
	switch {
	case errors.Is(err, promotion.ErrHeadMoved):
		return says("Somebody pushed to it since you looked: look at it again.")
	case errors.Is(err, promotion.ErrConflict):
		return says("It conflicts with main: rebase it and push again.")
	case errors.Is(err, promotion.ErrNotMergeable):
		return says("The check " + promotion.StatusContext + " is not green, so it cannot be merged yet.")
	}
	return err
}

func backToPull(c echo.Context) error {
	number, err := pathID(c, "number")
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, fmt.Sprintf("%s/%d", pullsURL(c.Param("repository")), number))
}
