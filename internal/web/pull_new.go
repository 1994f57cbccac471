package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

type newPullView struct {
	Repository, PullsURL string
	Problem              *promotion.Error
	Branch, Title, Body  fieldView
	NoBranch             bool // nobody pushed one
	CloneURL             string
	MayNot               string
}

func (w *Web) showNewPull(c echo.Context) error { return w.answerNewPull(c, http.StatusOK, nil) }

func (w *Web) openPull(c echo.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	ctx, repository := c.Request().Context(), c.Param("repository")
	branch, title := strings.TrimSpace(c.FormValue("branch")), strings.TrimSpace(c.FormValue("title"))
	switch {
	case branch == "":
		return w.answerNewPull(c, http.StatusUnprocessableEntity, wrong("branch", "say for which branch; push it first"))
	case title == "":
		return w.answerNewPull(c, http.StatusUnprocessableEntity, wrong("title", "say in a few words what it changes"))
	}
	number, err := w.pullRequests.Open(ctx, auth.ActorOf(c), repository, branch, title, strings.TrimSpace(c.FormValue("body")))
	switch {
	case err == nil:
		if err := w.useCases.Pushed(ctx, repository, []string{"refs/heads/" + branch}); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, fmt.Sprintf("%s/%d", pullsURL(repository), number))
	case errors.Is(err, promotion.ErrNotFound):
		err = wrong("branch", fmt.Sprintf("nobody pushed a branch %s to %s", branch, repository))
	case errors.Is(err, promotion.ErrNotMergeable):
		err = wrong("branch", fmt.Sprintf("%s has no commit that main does not have: there is nothing to merge", branch))
	}
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	return w.answerNewPull(c, auth.Status(refused.Kind), refused)
}

func (w *Web) answerNewPull(c echo.Context, status int, refused *promotion.Error) error {
	repository := c.Param("repository")
	branches, err := w.pullRequests.Branches(c.Request().Context(), repository)
	if err != nil {
		return found(err, "unknown-repository", "there is no repository %s here", repository)
	}
	chosen := c.FormValue("branch")
	form := refusedForm{refused: refused}
	v := newPullView{Repository: repository, PullsURL: pullsURL(repository), NoBranch: len(branches) == 0, CloneURL: "/git/" + repository + ".git",
		MayNot: mayNot(c, "open a pull request here", managers)}
	v.Branch = form.choice("branch", "Branch", "Pushed, and without an open pull request.",
		each(branches, func(name string) option { return option{Value: name, Text: name, Chosen: name == chosen} }))
	v.Title = form.field("text", "title", "Title", c.FormValue("title"), "")
	v.Body = form.field("", "body", "Description", c.FormValue("body"), "Why, and what to look at. Markdown.")
	v.Problem = form.rest()
	return w.show(c, status, "pull-new", page{Title: "Open a pull request", Body: v})
}
