package window

import (
	"sort"
	"strings"
	"time"
)

// reach is more than any zone's distance from UTC, and more than any jump of a
// clock: whatever happens to a naive time happens within reach of the instant
// that has the same figures in UTC.
const reach = 26 * time.Hour

// period is a stretch of time in which a zone keeps its distance from UTC.
type period struct {
	from, to time.Time
	offset   time.Duration
}

// clock turns naive local times of one zone into instants. Naive times are
// written as a time.Time in UTC. time.Date would not do: for a time that is
// skipped or occurs twice it does not say which instant it returns.
type clock []period

// newClock makes a clock for naive times from from to to.
func newClock(zone *time.Location, from, to time.Time) clock {
	var c clock
	for t := from.Add(-reach); !t.After(to.Add(reach)); {
		_, seconds := t.In(zone).Zone()
		_, end := t.In(zone).ZoneBounds()
		switch {
		case end.IsZero():
			end = to.Add(2 * reach)
		case !end.After(t):
			// On the last day of a leap year ZoneBounds may answer with an end that is past already.
			end = t.Add(time.Hour)
		}
		end = end.UTC()
		c = append(c, period{from: t, to: end, offset: time.Duration(seconds) * time.Second})
		t = end
	}
	return c
}

// instants returns the first and the last instant at which the clock shows the
// naive time. They differ where it occurs twice; where a jump skips it, both
// are the instant of the jump.
func (c clock) instants(naive time.Time) (first, last time.Time) {
	near := c[sort.Search(len(c), func(i int) bool { return c[i].to.After(naive.Add(-reach)) }):]
	var jump time.Time
	for i, p := range near {
		at := naive.Add(-p.offset)
		if p.from.After(naive.Add(reach)) {
			break
		}
		if at.Before(p.from) && jump.IsZero() && i > 0 && !naive.Add(-near[i-1].offset).Before(p.from) {
			jump = p.from
		}
		if at.Before(p.from) || !at.Before(p.to) {
			continue
		}
		if first.IsZero() {
			first = at
		}
		last = at
	}
	if first.IsZero() {
		return jump, jump
	}
	return first, last
}

// loadZone finds a zone by its IANA name.
func loadZone(name string) (*time.Location, string) {
	if name == "" {
		return nil, "timezone is missing; name one, such as Europe/Paris or UTC"
	}
	// These are in many systems' zone folders, yet name no place: the machine's
	// own zone, copies, and variants that count leap seconds.
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "Local", "localtime", "posixrules", "posix", "right":
		return nil, "timezone " + quote(name) + " is not an IANA name such as Europe/Paris"
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, "timezone " + quote(name) + " is unknown; use an IANA name such as Europe/Paris"
	}
	return zone, ""
}
