package window

import "time"

// Occurrences lists when the window is active between from and to, in order and
// clipped to that range, in UTC. Occurrences that overlap are one; those that only
// touch stay apart.
func Occurrences(w Window, from, to time.Time) []Interval {
	from, to = from.UTC(), to.UTC()
	firstStart, lastStart := from.Add(-w.lasts-reach), to.Add(reach)
	c := newClock(w.zone, firstStart, lastStart.Add(w.lasts))
	var found []Interval
	day := time.Date(firstStart.Year(), firstStart.Month(), firstStart.Day(), 0, 0, 0, 0, time.UTC)
	for ; !day.After(lastStart); day = day.AddDate(0, 0, 1) {
		if !w.starts.matches(day) {
			continue
		}
		for _, at := range w.starts.times {
			o := w.occurrence(c, day.Add(at))
			o = Interval{latest(o.From, from), earliest(o.To, to)}
			if !o.From.Before(o.To) {
				continue
			}
			// Starts and ends come in order: only the one before can overlap.
			if n := len(found); n > 0 && o.From.Before(found[n-1].To) {
				found[n-1].To = o.To
				continue
			}
			found = append(found, o)
		}
	}
	return found
}

// occurrence is the one with this naive start. Its end may not be after its
// start, where a clock jumps over it: it is none then.
func (w Window) occurrence(c clock, naive time.Time) Interval {
	from, _ := c.instants(naive)
	first, last := c.instants(naive.Add(w.lasts))
	if w.Kind == Deny {
		return Interval{from, last}
	}
	return Interval{from, first}
}
