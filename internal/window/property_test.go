package window_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/window"
)

func randomPlans(r *rand.Rand) []plan {
	var plans []plan
	for range 1 + r.IntN(3) {
		kind := []window.Kind{window.Allow, window.Deny}[r.IntN(2)]
		plans = append(plans, randomPlan(r, kind, zones[r.IntN(len(zones))]))
	}
	return plans
}

func specs(plans []plan) []window.Spec {
	var all []window.Spec
	for _, p := range plans {
		all = append(all, p.spec)
	}
	return all
}

// randomInstant lies between 1975 and 2075, every other time close to a moment
// at which the zone's clock changes.
func randomInstant(r *rand.Rand, zone *time.Location) time.Time {
	t := time.Date(1975, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(100*366*24*60)) * time.Minute)
	if _, change := t.In(zone).ZoneBounds(); r.IntN(2) == 0 && !change.IsZero() {
		return change.UTC().Add(time.Duration(r.IntN(6*60)-3*60) * time.Minute)
	}
	return t
}

// TestAgreesWithTheWallClock compares with the plain reading of the rules at
// random instants.
func TestAgreesWithTheWallClock(t *testing.T) {
	t.Parallel()
	for i, zone := range zones {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 150 {
				kind := []window.Kind{window.Allow, window.Deny}[r.IntN(2)]
				p := randomPlan(r, kind, zone)
				x := randomInstant(r, p.zone)
				got := window.Open(compile(t, p.spec), x).Open
				if want := p.covers(x) == (kind == window.Allow); got != want {
					t.Fatalf("%+v at %s: open is %v, want %v", p.spec, x, got, want)
				}
			}
		})
	}
}

// TestDenyAlwaysWins adds a deny window to any others: where it covers, nothing
// is open; where it does not, the answer is what it was without it, except that
// a list of no windows is open.
func TestDenyAlwaysWins(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 0))
	covered := 0
	for range 2000 {
		others := specs(randomPlans(r))
		freeze := randomPlan(r, window.Deny, zones[r.IntN(len(zones))])
		x := randomInstant(r, freeze.zone)
		alone := window.Open(compile(t, freeze.spec), x)
		all := slices.Insert(slices.Clone(others), r.IntN(len(others)+1), freeze.spec)
		got := window.Open(compile(t, all...), x)
		want := alone.Open && window.Open(compile(t, others...), x).Open
		if got.Open != want {
			t.Fatalf("%+v at %s: open is %v, want %v", all, x, got.Open, want)
		}
		if !alone.Open {
			covered++
		}
	}
	if covered < 100 {
		t.Fatalf("only %d instants were covered by the deny window: the test shows nothing", covered)
	}
}

// TestOpenAgreesWithIntervals asks Open around every edge that Intervals gives,
// and at random instants between.
func TestOpenAgreesWithIntervals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 0))
	edges := 0
	for range 300 {
		plans := randomPlans(r)
		windows := compile(t, specs(plans)...)
		from := randomInstant(r, plans[0].zone)
		to := from.Add(20 * 24 * time.Hour)
		open := window.Intervals(windows, from, to)
		check := func(x time.Time) {
			if x.Before(from) || !x.Before(to) {
				return
			}
			want := slices.ContainsFunc(open, func(i window.Interval) bool { return !x.Before(i.From) && x.Before(i.To) })
			if got := window.Open(windows, x).Open; got != want {
				t.Fatalf("%+v at %s: open is %v, within an open interval is %v", specs(plans), x, got, want)
			}
		}
		for i, interval := range open {
			if !interval.From.Before(interval.To) || i > 0 && !open[i-1].To.Before(interval.From) {
				t.Fatalf("%+v: intervals are empty, touch or overlap: %v", specs(plans), open)
			}
			for _, edge := range []time.Time{interval.From, interval.To} {
				edges++
				for _, d := range []time.Duration{-time.Minute, -time.Second, -1, 0, 1, time.Second, time.Minute} {
					check(edge.Add(d))
				}
			}
		}
		for range 20 {
			check(from.Add(time.Duration(r.Int64N(int64(to.Sub(from))))))
		}
	}
	if edges < 1000 {
		t.Fatalf("only %d edges were looked at", edges)
	}
}

// TestNextIsWhereTheAnswerChanges: just before Next the answer still holds, at
// Next it does not, and nothing changes between.
func TestNextIsWhereTheAnswerChanges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 0))
	for range 2000 {
		plans := randomPlans(r)
		windows := compile(t, specs(plans)...)
		x := randomInstant(r, plans[0].zone)
		d := window.Open(windows, x)
		if d.Next.IsZero() {
			// Random windows never cover everything, so only deny and allow of one schedule could stay closed.
			if d.Open || len(window.Intervals(windows, x, x.AddDate(30, 0, 0))) > 0 {
				t.Fatalf("%+v at %s: no next change", specs(plans), x)
			}
			continue
		}
		if !d.Next.After(x) || window.Open(windows, d.Next.Add(-1)).Open != d.Open || window.Open(windows, d.Next).Open == d.Open {
			t.Fatalf("%+v at %s: open is %v, but nothing changes at %s", specs(plans), x, d.Open, d.Next)
		}
		between := window.Intervals(windows, x, d.Next)
		if d.Open && (len(between) != 1 || !between[0].From.Equal(x) || !between[0].To.Equal(d.Next)) || !d.Open && len(between) > 0 {
			t.Fatalf("%+v from %s to %s: open is %v, yet the open intervals are %v", specs(plans), x, d.Next, d.Open, between)
		}
	}
}
