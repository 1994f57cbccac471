package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestPlanIsAskedForWhatIsChosen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		environment, release, at string
		want                     any
		says                     string
	}{
		{"prod-us", "3", "", promotion.PlanRequest{Application: "checkout", Environment: "prod-us", Release: "3"}, "if it were asked for now"},
		{"prod-us", "3", "2026-03-02 09:30", promotion.PlanRequest{Application: "checkout", Environment: "prod-us", Release: "3",
			At: time.Date(2026, 3, 2, 9, 30, 0, 0, time.UTC)}, "as of 2026-03-02 09:30 UTC"},
		{"prod-us", "3", "soon", nil, `id="at-problem" role="alert">&#34;soon&#34; is no time`},
		{"nowhere", "3", "", nil, ""},
		{"prod-us", "99", "", nil, ""},
	} {
		d := newDoor(t, true)
		query := url.Values{"application": {"checkout"}, "environment": {tt.environment}, "release": {tt.release}, "at": {tt.at}}
		body := d.get(rita, "/promote?"+query.Encode()).Body.String()
		if d.asked != tt.want {
			t.Errorf("%v asked for %+v, want %+v", query, d.asked, tt.want)
		}
		if !strings.Contains(body, tt.says) || strings.Contains(body, `id="plan"`) != (tt.want != nil) {
			t.Errorf("%v: the page lacks %q, or shows a plan that nobody made:\n%s", query, tt.says, body)
		}
	}
}

func TestPlanSaysWhatWouldBeRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ environment, release, want string }{
		{"prod-eu", "3", "promotion 12 carries it there already"},
		{"prod-eu", "2", "promotion 12 is open there with 1.2.0"},
		{"prod-us", "2", "main already has 1.1.0 in prod-us"},
		{"prod-us", "1", "amir rejected 1.0.0 everywhere: too old"},
	} {
		d := newDoor(t, true)
		d.releases[2].RejectedBy, d.releases[2].Rejection = "amir", "too old"
		query := url.Values{"application": {"checkout"}, "environment": {tt.environment}, "release": {tt.release}}
		if body := d.get(rita, "/promote?"+query.Encode()).Body.String(); !strings.Contains(body, tt.want) {
			t.Errorf("release %s to %s: the plan lacks %q:\n%s", tt.release, tt.environment, tt.want, body)
		}
	}
}

func TestPlanThatCannotBeMade(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.planErr = &promotion.Error{Kind: promotion.Conflict, Code: "no-policy", Message: "no policy could be read"}
	w := d.get(rita, "/promote?application=checkout&environment=prod-us&release=3")
	if w.Code != 409 || !strings.Contains(w.Body.String(), "<strong>no policy could be read</strong>") {
		t.Errorf("answered %d:\n%s", w.Code, w.Body)
	}
}
