package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// historyShown is how many entries an application's page has.
const historyShown = 20

type applicationView struct {
	Name          string
	Problems      []cellView
	Environments  []environmentView
	Releases      []releaseRow
	OlderReleases string
	History       []historyRow
	HistoryURL    string
}

type environmentView struct {
	Name       string
	Runs       []runView
	Desired    link
	Commit     shortened
	Open       *openView
	PromoteURL string
	URL        string
	HoldURL    string
	PauseURL   string
	Paused     *pausedView
	Drifting   *mark
	Held       *heldView
	Overrides  []exceptionView
	Owed       []owedView
	Waiting    []link
}

type releaseRow struct {
	Link    link
	Number  int
	Line    string
	Digests []shortened
	Charts  []string
	At      moment
	Remarks []string
}

func (w *Web) showApplication(c echo.Context) error {
	name, ctx := c.Param("name"), c.Request().Context()
	before, err := readBefore(c)
	if err != nil {
		return err
	}
	facts, err := w.factsOfTargets(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(facts.rows, func(r promotion.BoardRow) bool { return r.Application == name })
	if i < 0 {
		return absent("unknown-application", "there is no application %s", name)
	}
	releases, err := w.store.Releases(ctx, name, before, releasesShown+1)
	if err != nil {
		return err
	}
	history, err := w.store.History(ctx, promotion.HistoryFilter{Application: name, Limit: historyShown})
	if err != nil {
		return err
	}
	v := newApplicationView(facts, facts.rows[i], releases, history, w.now())
	return w.show(c, http.StatusOK, "application", page{Title: name, Body: v})
}

func newApplicationView(facts boardFacts, row promotion.BoardRow, releases []promotion.Release, history []promotion.HistoryEntry, now time.Time) applicationView {
	v := applicationView{Name: row.Application, HistoryURL: "/history?" + url.Values{"application": {row.Application}}.Encode(),
		History: each(history, func(e promotion.HistoryEntry) historyRow { return newHistoryRow(e, now) })}
	for _, c := range row.Cells {
		cell := facts.cellView(c, now)
		if cell.Problem != "" {
			v.Problems = append(v.Problems, cell)
		}
		e := environmentView{Name: cell.Environment, Runs: cell.Runs, Open: cell.Open, URL: cell.URL, Held: cell.Held, Paused: cell.Paused, Drifting: cell.Drifting, PauseURL: cell.PauseURL, Overrides: cell.Overrides, Owed: cell.Owed, Waiting: cell.Waiting, HoldURL: holdURL(row.Application, cell.Environment), Commit: shorten(c.DesiredSHA), Desired: releaseLink(0, ""),
			PromoteURL: "/promote?" + url.Values{"application": {row.Application}, "environment": {cell.Environment}}.Encode()}
		if c.Desired != nil {
			e.Desired = releaseLink(c.Desired.ID, c.Desired.Version)
		}
		v.Environments = append(v.Environments, e)
	}
	shown, last := cut(releases, releasesShown, func(r promotion.Release) int64 { return r.ID })
	v.OlderReleases = older("/applications/"+url.PathEscape(row.Application), url.Values{}, last)
	v.Releases = each(shown, func(r promotion.Release) releaseRow {
		return releaseRow{Link: releaseLink(r.ID, r.Version), Number: r.Number, Line: r.Line, Digests: each(references(r), shorten), Charts: chartsOf(r),
			At: at(r.CreatedAt, now), Remarks: remarks(r)}
	})
	return v
}

// remarks say what is special about a release.
func remarks(r promotion.Release) []string {
	var out []string
	if r.Origin == promotion.FromImport {
		out = append(out, "imported from what ran already: unproven")
	}
	if r.RebuildOf != 0 {
		out = append(out, "rebuild: this version was posted before with other digests")
	}
	for _, a := range r.Artifacts {
		if a.CarriedFrom != 0 {
			out = append(out, a.Name+" carried forward")
		}
	}
	for _, alias := range r.Aliases {
		out = append(out, fmt.Sprintf("also posted as %s", alias))
	}
	return out
}
