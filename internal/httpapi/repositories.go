package httpapi

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

// revisionsShown is how many of a target's revisions are listed: those that can be restored.
const revisionsShown = 200

func (a *API) listRevisions(c echo.Context) error {
	q := readQuery(c, "application", "environment")
	application, environment := q.needed("application"), q.needed("environment")
	if q.err != nil {
		return q.err
	}
	ctx := c.Request().Context()
	t, err := a.store.TargetNamed(ctx, application, environment)
	if err != nil {
		return found(err, "unknown-target", "%s has no environment %s: there is no such overlay on main", application, environment)
	}
	revisions, err := a.store.RevisionsOf(ctx, t.ID, revisionsShown)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, api.RevisionList{Items: each(revisions, revisionAnswer)})
}

func (a *API) listRepositories(c echo.Context) error {
	if q := readQuery(c); q.err != nil {
		return q.err
	}
	ctx := c.Request().Context()
	repositories, err := a.store.Repositories(ctx)
	if err != nil {
		return err
	}
	list := api.RepositoryList{Items: each(repositories, repositoryAnswer)}
	for i, r := range repositories {
		policy, err := a.store.PolicyInForce(ctx, r.Name)
		switch {
		case errors.Is(err, promotion.ErrNotFound): // none could be read yet
		case err != nil:
			return err
		default:
			list.Items[i].Policy = &api.PolicyInForce{Commit: policy.Commit, Since: policy.Since.UTC()}
		}
	}
	return c.JSON(http.StatusOK, list)
}

func revisionAnswer(r promotion.TargetRevision) api.Revision {
	return api.Revision{
		Commit: r.Commit.SHA, Author: r.Commit.Author, Message: r.Commit.Message, CommittedAt: r.Commit.When.UTC(),
		FoundAt: r.FoundAt.UTC(), Imported: r.Imported, Release: unlessZero(r.ReleaseID), Promotion: unlessZero(r.PromotionID),
		Images: each(r.Images, func(i promotion.RenderedImage) api.RevisionImage {
			return api.RevisionImage{Object: i.Object, Container: i.Container, Reference: i.Reference}
		}),
	}
}

func repositoryAnswer(r promotion.RepositoryStatus) api.Repository {
	return api.Repository{Name: r.Name, URL: r.URL, BaseBranch: r.BaseBranch, Head: r.Head, Problem: r.Problem, LookedAt: r.LookedAt.UTC(),
		LimitedUntil: r.LimitedUntil.UTC(), Unprotected: r.Unprotected,
		PolicyFaults: each(r.PolicyFaults, func(f promotion.PolicyFault) api.PolicyFault {
			return api.PolicyFault{File: f.File, Line: f.Line, Code: f.Code, Message: f.Message}
		}),
		EngineFaults: each(r.EngineFaults, func(f promotion.EngineFault) api.EngineFault { return api.EngineFault(f) })}
}
