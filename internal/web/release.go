package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// How many promotions a release's page has, and how many changes of its
// application are looked through for where it ran.
const (
	promotionsShown = 100
	historySearched = 500
)

type releaseView struct {
	ID                   int64
	Application, Version string
	Number               int
	Line                 string
	At                   moment
	Remarks              []string
	RebuildOf            *link
	Artifacts            []artifactView
	Charts               []chartView
	Build                *buildView // nil for an import
	Said                 string
	Groups               []linkGroup
	Runs                 []releaseRun // where it is
	Ran                  []historyRow // where it was
	HistoryURL           string
	Promotions           []promotionRow
	PromoteURL           string
	Evidence             []evidenceView
	Migrations           *migrationsView // nil when none were posted
	Rejected             *heldView       // everywhere
	RolledBack           []rolledBackView
	Clear                *judgeView // of the marks of rollbacks
	Judge                *judgeView
	Problem              *promotion.Error
}

type artifactView struct {
	Name, Reference string
	Carried         link
}

type chartView struct {
	Name, Version string
	Carried       link
}

type buildView struct {
	ID       int64
	Source   link
	Commit   shortened
	Ref      string
	Run      link
	PostedBy string
	At       moment
}

type linkGroup struct {
	Title string
	Links []linkView
}

type linkView struct {
	Mark                         mark
	Name, Expected, Found, Proof string
	Same                         bool // both values are the same, and shown once
	At                           moment
}

// rolledBackView is a rollback that left the release.
type rolledBackView struct {
	Environment, By, Reason string
	Promotion               link
	At                      moment
}

// releaseRun is one deployment that runs the release now.
type releaseRun struct {
	Environment string
	Run         runView
}

type promotionRow struct {
	Link        link
	Environment string
	What        string // when it is no plain release
	State       mark
	RequestedBy string
	At          moment
}

func (w *Web) showRelease(c echo.Context) error {
	id, err := pathID(c, "id")
	if err != nil {
		return err
	}
	return w.answerRelease(c, http.StatusOK, id, attempt{})
}

func (w *Web) answerRelease(c echo.Context, status int, id int64, tried attempt) error {
	ctx := c.Request().Context()
	r, err := w.store.Release(ctx, id)
	if err != nil {
		return found(err, "unknown-release", "there is no release with id %d", id)
	}
	links, err := w.useCases.Chain(ctx, id)
	if err != nil {
		return err
	}
	promotions, err := w.store.Promotions(ctx, promotion.PromotionFilter{ReleaseID: id, Limit: promotionsShown})
	if err != nil {
		return err
	}
	v := newReleaseView(r, links, promotions, w.now())
	v.judge(r, auth.ActorOf(c), tried)
	evidence, err := w.store.EvidenceFor(ctx, id)
	if err != nil {
		return err
	}
	v.Evidence = each(evidence, func(e promotion.Evidence) evidenceView { return newEvidenceView(e, w.now()) })
	migrations, err := w.useCases.ReleaseMigrations(ctx, r)
	if err != nil {
		return err
	}
	v.Migrations = newMigrationsView(migrations)
	if v.Build, err = w.buildView(ctx, r.BuildID); err != nil {
		return err
	}
	if err := w.addWhere(ctx, &v); err != nil {
		return err
	}
	return w.show(c, status, "release", page{Title: fmt.Sprintf("%s %s", r.Application, r.Version), Body: v})
}

// addWhere adds where the release runs, and where it was seen to run before.
func (w *Web) addWhere(ctx context.Context, v *releaseView) error {
	deployments, err := w.store.Deployments(ctx, v.Application, "")
	if err != nil {
		return err
	}
	for _, d := range deployments {
		if d.ReleaseID == v.ID {
			v.Runs = append(v.Runs, releaseRun{Environment: d.Environment, Run: newRunView(d, true, w.now())})
		}
	}
	history, err := w.store.History(ctx, promotion.HistoryFilter{Application: v.Application, Limit: historySearched})
	if err != nil {
		return err
	}
	for _, e := range history {
		if e.ReleaseID == v.ID && !e.To.IsZero() {
			v.Ran = append(v.Ran, newHistoryRow(e, w.now()))
		}
	}
	return nil
}

func (w *Web) buildView(ctx context.Context, id int64) (*buildView, error) {
	if id == 0 {
		return nil, nil
	}
	b, err := w.store.BuildByID(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read build %d: %w", id, err)
	}
	return &buildView{ID: b.ID, Source: outside(b.Source.Repository, b.Source.Repository), Commit: shorten(b.Source.Commit), Ref: b.Source.Ref,
		Run: outside(b.CI.RunURL, b.CI.RunURL), PostedBy: b.PostedBy, At: at(b.PostedAt, w.now())}, nil
}

func newReleaseView(r promotion.Release, links []promotion.Link, promotions []promotion.Promotion, now time.Time) releaseView {
	v := releaseView{ID: r.ID, Application: r.Application, Version: r.Version, Number: r.Number, Line: r.Line, At: at(r.CreatedAt, now),
		Remarks: remarks(r), Groups: linkGroups(links, now), Said: chainSaid(links),
		HistoryURL: "/history?" + url.Values{"application": {r.Application}}.Encode(),
		Rejected:   rejectedView(r, now), PromoteURL: "/promote?" + url.Values{"application": {r.Application}, "release": {fmt.Sprint(r.ID)}}.Encode()}
	v.RolledBack = each(r.RolledBack, func(m promotion.RollbackMark) rolledBackView {
		return rolledBackView{Environment: m.Environment, By: m.By, Reason: m.Reason, Promotion: promotionLink(m.PromotionID), At: at(m.At, now)}
	})
	if r.RebuildOf != 0 {
		l := releaseLink(r.RebuildOf, "")
		v.RebuildOf = &l
	}
	v.Artifacts = each(r.Artifacts, func(a promotion.Artifact) artifactView {
		return artifactView{Name: a.Name, Reference: a.Reference(), Carried: carried(a.CarriedFrom)}
	})
	v.Charts = each(r.Charts, func(c promotion.ReleaseChart) chartView {
		return chartView{Name: c.Name, Version: c.Version, Carried: carried(c.CarriedFrom)}
	})
	v.Promotions = each(promotions, func(p promotion.Promotion) promotionRow {
		return promotionRow{Link: promotionLink(p.ID), Environment: p.Target.Environment, What: kindWord(p), State: stateMark(p.State()), RequestedBy: p.RequestedBy,
			At: at(p.RequestedAt, now)}
	})
	return v
}

func carried(from int64) link {
	if from == 0 {
		return link{}
	}
	return link{Text: "carried forward", URL: fmt.Sprintf("/releases/%d", from)}
}

func chainSaid(links []promotion.Link) string {
	broken := 0
	for _, l := range links {
		if !l.Verified {
			broken++
		}
	}
	switch {
	case len(links) == 0:
		return "Nothing of it is known yet."
	case broken > 0:
		return fmt.Sprintf("%d of %s broken or unproven.", broken, plural(len(links), "link"))
	}
	return fmt.Sprintf("Unbroken so far: %s verified.", plural(len(links), "link"))
}

// linkGroups puts the links of one environment together; they come in order.
func linkGroups(links []promotion.Link, now time.Time) []linkGroup {
	var groups []linkGroup
	for _, l := range links {
		title := l.Environment
		if title == "" {
			title = "Origin"
		}
		if n := len(groups); n == 0 || groups[n-1].Title != title {
			groups = append(groups, linkGroup{Title: title})
		}
		v := linkView{Mark: mark{Shape: "check", Tone: "good", Word: "verified"}, Name: l.Name, Expected: l.Expected, Found: l.Found, Proof: l.Proof,
			Same: l.Expected == l.Found, At: at(l.At, now)}
		if !l.Verified {
			v.Mark = mark{Shape: "stop", Tone: "bad", Word: "broken"}
		}
		if !l.Verified && l.Found == "" {
			v.Mark = mark{Shape: "unknown", Tone: "warn", Word: "not proven"}
		}
		last := &groups[len(groups)-1]
		last.Links = append(last.Links, v)
	}
	return groups
}
