package policy

import (
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/window"
)

// Window implements promotion.Rules. The windows of the root's file and those of the application's must both be open, and for every
// cluster; so an application's allow windows only narrow. Where no cluster is known, it could be any of those that the windows
// tell apart, or another one.
func (r *rules) Window(t promotion.Target, clusters []string, at time.Time) promotion.WindowDecision {
	groups := r.groups(t, clusters)
	if len(groups) == 1 {
		return promotion.WindowDecision(window.Open(groups[0].windows, at))
	}
	d := decide(groups, at)
	if !d.Open && !d.Next.IsZero() {
		d.Next = nextOpen(groups, at)
	}
	return d
}

// decide is closed as the first group is that is closed, and otherwise open until the first group closes.
func decide(groups []group, at time.Time) promotion.WindowDecision {
	var open promotion.WindowDecision
	for i, g := range groups {
		d := promotion.WindowDecision(window.Open(g.windows, at))
		switch {
		case !d.Open:
			if d.By == "" {
				d.Reason += g.of
			}
			return d
		case i == 0:
			open = d
		default:
			if open.By == "" {
				open.By, open.Reason = d.By, d.Reason
			}
			if open.Next.IsZero() || !d.Next.IsZero() && d.Next.Before(open.Next) {
				open.Next = d.Next
			}
		}
	}
	return open
}

// farthest is how far ahead it is looked for a moment at which several lists of allow windows are open together: no two days
// of the calendar stay apart for longer, 29 February on a Sunday included.
const farthest = 41 * 366 * 24 * time.Hour

// nextOpen is the first moment after at when all groups are open; zero when there is none.
func nextOpen(groups []group, at time.Time) time.Time {
	at = at.UTC()
	const year = 366 * 24 * time.Hour
	for from, step := at, 8*24*time.Hour; from.Before(at.Add(farthest)); step = min(2*step, year) {
		to := from.Add(step)
		open := []window.Interval{{From: from, To: to}}
		for _, g := range groups {
			if len(open) > 0 {
				open = both(open, window.Intervals(g.windows, from, to))
			}
		}
		if len(open) > 0 {
			return open[0].From
		}
		from = to
	}
	return time.Time{}
}

// both is what two lists of intervals have in common. Each is in order and without overlaps.
func both(a, b []window.Interval) []window.Interval {
	var common []window.Interval
	for len(a) > 0 && len(b) > 0 {
		from, to := a[0].From, a[0].To
		if b[0].From.After(from) {
			from = b[0].From
		}
		if b[0].To.Before(to) {
			to = b[0].To
		}
		if from.Before(to) {
			common = append(common, window.Interval{From: from, To: to})
		}
		if a[0].To.Before(b[0].To) {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return common
}
