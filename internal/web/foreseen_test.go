package web_test

import (
	"net/url"
	"strings"
	"testing"
)

func TestForeseen(t *testing.T) {
	t.Parallel()
	const nothing = "Nothing is known to stand in the way."
	for _, tt := range []struct{ environment, release, want string }{
		{"prod-eu", "3", "promotion 12 carries it there already"},
		{"prod-eu", "2", "promotion 12 is open there with 1.2.0"},
		{"prod-eu", "2", "1.1.0 is not verified in staging"},
		{"prod-us", "2", "main already has 1.1.0 in prod-us"},
		{"prod-us", "3", nothing},
		{"staging", "1", "registry.example.com/shop/checkout:1.0.0 is named by a tag"},
		{"dev", "2", nothing},
		{"nowhere", "2", ""},
		{"staging", "99", ""},
	} {
		query := url.Values{"application": {"checkout"}, "environment": {tt.environment}, "release": {tt.release}}
		body := newDoor(t, true).get(rita, "/promote?"+query.Encode()).Body.String()
		_, shown, ok := strings.Cut(body, `id="foreseen"`)
		if ok != (tt.want != "") || !strings.Contains(shown, tt.want) {
			t.Errorf("release %s to %s: what stands in the way lacks %q:\n%s", tt.release, tt.environment, tt.want, shown)
		}
		if tt.want != nothing && strings.Contains(shown, nothing) {
			t.Errorf("release %s to %s: nothing is said to stand in the way", tt.release, tt.environment)
		}
	}
}

func TestForeseenRenderProblem(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.rows[1].Cells[3].Target.RenderProblem = "base/cron.yaml does not exist"
	if body := d.get(rita, "/promote?application=checkout&environment=prod-us&release=3").Body.String(); !strings.Contains(body, "prod-us does not render on main: base/cron.yaml does not exist") {
		t.Errorf("that main does not render is not said:\n%s", body)
	}
}
