package web_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestCalendarAsksForWholeDaysOfTheZone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		query    string
		from, to time.Time
	}{
		{"", time.Date(2026, 2, 23, 0, 0, 0, 0, berlin), time.Date(2026, 3, 2, 0, 0, 0, 0, berlin)},
		{"?zone=UTC", time.Date(2026, 2, 23, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)},
		{"?from=2026-03-29", time.Date(2026, 3, 23, 0, 0, 0, 0, berlin), time.Date(2026, 3, 30, 0, 0, 0, 0, berlin)}, // 167 hours
		{"?view=month&from=2026-10-31", time.Date(2026, 10, 1, 0, 0, 0, 0, berlin), time.Date(2026, 11, 1, 0, 0, 0, 0, berlin)},
	} {
		d := newDoor(t, true)
		d.get(vera, "/calendar"+tt.query)
		asked := d.asked.([]any)
		if from, to := asked[1].(time.Time), asked[2].(time.Time); !from.Equal(tt.from) || !to.Equal(tt.to) {
			t.Errorf("/calendar%s asked for %v to %v, want %v to %v", tt.query, from, to, tt.from, tt.to)
		}
	}
}

func TestCalendarDays(t *testing.T) {
	t.Parallel()
	day := func(hour, minute int) time.Time { return time.Date(2026, 3, 29, hour, minute, 0, 0, berlin) } // 23 hours long
	monday := time.Date(2026, 3, 23, 0, 0, 0, 0, berlin)
	end := monday.AddDate(0, 0, 7)
	d := newDoor(t, true)
	d.windows = []promotion.TargetWindows{{Target: target(3, "checkout", "prod-eu", 50),
		Closed: []promotion.Interval{{From: monday, To: day(1, 0), Reason: "closed"}, {From: day(4, 0), To: day(23, 0), By: "freeze 4", Reason: "frozen"}},
		Open:   []promotion.Interval{{From: day(1, 0), To: day(4, 0)}, {From: day(23, 0), To: end}}}}
	body := d.get(vera, "/calendar?from=2026-03-29").Body.String()
	_, sunday, _ := strings.Cut(body, "Sun 29 Mar </span>")
	sunday, _, _ = strings.Cut(sunday, "</td>")
	for _, want := range []string{`01:00–04:00, 23:00–24:00`, `<rect class="closed" x="0" width="43" height="10"/>`, `<rect class="open" x="43" width="87" height="10"/>`,
		`<rect class="frozen" x="130" width="826" height="10"/>`} {
		if !strings.Contains(sunday, want) {
			t.Errorf("the day on which clocks go forward lacks %q:\n%s", want, sunday)
		}
	}
	if _, friday, _ := strings.Cut(body, "Fri 27 Mar </span>"); !strings.Contains(friday[:300], `<span class="times">closed</span>`) {
		t.Errorf("a closed day does not say so:\n%s", friday)
	}
}

func TestCalendarFilters(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"":                                      {"/applications/checkout/dev", "/applications/checkout/prod-eu", "/applications/search/prod-eu"},
		"?application=SEAR":                     {"/applications/search/prod-eu"},
		"?environment=prod-eu":                  {"/applications/checkout/prod-eu", "/applications/search/prod-eu"},
		"?application=checkout&environment=dev": {"/applications/checkout/dev"},
		"?application=none":                     nil,
	} {
		body := newDoor(t, true).get(vera, "/calendar"+query).Body.String()
		var got []string
		for _, row := range []string{"/applications/checkout/dev", "/applications/checkout/prod-eu", "/applications/search/prod-eu"} {
			if strings.Contains(body, `<th scope="row"><a href="`+row+`">`) {
				got = append(got, row)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("/calendar%s shows %v, want %v", query, got, want)
		}
	}
}
