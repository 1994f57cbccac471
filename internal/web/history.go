package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// pageLength is how many rows a page of history or audit has.
const pageLength = 50

type historyView struct {
	Application, Environment, At string
	Problem                      string // with At
	Said                         string // what the list is, in words
	Rows                         []historyRow
	Older                        string
	Export                       string // the same list, of the API
}

type historyRow struct {
	Application, Environment, Cluster string
	Release                           link
	Number                            int
	Digest                            shortened
	Sync, Health                      mark
	Message                           string
	From, To                          moment
	Promotion                         link
	People                            string
}

func newHistoryRow(e promotion.HistoryEntry, now time.Time) historyRow {
	v := historyRow{Application: e.Application, Environment: e.Environment, Cluster: e.Cluster, Release: running(e.ReleaseID, e.Version, e.Health),
		Number: e.Number, Digest: shortenAll(e.Images), Sync: syncMark(e.Sync), Health: healthMark(e.Health), Message: e.Message,
		From: at(e.From, now), To: at(e.To, now), Promotion: promotionLink(e.PromotionID)}
	var people []string
	if e.RequestedBy != "" {
		people = append(people, "asked for by "+e.RequestedBy)
	}
	if len(e.ApprovedBy) > 0 {
		people = append(people, "approved by "+strings.Join(e.ApprovedBy, ", "))
	}
	if e.MergedBy != "" {
		people = append(people, "merged by "+e.MergedBy)
	}
	v.People = strings.Join(people, "; ")
	return v
}

func (w *Web) showHistory(c echo.Context) error {
	before, err := readBefore(c)
	if err != nil {
		return err
	}
	v := historyView{Application: c.QueryParam("application"), Environment: c.QueryParam("environment"), At: c.QueryParam("at"),
		Said: "What was seen to run, newest first."}
	when, err := parseMoment(v.At)
	if err != nil {
		v.Problem = err.Error()
		return w.show(c, http.StatusUnprocessableEntity, "history", page{Title: "History", Body: v})
	}
	if !when.IsZero() {
		v.Said = "What ran at " + when.UTC().Format("2006-01-02 15:04:05 UTC") + "."
	}
	found, err := w.store.History(c.Request().Context(), promotion.HistoryFilter{Application: v.Application, Environment: v.Environment,
		At: when, Before: before, Limit: pageLength + 1})
	if err != nil {
		return err
	}
	shown, last := cut(found, pageLength, func(e promotion.HistoryEntry) int64 { return e.ID })
	v.Rows = each(shown, func(e promotion.HistoryEntry) historyRow { return newHistoryRow(e, w.now()) })
	v.Older = older("/history", url.Values{"application": {v.Application}, "environment": {v.Environment}, "at": {v.At}}, last)
	v.Export = exportURL(v, when)
	return w.show(c, http.StatusOK, "history", page{Title: "History", Body: v})
}

func exportURL(v historyView, when time.Time) string {
	query := url.Values{}
	if v.Application != "" {
		query.Set("application", v.Application)
	}
	if v.Environment != "" {
		query.Set("environment", v.Environment)
	}
	if !when.IsZero() {
		query.Set("at", when.UTC().Format(time.RFC3339))
	}
	return "/api/v1/history?" + query.Encode()
}

// parseMoment reads a time as people write one; without a zone it is in UTC. Zero for an empty text.
func parseMoment(text string) (time.Time, error) {
	text = strings.TrimSuffix(strings.TrimSpace(text), " UTC")
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write one such as 2026-03-01 02:30, in UTC, or 2026-03-01T02:30:00+01:00", text)
}
