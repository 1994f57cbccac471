package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/test/browser"
	"github.com/sluicehq/sluice/test/demotest"
)

// TestFreeze freezes prod by the form, sees a promotion held by it alone, ends it, and sees the promotion go on.
func TestFreeze(t *testing.T) {
	t.Parallel()
	d := demotest.Start(t)
	b := browser.Start(t)
	rita, amir := b.SignIn(t, d.URL, "rita", false), b.SignIn(t, d.URL, "amir", true)
	r := post(t, d, "web", "6.0.0")
	toStaging(t, rita, r)

	freeze(t, rita, r)
	rita.Go(fmt.Sprintf("/promote?application=%s&environment=prod&release=%d", r.Application, r.ID))
	if held := rita.Text("#plan #gate-sync-window-merge"); !strings.Contains(held, "frozen by rita: quarter's end") {
		t.Errorf("the plan does not say that prod is frozen: %s", held)
	}
	rita.Fill("#reason", "CHG-7")
	rita.Click("#promote")
	prod := rita.Path()
	rita.Sees("main", "frozen by rita: quarter's end")
	amir.Go(prod)
	amir.Click("#approve")
	amir.Sees("#gate-approvals-merge", "pass")
	amir.Click("#merge")
	if said := amir.Text("#problem"); amir.Status() != http.StatusConflict || !strings.Contains(said, "sync-window") {
		t.Errorf("merging while prod is frozen gave %d: %s", amir.Status(), said)
	}

	rita.Go("/calendar")
	rita.Click("#end-1")
	if rita.Has("#freeze-1") {
		t.Error("a freeze that was ended is still on the calendar")
	}
	rita.Go(prod)
	rita.Sees("#gate-sync-window-merge", "pass")
	rita.Click("#merge")
	rita.Sees(".sentence", r.Version+" runs in prod")
	fitsTrouble(t, rita, r)
}

// freeze is saved only once what it covers was seen.
func freeze(t *testing.T, rita *browser.Person, r release) {
	t.Helper()
	rita.Go("/calendar")
	rita.Click("#new-freeze")
	rita.Fill("#reason", "quarter's end")
	rita.Fill("#applications", r.Application)
	rita.Fill("#environments", "prod moon")
	rita.Click("#look")
	if said := rita.Beside("#ends_at"); rita.Status() != http.StatusUnprocessableEntity || said == "" {
		t.Errorf("a freeze without end gave %d and %q beside it", rita.Status(), said)
	}
	rita.Edit("#ends_at", fmt.Sprintf(`() => { this.value = %q }`, time.Now().UTC().Add(48*time.Hour).Format("2006-01-02T15:04")))
	rita.Click("#look")
	if covers := rita.Text("#covers"); !strings.Contains(covers, r.Application+" in prod") || strings.Contains(covers, "staging") {
		t.Errorf("the freeze covers %s", covers)
	}
	rita.Click("#save")
	if row := rita.Text("#freeze-1"); rita.Path() != "/calendar" || !strings.Contains(row, "quarter's end") {
		t.Fatalf("saving the freeze led to %s: %s", rita.Path(), row)
	}
}

// fitsTrouble looks at the pages for what is not as it should be in a phone's window.
func fitsTrouble(t *testing.T, p *browser.Person, r release) {
	t.Helper()
	for _, path := range []string{"/calendar", "/calendar?view=month", "/freezes/new", "/violations", "/hold", "/overrides/new?application=" + r.Application + "&environment=prod",
		"/applications/" + r.Application + "/prod"} {
		p.Go(path)
		if n := p.Wider(360); p.Status() != http.StatusOK || n > 0 {
			t.Errorf("%s answers %d and is %d pixels wider than a window of 360", path, p.Status(), n)
		}
	}
}
