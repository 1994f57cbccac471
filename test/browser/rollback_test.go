package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/test/browser"
	"github.com/sluicehq/sluice/test/demotest"
)

// TestWayBackLeadsToTheForm goes from the target's page to what it can go back to, and from there to the form for it. The page
// fits a telephone.
func TestWayBackLeadsToTheForm(t *testing.T) {
	t.Parallel()
	d := demotest.Start(t)
	b := browser.Start(t)
	before := post(t, d, "web", "6.0.0")
	post(t, d, "web", "6.1.0")
	rita := b.SignIn(t, d.URL, "rita", false)
	rita.Go("/applications/web/dev")
	rita.Click("#rollback-link")
	if rita.Status() != http.StatusOK {
		t.Fatalf("the page gave %d:\n%s", rita.Status(), rita.Text("main"))
	}
	said := rita.Text("main")
	for _, want := range []string{"6.1.0", "6.0.0", "images only", "images and configuration"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q:\n%s", want, said)
		}
	}
	if more := rita.Wider(360); more > 0 {
		t.Errorf("the page is %d pixels wider than a telephone", more)
	}
	rita.Click(fmt.Sprintf(`a[href="/rollback?application=web&environment=dev&to=%d&way=images"]`, before.ID))
	for field, want := range map[string]string{"#to": fmt.Sprint(before.ID), "#reason": ""} {
		if got := rita.Value(field); got != want {
			t.Errorf("%s holds %q, want %q", field, got, want)
		}
	}
}
