package web

import (
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// dayView is one day of one target.
type dayView struct {
	Name  string // for who does not see the column
	Text  string // when it is open
	Why   string // what closes it for the rest
	Short bool   // the text is for who cannot see the bar, and for the pointer
	Bars  []barView
}

// barView is a stretch of a day, in thousandths of it.
type barView struct {
	Class    string // open, closed or frozen
	X, Width int
}

func dayViews(t promotion.TargetWindows, s span, days []time.Time) []dayView {
	views := make([]dayView, len(days))
	for i, day := range days {
		end := day.AddDate(0, 0, 1)
		v := dayView{Name: day.Format(s.dayForm()), Short: s.month}
		open, closed := within(t.Open, day, end), within(t.Closed, day, end)
		for _, c := range closed {
			class := "closed"
			if frozen(c) {
				class = "frozen"
			}
			v.Bars = append(v.Bars, newBar(class, c, day, end))
		}
		for _, o := range open {
			v.Bars = append(v.Bars, newBar("open", o, day, end))
		}
		v.Text, v.Why = openText(open, closed, day, end), reasons(closed)
		views[i] = v
	}
	return views
}

// within is what of the intervals lies in a day. Those that follow each other at once are one.
func within(intervals []promotion.Interval, from, to time.Time) []promotion.Interval {
	var inside []promotion.Interval
	for _, i := range intervals {
		if !i.From.Before(to) || !from.Before(i.To) {
			continue
		}
		i.From, i.To = latest(i.From, from), earliest(i.To, to)
		if n := len(inside); n > 0 && inside[n-1].To.Equal(i.From) && inside[n-1].Reason == i.Reason {
			inside[n-1].To = i.To
			continue
		}
		inside = append(inside, i)
	}
	return inside
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// newBar places an interval on its day, which may have 23 or 25 hours.
func newBar(class string, i promotion.Interval, day, end time.Time) barView {
	place := func(t time.Time) int { return int(1000 * t.Sub(day) / end.Sub(day)) }
	return barView{Class: class, X: place(i.From), Width: max(place(i.To)-place(i.From), 1)}
}

func frozen(i promotion.Interval) bool {
	return strings.HasPrefix(i.By, string(promotion.KindFreeze)+" ")
}

func openText(open, closed []promotion.Interval, day, end time.Time) string {
	switch {
	case len(open) == 0 && slices.ContainsFunc(closed, frozen):
		return "frozen"
	case len(open) == 0:
		return "closed"
	case len(open) == 1 && open[0].From.Equal(day) && open[0].To.Equal(end):
		return "open all day"
	}
	return strings.Join(each(open, func(i promotion.Interval) string {
		to := i.To.In(day.Location()).Format("15:04")
		if i.To.Equal(end) {
			to = "24:00"
		}
		return i.From.In(day.Location()).Format("15:04") + "–" + to
	}), ", ")
}
