package window_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/window"
)

// zones change their clocks in every way there is: by an hour, half an hour or
// two, at midnight, backwards in summer, by a whole day, or never.
var zones = []string{
	"UTC", "Etc/GMT+5", "Europe/Paris", "Europe/London", "Europe/Dublin", "Europe/Istanbul", "America/New_York",
	"America/Los_Angeles", "America/St_Johns", "America/Havana", "America/Sao_Paulo", "America/Santiago", "America/Asuncion",
	"America/Caracas", "Africa/Cairo", "Africa/Casablanca", "Africa/Juba", "Asia/Beirut", "Asia/Gaza", "Asia/Kathmandu",
	"Asia/Pyongyang", "Asia/Tehran", "Asia/Kolkata", "Antarctica/Troll", "Australia/Lord_Howe", "Australia/Adelaide",
	"Pacific/Apia", "Pacific/Auckland", "Pacific/Chatham", "Pacific/Kiritimati",
}

// plan is a random window of which the test knows the values, not the text.
type plan struct {
	spec                                   window.Spec
	minutes, hours, days, months, weekdays []int // weekdays and days: nil for *
	lasts                                  time.Duration
	zone                                   *time.Location
}

func randomPlan(r *rand.Rand, kind window.Kind, zone string) plan {
	p := plan{
		minutes: some(r, 0, 59, 1+r.IntN(2)),
		hours:   some(r, 0, 23, 1+r.IntN(3)),
		months:  some(r, 1, 12, 4+r.IntN(9)),
	}
	if r.IntN(2) == 0 {
		p.days = some(r, 1, 28, 1+r.IntN(10))
	}
	if r.IntN(2) == 0 {
		p.weekdays = some(r, 0, 6, 1+r.IntN(6))
	}
	if r.IntN(2) == 0 { // where most clocks change
		p.hours = some(r, 0, 3, 1+r.IntN(3))
	}
	p.lasts = []time.Duration{15 * time.Minute, 30 * time.Minute, time.Hour, 90 * time.Minute, 3 * time.Hour, 24 * time.Hour, 40 * time.Hour}[r.IntN(7)]
	p.zone, _ = time.LoadLocation(zone)
	p.spec = window.Spec{
		Name: fmt.Sprintf("%s-%d", kind, r.IntN(1000)), Kind: kind, Timezone: zone, Duration: p.lasts.String(),
		Schedule: strings.Join([]string{list(p.minutes), list(p.hours), list(p.days), list(p.months), list(p.weekdays)}, " "),
	}
	return p
}

func some(r *rand.Rand, low, high, n int) []int {
	var values []int
	for range n {
		values = append(values, low+r.IntN(high-low+1))
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func list(values []int) string {
	if values == nil {
		return "*"
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = strconv.Itoa(v)
	}
	return strings.Join(texts, ",")
}

// fires says whether the naive minute is a start, from the values alone.
func (p plan) fires(naive time.Time) bool {
	if !slices.Contains(p.minutes, naive.Minute()) || !slices.Contains(p.hours, naive.Hour()) || !slices.Contains(p.months, int(naive.Month())) {
		return false
	}
	day, weekday := slices.Contains(p.days, naive.Day()), slices.Contains(p.weekdays, int(naive.Weekday()))
	switch {
	case p.days == nil && p.weekdays == nil:
		return true
	case p.days == nil:
		return weekday
	case p.weekdays == nil:
		return day
	}
	return day || weekday
}

// covers reckons from the wall clock alone, minute by minute, with neither a
// zone's table nor the arithmetic of the package: a naive time becomes the first
// instant at which the clock has come to it; for the end of a deny window, the
// instant after which the clock stays past it.
func (p plan) covers(at time.Time) bool {
	const slack = 26 * time.Hour
	wall := at.In(p.zone)
	naive := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, time.UTC)
	for start := naive.Add(-p.lasts - slack); !start.After(naive.Add(slack)); start = start.Add(time.Minute) {
		if !p.fires(start) {
			continue
		}
		from, _ := p.reaches(start)
		first, last := p.reaches(start.Add(p.lasts))
		if p.spec.Kind == window.Deny {
			first = last
		}
		if !at.Before(from) && at.Before(first) {
			return true
		}
	}
	return false
}

// reaches looks at the wall clock minute by minute where it may jump, and goes
// by the offset elsewhere.
func (p plan) reaches(naive time.Time) (first, last time.Time) {
	shown := func(t time.Time) time.Time {
		_, offset := t.In(p.zone).Zone()
		return t.Add(time.Duration(offset) * time.Second)
	}
	low, high := naive.Add(-26*time.Hour), naive.Add(26*time.Hour)
	if shown(low).Sub(low) == shown(high).Sub(high) {
		at := naive.Add(-shown(low).Sub(low))
		return at, at
	}
	for t := low; t.Before(high); t = t.Add(time.Minute) {
		if reached := !shown(t).Before(naive); reached && first.IsZero() {
			first = t
		} else if !reached {
			last = t.Add(time.Minute)
		}
	}
	return first, last
}
