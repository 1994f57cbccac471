package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// revisionsShown is how many of main's commits a target's page has.
const revisionsShown = 50

type targetView struct {
	Application      string
	Cell             cellView
	Path             string
	Commit           shortened
	Desired          link
	Everything       bool // is stopped, so that resuming this target alone lets nothing out
	Revisions        []revisionView
	PromoteURL       string
	HoldURL          string
	OverrideURL      string
	CalendarURL      string
	RollbackURL      string
	MayHold, MayOpen bool
	Drift            []driftView
	Beside           []besideView // for the days to come
	Standing         promotion.Standing
}

// revisionView is a commit of main that changed what the target renders.
type revisionView struct {
	Commit     shortened
	Subject    string
	Author     string
	At         moment
	Release    link
	Promotion  link
	Current    bool
	RestoreURL string
}

func (w *Web) showTarget(c echo.Context) error { return w.answerTarget(c, http.StatusOK, nil) }

// backToTarget leads from the address of a refused restoration, loaded again, to the target.
func backToTarget(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, targetURL(c.Param("name"), c.Param("environment")))
}

// answerTarget shows a target, with why its live objects were not restored.
func (w *Web) answerTarget(c echo.Context, status int, refused *promotion.Error) error {
	ctx, application, environment := c.Request().Context(), c.Param("name"), c.Param("environment")
	facts, err := w.factsOfTargets(ctx)
	if err != nil {
		return err
	}
	cell, ok := cellOf(facts.rows, application, environment)
	if !ok {
		return absent("unknown-target", "%s has no environment %s", application, environment)
	}
	names := url.Values{"application": {application}, "environment": {environment}}
	by := auth.ActorOf(c)
	v := targetView{Application: application, Cell: facts.cellView(cell, w.now()), Path: cell.Target.Path, Commit: shorten(cell.DesiredSHA),
		Desired: releaseLink(0, ""), Everything: facts.held[0] != nil, PromoteURL: "/promote?" + names.Encode(), HoldURL: holdURL(application, environment),
		OverrideURL: overrideURL(application, environment), CalendarURL: "/calendar?" + names.Encode(), RollbackURL: rollbackURL(application, environment), MayHold: by.Has(managers...), MayOpen: by.Has(glassBreakers...)}
	if cell.Desired != nil {
		v.Desired = releaseLink(cell.Desired.ID, cell.Desired.Version)
	}
	if v.Revisions, err = w.revisions(ctx, cell.Target); err != nil {
		return err
	}
	if v.Drift, err = w.driftOf(c, cell.Target, refused); err != nil {
		return err
	}
	if v.Standing, err = w.useCases.Standing(ctx, cell.Target, cell.Deployments); err != nil {
		return err
	}
	if v.Beside, err = w.besideOf(c, cell.Target); err != nil {
		return err
	}
	return w.show(c, status, "target", page{Title: application + " in " + environment, Body: v})
}

func (w *Web) revisions(ctx context.Context, t promotion.Target) ([]revisionView, error) {
	revisions, err := w.store.RevisionsOf(ctx, t.ID, revisionsShown)
	if err != nil {
		return nil, err
	}
	releases, err := w.store.Releases(ctx, t.Application, 0, releasesShown)
	if err != nil {
		return nil, err
	}
	versions := map[int64]string{}
	for _, r := range releases {
		versions[r.ID] = r.Version
	}
	views := make([]revisionView, len(revisions))
	for i, r := range revisions {
		subject, _, _ := strings.Cut(r.Commit.Message, "\n")
		name, _, _ := strings.Cut(r.Commit.Author, " <")
		views[i] = revisionView{Commit: shorten(r.Commit.SHA), Subject: subject, Author: name, At: at(r.Commit.When, w.now()),
			Release: releaseLink(r.ReleaseID, versions[r.ReleaseID]), Promotion: promotionLink(r.PromotionID), Current: i == 0,
			RestoreURL: restoreURL(t, r)}
	}
	return views, nil
}

// restoreURL leads to what restoring a revision would change. Images that belong to no known release cannot come back with it.
func restoreURL(t promotion.Target, r promotion.TargetRevision) string {
	query := url.Values{"application": {t.Application}, "environment": {t.Environment}, "commit": {r.Commit.SHA}}
	if r.ReleaseID == 0 {
		query.Set("images", "today")
	}
	return "/restore?" + query.Encode()
}
