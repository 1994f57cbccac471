package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"github.com/sluicehq/sluice/test/browser"
	"github.com/sluicehq/sluice/test/demotest"
)

// TestPromoteThroughTheForms takes a release to prod by forms alone, two people at two browsers, with scripts and without.
func TestPromoteThroughTheForms(t *testing.T) {
	t.Parallel()
	d := demotest.Start(t)
	b := browser.Start(t)
	for i, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts %v", script), func(t *testing.T) {
			version := fmt.Sprintf("5.%d.0", i)
			repository, digest := d.Image(t, "web", version)
			_, answer := d.Ask(t, "ci", http.MethodPost, "/api/v1/builds", demotest.Build("web", version, repository, digest))
			release := id(t, answer, "releases")
			d.AwaitState(t, id(t, answer, "promotions"), "verified")

			rita := b.SignIn(t, d.URL, "rita", script)
			promote(t, rita, "staging", release)
			rita.Sees("main", "verified")
			promote(t, rita, "prod", release)
			prod := rita.Path()
			rita.Sees(".facts", ", open") // the pull request
			rita.Click("#merge")
			if rita.Status() != http.StatusConflict || !strings.Contains(rita.Text("main"), "approvals") {
				t.Fatalf("merging without an approval gave %d:\n%s", rita.Status(), rita.Text("main"))
			}
			if rita.Has("#approve") {
				t.Error("who asked for the promotion is offered to approve it")
			}

			amir := b.SignIn(t, d.URL, "amir", script)
			amir.Go(prod)
			amir.Click("#reject")
			if amir.Status() != http.StatusUnprocessableEntity || !amir.Has("#comment-problem") {
				t.Errorf("rejecting without a reason gave %d", amir.Status())
			}
			amir.Fill("#comment", "read the diff")
			amir.Click("#approve")
			amir.Sees("main", "Every gate passes")

			rita.Go(prod)
			rita.Click("#merge")
			rita.Sees("main", "verified")
			rita.Go("/")
			if row := rita.Text("#row-web"); strings.Count(row, version) < 3 {
				t.Errorf("the board's row does not show %s in every environment:\n%s", version, row)
			}
			for _, p := range []*browser.Person{rita, amir} {
				if foreign := p.Foreign(); len(foreign) > 0 {
					t.Errorf("the pages asked other hosts: %v", foreign)
				}
			}
		})
	}
	t.Run("a refused form keeps what was typed", func(t *testing.T) { refusedFormKeepsValues(t, d, b) })
	t.Run("keyboard", func(t *testing.T) { keyboardReachesPromote(t, d, b) })
	t.Run("narrow window", func(t *testing.T) { fitsNarrowWindow(t, d, b) })
}

func id(t *testing.T, answer map[string]any, list string) any {
	t.Helper()
	items, _ := answer[list].([]any)
	if len(items) == 0 {
		t.Fatalf("no %s in %v", list, answer)
	}
	return items[0].(map[string]any)["id"]
}

func promote(t *testing.T, p *browser.Person, environment string, release any) {
	t.Helper()
	p.Go(fmt.Sprintf("/promote?application=web&environment=%s&release=%v", environment, release))
	p.Fill("#reason", "CHG-1042")
	p.Click("#promote")
	if !strings.HasPrefix(p.Path(), "/promotions/") {
		t.Fatalf("promoting to %s led to %s:\n%s", environment, p.Path(), p.Text("main"))
	}
}

// refusedFormKeepsValues promotes what main has already.
func refusedFormKeepsValues(t *testing.T, d *demotest.Demo, b *browser.Browser) {
	_, list := d.Ask(t, "viewer", http.MethodGet, "/api/v1/releases?application=web&limit=1", "")
	newest := id(t, list, "items")
	rita := b.SignIn(t, d.URL, "rita", false)
	rita.Go(fmt.Sprintf("/promote?application=web&environment=prod&release=%v", newest))
	rita.Fill("#reason", "typed with care")
	rita.Click("#promote")
	if rita.Status() != http.StatusConflict || !rita.Has("#problem") {
		t.Errorf("promoting what is there already gave %d:\n%s", rita.Status(), rita.Text("main"))
	}
	for field, want := range map[string]string{"#reason": "typed with care", "#environment": "prod", "#release": fmt.Sprint(newest)} {
		if got := rita.Value(field); got != want {
			t.Errorf("%s holds %q after the refusal, want %q", field, got, want)
		}
	}
}

// keyboardReachesPromote goes through the form by tabulator alone.
func keyboardReachesPromote(t *testing.T, d *demotest.Demo, b *browser.Browser) {
	rita := b.SignIn(t, d.URL, "rita", true)
	rita.Go("/promote?application=web&environment=dev")
	want := []string{"environment", "release", "reason", "promote"}
	for range 40 {
		rita.Press(input.Tab)
		if len(want) > 0 && rita.Focused() == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("the keyboard does not reach %v in this order", want)
	}
}

func fitsNarrowWindow(t *testing.T, d *demotest.Demo, b *browser.Browser) {
	rita := b.SignIn(t, d.URL, "rita", true)
	for _, path := range []string{"/", "/promotions/1", "/applications/web", "/releases/1", "/promote", "/history", "/audit", "/set-up"} {
		rita.Go(path)
		if rita.Status() != http.StatusOK {
			t.Errorf("%s answers %d", path, rita.Status())
		}
		if n := rita.Overflows(360); n > 0 {
			t.Errorf("%s is %d pixels wider than a window of 360", path, n)
		}
	}
}
