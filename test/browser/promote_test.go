package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/test/browser"
	"github.com/sluicehq/sluice/test/demotest"
)

// TestForms takes a release to prod by the forms alone, two people at two browsers, and then tries
// the ways in which a form is refused. Both variants share one demo; each has an application of its own.
// The audit of it all verifies, until somebody alters it.
func TestForms(t *testing.T) {
	t.Parallel()
	d := demotest.Start(t)
	b := browser.Start(t)
	t.Run("to prod", func(t *testing.T) {
		for _, v := range []struct {
			name, application string
			script            bool
		}{
			{"JavaScript on", "web", true},
			{"JavaScript off", "checkout", false},
		} {
			t.Run(v.name, func(t *testing.T) {
				t.Parallel()
				r := post(t, d, v.application, "5.0.0")
				rita, amir := b.SignIn(t, d.URL, "rita", v.script), b.SignIn(t, d.URL, "amir", v.script)
				toStaging(t, rita, r)
				toProd(t, rita, amir, r)
				refused(t, rita, r)
			})
		}
	})
	audited(t, d)
}

type release struct {
	Application, Version string
	ID                   int64
}

// post is CI: it pushes an image, posts the build, and waits until dev runs it.
func post(t *testing.T, d *demotest.Demo, application, version string) release {
	t.Helper()
	repository, digest := d.Image(t, application, version)
	status, answer := d.Ask(t, "ci", http.MethodPost, "/api/v1/builds", demotest.Build(application, version, repository, digest))
	if status != http.StatusCreated {
		t.Fatalf("posting a build gave %d: %v", status, answer)
	}
	d.AwaitState(t, firstID(t, answer, "promotions"), "verified")
	return release{application, version, firstID(t, answer, "releases")}
}

func firstID(t *testing.T, answer map[string]any, list string) int64 {
	t.Helper()
	items, _ := answer[list].([]any)
	if len(items) == 0 {
		t.Fatalf("no %s in %v", list, answer)
	}
	return int64(items[0].(map[string]any)["id"].(float64))
}

// toStaging needs no mouse, and nobody's approval.
func toStaging(t *testing.T, rita *browser.Person, r release) {
	rita.Go("/promote")
	rita.Tab("application")
	first := r.Application[:1]
	if rita.Script {
		rita.Leads(func() { rita.Spell(first) }) // choosing is enough
	} else {
		rita.Spell(first)
		rita.Tab("choose")
		rita.Enter()
	}
	rita.Tab("environment")
	rita.Spell("staging")
	rita.Tab("release")
	rita.Spell(r.Version)
	rita.Tab("reason")
	rita.Spell("no mouse at hand")
	rita.Tab("promote")
	rita.Enter()
	if text := rita.Text("main"); !strings.HasPrefix(rita.Path(), "/promotions/") || !strings.Contains(text, "no mouse at hand") {
		t.Fatalf("promoting by keyboard gave %d at %s:\n%s", rita.Status(), rita.Path(), text)
	}
	rita.Sees(".sentence", r.Version+" runs in staging")
}

// toProd needs the approval of somebody else.
func toProd(t *testing.T, rita, amir *browser.Person, r release) {
	reason := "CHG-1042" + strings.Repeat("-and-more", 20)
	rita.Go("/applications/" + r.Application)
	rita.Click("#promote-prod")
	rita.Choose("#release", r.Version)
	rita.Fill("#reason", reason)
	rita.Click("#promote")
	prod := rita.Path()
	if !strings.HasPrefix(prod, "/promotions/") {
		t.Fatalf("promoting gave %d at %s:\n%s", rita.Status(), prod, rita.Text("main"))
	}
	rita.Sees("main", "Held now by approvals")
	if rita.Has("#approve") {
		t.Error("who asked for the promotion is offered to approve it")
	}
	rita.Click("#merge")
	if rita.Status() != http.StatusConflict || !strings.Contains(rita.Text("#problem"), "approvals") {
		t.Fatalf("merging without an approval gave %d:\n%s", rita.Status(), rita.Text("main"))
	}
	fits(t, rita, r, prod)
	rita.Go(prod)
	rita.Fill("#reason", "half a thought")

	approve(t, amir, prod)

	rita.Sees(".sentence", "Nothing holds it")
	if typed := rita.Value("#reason"); rita.Script && typed != "half a thought" {
		t.Errorf("a field held %q after the page had brought in what changed", typed)
	}
	rita.Click("#merge")
	rita.Sees(".sentence", r.Version+" runs in prod")
	if text := rita.Text("main"); !strings.Contains(text, "read the diff") || !strings.Contains(text, reason) {
		t.Errorf("the page does not say why it was asked for and what the approver said:\n%s", text)
	}
	rita.Go("/")
	if again := rita.Has(`noscript meta[http-equiv="refresh"]`); again == rita.Script {
		t.Errorf("JavaScript is on: %v; the board reloads itself: %v", rita.Script, again)
	}
	for _, cell := range rita.Texts(fmt.Sprintf(`tr:has(a[href="/applications/%s"]) td`, r.Application)) {
		if !strings.Contains(cell, r.Version) || !strings.Contains(cell, "Synced") || !strings.Contains(cell, "Healthy") {
			t.Errorf("the board does not show %s, synced and healthy, in each environment, but\n%s", r.Version, cell)
		}
	}
}

// approve tries to reject without saying why first.
func approve(t *testing.T, amir *browser.Person, prod string) {
	amir.Go("/")
	amir.Click(`.needs a[href="` + prod + `"]`)
	amir.Click("#reject")
	if said := amir.Beside("#comment"); amir.Status() != http.StatusUnprocessableEntity || said == "" {
		t.Errorf("rejecting without a reason gave %d and %q beside the comment", amir.Status(), said)
	}
	amir.Fill("#comment", "read the diff")
	amir.Click("#approve")
	amir.Sees(".sentence", "Nothing holds it")
}

// fits looks at pages in a phone's window.
func fits(t *testing.T, p *browser.Person, r release, promotion string) {
	t.Helper()
	for _, path := range []string{"/", promotion, "/applications/" + r.Application, "/promote?application=" + r.Application,
		fmt.Sprintf("/releases/%d", r.ID), "/history", "/audit", "/set-up"} {
		p.Go(path)
		if p.Status() != http.StatusOK {
			t.Errorf("%s answers %d", path, p.Status())
		}
		if n := p.Wider(360); n > 0 {
			t.Errorf("%s is %d pixels wider than a window of 360", path, n)
		}
	}
}
