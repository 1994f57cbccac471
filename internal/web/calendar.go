package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

type calendarView struct {
	Application, Environment, View, Zone string
	Zones, Views                         []option
	ZoneProblem, FromProblem             string
	From, Said                           string
	Previous, Next, Today                string // addresses
	Days                                 []string
	Groups                               []calendarGroup
	Empty                                string
	Freezes                              []freezeRow
	MayEnd                               bool
	Now                                  string
}

// calendarGroup is the targets of one application.
type calendarGroup struct {
	Application string
	Rows        []calendarRow
}

type calendarRow struct {
	Environment string
	URL         string
	Now         mark
	Why, Change string // what decides now, and when the answer changes
	Throughout  string // said once, when nothing changes in the range
	Tone        string
	Days        []dayView
	Beside      []besideView
}

// span is the days that are shown, from midnight to midnight on the clocks of a zone.
type span struct {
	from, to time.Time
	month    bool
}

// spanOf is the week or the month that a day lies in.
func spanOf(day time.Time, month bool) span {
	y, m, d := day.Date()
	if month {
		first := time.Date(y, m, 1, 0, 0, 0, 0, day.Location())
		return span{first, first.AddDate(0, 1, 0), true}
	}
	monday := time.Date(y, m, d-(int(day.Weekday())+6)%7, 0, 0, 0, 0, day.Location())
	return span{monday, monday.AddDate(0, 0, 7), false}
}

func (s span) days() []time.Time {
	var days []time.Time
	for day := s.from; day.Before(s.to); day = day.AddDate(0, 0, 1) {
		days = append(days, day)
	}
	return days
}

// dayForm is how a day is called among the others.
func (s span) dayForm() string {
	if s.month {
		return "2"
	}
	return "Mon 2 Jan"
}

func (s span) said() string {
	if s.month {
		return s.from.Format("January 2006")
	}
	return s.from.Format("2 Jan") + " to " + s.to.AddDate(0, 0, -1).Format("2 Jan 2006")
}

func (w *Web) showCalendar(c echo.Context) error {
	ctx := c.Request().Context()
	zone, err := w.chooseZone(ctx, c.QueryParam("zone"))
	if err != nil {
		return err
	}
	v := calendarView{Application: c.QueryParam("application"), Environment: c.QueryParam("environment"), View: "week", From: c.QueryParam("from"),
		Zone: zone.Name(), Zones: zone.Options, ZoneProblem: zone.Problem, MayEnd: mayNot(c, "", managers) == ""}
	if c.QueryParam("view") == "month" {
		v.View = "month"
	}
	v.Views = []option{{Value: "week", Text: "Week", Chosen: v.View == "week"}, {Value: "month", Text: "Month", Chosen: v.View == "month"}}
	day := w.now().In(zone.place)
	if v.From != "" {
		asked, err := time.ParseInLocation(time.DateOnly, v.From, zone.place)
		if err != nil || asked.Year() < 2000 || asked.Year() > 2200 {
			v.FromProblem = fmt.Sprintf("%q is no day: write one such as 2026-03-01", v.From)
		} else {
			day = asked
		}
	}
	status := http.StatusOK
	if v.ZoneProblem != "" || v.FromProblem != "" {
		status = http.StatusUnprocessableEntity
	}
	if err := w.fillCalendar(ctx, &v, spanOf(day, v.View == "month"), zone); err != nil {
		return err
	}
	return w.show(c, status, "calendar", page{Title: "Calendar", Body: v})
}

func (w *Web) fillCalendar(ctx context.Context, v *calendarView, s span, zone zoneChoice) error {
	all, err := w.useCases.Windows(ctx, s.from, s.to)
	if err != nil {
		return err
	}
	days := s.days()
	v.Days = each(days, func(d time.Time) string { return d.Format(s.dayForm()) })
	for _, t := range all {
		if !matches(v.Application, t.Target.Application) || !matches(v.Environment, t.Target.Environment) {
			continue
		}
		row := newCalendarRow(t, s, days, zone)
		i := slices.IndexFunc(v.Groups, func(g calendarGroup) bool { return g.Application == t.Target.Application })
		if i < 0 {
			i, v.Groups = len(v.Groups), append(v.Groups, calendarGroup{Application: t.Target.Application})
		}
		v.Groups[i].Rows = append(v.Groups[i].Rows, row)
	}
	v.Empty = "No target has this name."
	if len(all) == 0 {
		v.Empty = "No config repository has an application yet."
	}
	v.Said, v.Now = s.said(), zone.clock(w.now())
	v.Previous, v.Next, v.Today = v.address(s.from.AddDate(0, 0, -1)), v.address(s.to), v.address(time.Time{})
	freezes, err := w.store.Freezes(ctx, w.now())
	if err != nil {
		return err
	}
	v.Freezes = each(freezes, func(f promotion.Freeze) freezeRow { return newFreezeRow(f, zone, w.now()) })
	return nil
}

// matches tells whether a name has a part; every name has an empty one.
func matches(part, name string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(strings.TrimSpace(part)))
}

// address is the calendar of another time.
func (v calendarView) address(day time.Time) string {
	q := url.Values{"view": {v.View}, "zone": {v.Zone}}
	if v.Application != "" {
		q.Set("application", v.Application)
	}
	if v.Environment != "" {
		q.Set("environment", v.Environment)
	}
	if !day.IsZero() {
		q.Set("from", day.Format(time.DateOnly))
	}
	return "/calendar?" + q.Encode()
}

func newCalendarRow(t promotion.TargetWindows, s span, days []time.Time, zone zoneChoice) calendarRow {
	row := calendarRow{Beside: each(t.Beside, func(d promotion.DeploymentWindows) besideView { return newBesideView(d, zone) }), Environment: t.Target.Environment, URL: targetURL(t.Target.Application, t.Target.Environment), Why: t.Now.Reason,
		Now: mark{Shape: "stop", Tone: "warn", Word: "closed"}, Change: "does not open again"}
	if t.Now.Open {
		row.Now, row.Change = mark{Shape: "check", Tone: "good", Word: "open"}, "stays open"
	}
	switch next := zone.clock(t.Now.Next); {
	case next != "" && t.Now.Open:
		row.Change = "closes " + next
	case next != "":
		row.Change = "opens " + next
	}
	switch {
	case len(t.Closed) == 0:
		row.Throughout, row.Tone = "open throughout", "good"
	case len(t.Open) == 0:
		row.Throughout, row.Tone = "closed throughout: "+reasons(t.Closed), "warn"
	default:
		row.Days = dayViews(t, s, days)
	}
	return row
}

// reasons are those of intervals, each once.
func reasons(intervals []promotion.Interval) string {
	var all []string
	for _, i := range intervals {
		if !slices.Contains(all, i.Reason) {
			all = append(all, i.Reason)
		}
	}
	return strings.Join(all, "; ")
}

// Columns is how many columns the table has.
func (v calendarView) Columns() int { return len(v.Days) + 2 }
