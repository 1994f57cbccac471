package window_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/window"
)

func spec(name string, kind window.Kind, schedule, duration string) window.Spec {
	return window.Spec{Name: name, Kind: kind, Schedule: schedule, Duration: duration, Timezone: "UTC"}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	night := spec("night", window.Deny, "0 22 * * *", "8h")
	hours := spec("hours", window.Allow, "0 9 * * *", "8h")
	for name, c := range map[string]struct {
		windows []window.Spec
		at      string
		want    window.Decision
	}{
		"no windows": {nil, "2026-06-01T12:00:00Z",
			window.Decision{Open: true, Reason: "there are no sync windows"}},
		"outside the only deny": {[]window.Spec{night}, "2026-06-01T12:00:00Z",
			window.Decision{Open: true, Reason: "no deny window is active", Next: at(t, "2026-06-01T22:00:00Z")}},
		"within deny": {[]window.Spec{hours, night}, "2026-06-01T23:00:00Z",
			window.Decision{By: "night", Reason: `deny window "night" is active`, Next: at(t, "2026-06-02T09:00:00Z")}},
		"within allow": {[]window.Spec{hours, night}, "2026-06-01T09:00:00Z",
			window.Decision{Open: true, By: "hours", Reason: `allow window "hours" is active`, Next: at(t, "2026-06-01T17:00:00Z")}},
		"outside allow": {[]window.Spec{hours, night}, "2026-06-01T17:00:00Z",
			window.Decision{Reason: "no allow window is active", Next: at(t, "2026-06-02T09:00:00Z")}},
		"the first deny is named": {[]window.Spec{hours, night, spec("other", window.Deny, "0 0 * * *", "24h")}, "2026-06-01T23:00:00Z",
			window.Decision{By: "night", Reason: `deny window "night" is active`}},
		"closed for ever": {[]window.Spec{hours, spec("never", window.Deny, "* * * * *", "1m")}, "2026-06-01T12:00:00Z",
			window.Decision{By: "never", Reason: `deny window "never" is active`}},
		"open for ever": {[]window.Spec{spec("daily", window.Allow, "0 0 * * *", "24h")}, "2026-03-29T01:00:00Z",
			window.Decision{Open: true, By: "daily", Reason: `allow window "daily" is active`}},
		"one minute of 24 hours is missing": {[]window.Spec{spec("daily", window.Allow, "0 0 * * *", "23h59m")}, "2026-03-29T01:00:00Z",
			window.Decision{Open: true, By: "daily", Reason: `allow window "daily" is active`, Next: at(t, "2026-03-29T23:59:00Z")}},
		"two windows fill the day together": {[]window.Spec{spec("a", window.Deny, "0 0 * * *", "12h"), spec("b", window.Deny, "0 12 * * *", "12h")}, "2026-03-29T01:00:00Z",
			window.Decision{By: "a", Reason: `deny window "a" is active`}},
		"a Sunday 29 February, 28 years apart": {[]window.Spec{spec("leap", window.Allow, "0 9 29 2 */7", "1h")}, "2032-03-01T00:00:00Z",
			window.Decision{Reason: "no allow window is active", Next: at(t, "2060-02-29T09:00:00Z")}},
		"and 40 years apart around 2100": {[]window.Spec{spec("leap", window.Allow, "0 9 29 2 */7", "1h")}, "2088-03-01T00:00:00Z",
			window.Decision{Reason: "no allow window is active", Next: at(t, "2128-02-29T09:00:00Z")}},
		"seconds in a duration": {[]window.Spec{spec("short", window.Deny, "0 9 * * *", "1.5s")}, "2026-06-01T09:00:01Z",
			window.Decision{By: "short", Reason: `deny window "short" is active`, Next: at(t, "2026-06-01T09:00:01.5Z")}},
		"an instant of another zone": {[]window.Spec{night}, "2026-06-01T23:59:59+02:00",
			window.Decision{Open: true, Reason: "no deny window is active", Next: at(t, "2026-06-01T22:00:00Z")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := window.Open(compile(t, c.windows...), at(t, c.at))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOccurrences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec window.Spec
		want [][2]string
	}{
		"touching ones stay apart, clipped": {spec("daily", window.Deny, "0 12 * * *", "24h"), [][2]string{
			{"2026-06-01T00:00:00Z", "2026-06-01T12:00:00Z"}, {"2026-06-01T12:00:00Z", "2026-06-02T12:00:00Z"}, {"2026-06-02T12:00:00Z", "2026-06-03T00:00:00Z"}}},
		"overlapping ones are one": {spec("hourly", window.Deny, "0 9-11 1 * *", "90m"), [][2]string{
			{"2026-06-01T09:00:00Z", "2026-06-01T12:30:00Z"}}},
		"begun 31 days earlier": {spec("long", window.Deny, "1 0 1 5 *", "744h"), [][2]string{
			{"2026-06-01T00:00:00Z", "2026-06-01T00:01:00Z"}}},
		"none": {spec("none", window.Deny, "0 0 3 6 *", "1h"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [][2]string
			for _, o := range window.Occurrences(compile(t, c.spec)[0], at(t, "2026-06-01T00:00:00Z"), at(t, "2026-06-03T00:00:00Z")) {
				got = append(got, [2]string{o.From.Format(time.RFC3339), o.To.Format(time.RFC3339)})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestFarNext crosses many years of rules that a zone's table no longer lists.
func TestFarNext(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{
		"Europe/Paris":        "2128-02-29T08:00:00Z",
		"Pacific/Auckland":    "2128-02-28T20:00:00Z",
		"Australia/Lord_Howe": "2128-02-28T22:00:00Z",
		"America/New_York":    "2128-02-29T14:00:00Z",
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			leap := spec("leap", window.Allow, "0 9 29 2 */7", "1h")
			leap.Timezone = zone
			if got := window.Open(compile(t, leap), at(t, "2088-03-01T00:00:00Z")).Next; !got.Equal(at(t, want)) {
				t.Errorf("next is %s, want %s", got, want)
			}
		})
	}
}

func TestEmptyRange(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-06-01T00:00:00Z")
	for _, windows := range [][]window.Window{nil, compile(t, spec("w", window.Allow, "0 0 * * *", "1h"))} {
		if got := window.Intervals(windows, now, now); len(got) > 0 {
			t.Errorf("from now to now: %v", got)
		}
		if got := window.Intervals(windows, now, now.Add(-time.Hour)); len(got) > 0 {
			t.Errorf("backwards: %v", got)
		}
	}
}

// Windows that are never open, or always, although each of them comes every few minutes.
func TestLookingAheadEnds(t *testing.T) {
	t.Parallel()
	windows, err := window.Compile([]window.Spec{
		{Name: "often", Kind: window.Allow, Schedule: "*/5 * * * *", Duration: "2m", Timezone: "Europe/Paris"},
		{Name: "never", Kind: window.Deny, Schedule: "*/5 * * * *", Duration: "4m", Timezone: "Europe/Paris"},
	})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	d := window.Open(windows, at)
	if d.Open || d.Next.Before(at.AddDate(1, 0, 0)) {
		t.Errorf("the decision is %+v", d)
	}
}
