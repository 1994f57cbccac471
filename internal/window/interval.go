package window

import (
	"slices"
	"time"
)

// Interval covers the instants from From, included, to To, not included.
type Interval struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// union joins intervals that overlap or touch, in order.
func union(intervals []Interval) []Interval {
	slices.SortFunc(intervals, func(a, b Interval) int { return a.From.Compare(b.From) })
	var joined []Interval
	for _, next := range intervals {
		if n := len(joined); n > 0 && !next.From.After(joined[n-1].To) {
			joined[n-1].To = latest(joined[n-1].To, next.To)
			continue
		}
		joined = append(joined, next)
	}
	return joined
}

// subtract takes away from what holes cover. Both are unions.
func subtract(from, holes []Interval) []Interval {
	var rest []Interval
	for _, whole := range from {
		for len(holes) > 0 && !holes[0].To.After(whole.From) {
			holes = holes[1:]
		}
		start := whole.From
		for _, hole := range holes {
			if !hole.From.Before(whole.To) {
				break
			}
			if hole.From.After(start) {
				rest = append(rest, Interval{start, hole.From})
			}
			start = hole.To
		}
		if start.Before(whole.To) {
			rest = append(rest, Interval{start, whole.To})
		}
	}
	return rest
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
