package web_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestHistoryExportAsksTheAPIForTheSame(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/history": "/api/v1/history?",
		"/history?application=checkout&environment=&at=2026-03-01+02:30":                    "/api/v1/history?application=checkout&amp;at=2026-03-01T02%3A30%3A00Z",
		"/history?environment=dev&at=" + url.QueryEscape("2026-03-01T02:30:00+01:00"):       "/api/v1/history?at=2026-03-01T01%3A30%3A00Z&amp;environment=dev",
		"/history?application=" + url.QueryEscape("a&limit=1") + "&environment=&before=100": "/api/v1/history?application=a%26limit%3D1",
	} {
		if body := newDoor(t, true).get(vera, target).Body.String(); !strings.Contains(body, `<a id="export" href="`+want+`">`) {
			t.Errorf("GET %s does not lead to %s:\n%s", target, want, body)
		}
	}
}

func TestPullRequestLeadsToTheMergeOfItsPromotion(t *testing.T) {
	t.Parallel()
	const form = `<form method="post" action="/promotions/12/merge">`
	for _, tt := range []struct {
		name, as string
		change   func(*door)
		want     bool
	}{
		{"may merge", amir, nil, true},
		{"viewer", vera, nil, false},
		{"nobody", "", nil, false},
		{"merged already", amir, func(d *door) { d.pull.State = "merged" }, false},
		{"a person's own", amir, func(d *door) { d.pull.Branch = "more-memory" }, false},
	} {
		d := newDoor(t, true)
		if tt.change != nil {
			tt.change(d)
		}
		if got := strings.Contains(d.get(tt.as, "/git/platform-config/pulls/7").Body.String(), form); got != tt.want {
			t.Errorf("%s: the page offers the merge: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestReleaseSaysWhereItIsAndWas(t *testing.T) {
	t.Parallel()
	body := newDoor(t, true).get(vera, "/releases/3").Body.String()
	_, now, _ := strings.Cut(body, `id="runs"`)
	now, before, ok := strings.Cut(now, `id="ran"`)
	if !ok || !strings.Contains(now, "<strong>staging</strong>") || strings.Contains(now, "prod-us") {
		t.Errorf("where it runs is not right:\n%s", now)
	}
	if !strings.Contains(before, "dev-2") || strings.Contains(before, "no known release") {
		t.Errorf("where it ran is not right:\n%s", before)
	}
}
