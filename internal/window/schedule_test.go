package window_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/window"
)

func compile(t *testing.T, specs ...window.Spec) []window.Window {
	t.Helper()
	windows, err := window.Compile(specs)
	if err != nil {
		t.Fatal(err)
	}
	return windows
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	instant, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant
}

// TestScheduleForms pins the forms that the specification decides in words.
func TestScheduleForms(t *testing.T) {
	t.Parallel()
	starts := func(schedule string) []string {
		w := compile(t, window.Spec{Name: "w", Kind: window.Deny, Schedule: schedule, Duration: "1m", Timezone: "UTC"})[0]
		var got []string
		for _, o := range window.Occurrences(w, at(t, "2026-06-01T00:00:00Z"), at(t, "2026-06-09T00:00:00Z")) {
			got = append(got, o.From.Format("Mon 02 15:04"))
		}
		return got
	}
	for _, c := range []struct {
		schedule string
		want     []string
	}{
		{"0 9 * * 5/2", []string{"Fri 05 09:00"}},
		{"0 9 * * FRI-SUN", []string{"Fri 05 09:00", "Sat 06 09:00", "Sun 07 09:00"}},
		{"0 9 * * sat-7/1", []string{"Sat 06 09:00", "Sun 07 09:00"}},
		{"0 9 * * SUN-SUN", []string{"Sun 07 09:00"}},
		{"0 9 * * SUN-MON", []string{"Mon 01 09:00", "Sun 07 09:00", "Mon 08 09:00"}},
		{"0 9 * * 7-SUN", []string{"Sun 07 09:00"}},
		{"0 9 * * */7", []string{"Sun 07 09:00"}},
		{"0 9 */99999999999999999999 * *", []string{"Mon 01 09:00"}},
		{"0 9 1,* * 3", []string{"Mon 01 09:00", "Tue 02 09:00", "Wed 03 09:00", "Thu 04 09:00", "Fri 05 09:00", "Sat 06 09:00", "Sun 07 09:00", "Mon 08 09:00"}},
		{"0 9 */2 * 5", []string{"Fri 05 09:00"}},
		{"00 008 4 jUn *", []string{"Thu 04 08:00"}},
		{"5/25,7 9 1 6 *", []string{"Mon 01 09:05", "Mon 01 09:07", "Mon 01 09:30", "Mon 01 09:55"}},
	} {
		t.Run(c.schedule, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, starts(c.schedule)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadSchedules(t *testing.T) {
	t.Parallel()
	for _, schedule := range []string{
		"", "* * * *", "* * * * * *", "@yearly", "@every 1h", "TZ=UTC * * * * *", "CRON_TZ=UTC * * * * *",
		"? * * * *", "+5 * * * *", "-5 * * * *", "5- * * * *", "-5 * * * *", "1-2-3 * * * *", "*-5 * * * *", "5-* * * * *",
		"*/ * * * *", "*/-1 * * * *", "*/+1 * * * *", "*/1/1 * * * *", "/5 * * * *", "1/00 * * * *", "**  * * * *", "*5 * * * *",
		"1,,2 * * * *", "1, * * * *", ",1 * * * *", "JAN * * * *", "* MON * * *", "* * MON * *", "* * * MON *", "* * * * JAN",
		"* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *", "* * * * 8", "* * * * 7/2", "* * * * 7-1", "* * * * SAT-MON",
		"* * L * *", "* * 15W * *", "* * * * 5#2", "* * * * 5L", "* * * * MONDAY", "0x5 * * * *", "1e1 * * * *", "٣ * * * *",
		"99999999999999999999 * * * *", "0\n9 * * *", "0 9 * * *\n", "0\u00a09 * * * *", "H * * * *", "1.5 * * * *", "*/JAN * * * *",
	} {
		t.Run(schedule, func(t *testing.T) {
			t.Parallel()
			_, err := window.Compile([]window.Spec{{Name: "w", Kind: window.Deny, Schedule: schedule, Duration: "1h", Timezone: "UTC"}})
			var faults window.Errors
			if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != window.BadSchedule {
				t.Errorf("got %v, want %s", err, window.BadSchedule)
			}
		})
	}
}

func TestTimezonesThatAreNoPlaces(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"", "Local", "localtime", "posixrules", "right/Europe/Paris", "posix/UTC", "../UTC", "/etc/localtime", "Europe", "+02:00", "Europe/Paris "} {
		_, err := window.Compile([]window.Spec{{Name: "w", Kind: window.Deny, Schedule: "* * * * *", Duration: "1h", Timezone: zone}})
		var faults window.Errors
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != window.BadTimezone {
			t.Errorf("%q: got %v, want %s", zone, err, window.BadTimezone)
		}
	}
}
