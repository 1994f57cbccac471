package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

func TestRollbackPages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, as string
		change   func(*door)
	}{
		{"rollback", rita, func(*door) {}},
		{"rollback-nothing", vera, func(d *door) { d.back.Candidates = nil }},
	} {
		d := newDoor(t, true)
		tt.change(d)
		w := d.get(tt.as, "/applications/checkout/prod-eu/rollback")
		if w.Code != http.StatusOK {
			t.Fatalf("%s answered %d: %s", tt.name, w.Code, w.Body)
		}
		golden(t, tt.name, w.Body.Bytes())
	}
}

func TestRollbackPageAsksForOneRelease(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	body := d.get(vera, "/applications/checkout/prod-eu/rollback?to=1.1.0").Body.String()
	if want := (promotion.RollbackRequest{Application: "checkout", Environment: "prod-eu", To: "1.1.0"}); d.asked != want {
		t.Errorf("asked for %+v, want %+v", d.asked, want)
	}
	if !strings.Contains(body, "/api/v1/rollbacks?application=checkout&amp;environment=prod-eu&amp;to=1.1.0") {
		t.Errorf("the answer for the one release is not linked:\n%s", body)
	}
	d.planErr = &promotion.Error{Kind: promotion.Conflict, Code: "never-verified-here", Message: "1.1.0 was never verified in prod-eu"}
	if w := d.get(vera, "/applications/checkout/prod-eu/rollback?to=1.1.0"); w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "was never verified in prod-eu") {
		t.Errorf("a refusal answered %d:\n%s", w.Code, w.Body)
	}
}

// TestRollbackRecommendsNothingUnknown: what was not found out is never recommended.
func TestRollbackRecommendsNothingUnknown(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	unread := factsOfRollback(func(f *rollback.Facts) { f.Artifact.ImageManifest = rollback.Unknown })
	d.back.Candidates = d.back.Candidates[:1]
	one := &d.back.Candidates[0]
	for _, v := range []*promotion.RollbackVerdict{&one.Images, &one.WithConfig, &one.Undo.Verdict} {
		v.Verdict = rollback.Evaluate(unread)
	}
	body := d.get(rita, "/applications/checkout/prod-eu/rollback").Body.String()
	if strings.Contains(body, "recommended</span>") || !strings.Contains(body, `<dd id="recommended">none:`) || !strings.Contains(body, "did not say whether it has the old image") {
		t.Errorf("an unknown is not shown as one:\n%s", body)
	}
}

// TestBareRollbackFormHasTheNearestSafeRelease: by the way that is recommended, and nothing where no way is open.
func TestBareRollbackFormHasTheNearestSafeRelease(t *testing.T) {
	t.Parallel()
	unsafe := factsOfRollback(func(f *rollback.Facts) { f.Artifact.ImageManifest = rollback.Absent })
	for _, tt := range []struct {
		name   string
		barred func(*promotion.RollbackCandidate) []*promotion.RollbackVerdict
		want   promotion.GoBackRequest
	}{
		{"images and configuration", func(*promotion.RollbackCandidate) []*promotion.RollbackVerdict { return nil },
			promotion.GoBackRequest{Way: promotion.ImagesAndConfig, To: "2"}},
		{"revert", func(c *promotion.RollbackCandidate) []*promotion.RollbackVerdict {
			return []*promotion.RollbackVerdict{&c.WithConfig}
		},
			promotion.GoBackRequest{Way: promotion.Revert, Promotion: 12}},
		{"none", func(c *promotion.RollbackCandidate) []*promotion.RollbackVerdict {
			return []*promotion.RollbackVerdict{&c.WithConfig, &c.Undo.Verdict}
		},
			promotion.GoBackRequest{Way: promotion.ImagesOnly}},
	} {
		d := newDoor(t, true)
		for _, v := range tt.barred(&d.back.Candidates[0]) {
			v.Verdict = rollback.Evaluate(unsafe)
		}
		tt.want.Application, tt.want.Environment = "checkout", "prod-eu"
		if w := d.get(rita, "/rollback?application=checkout&environment=prod-eu"); w.Code != http.StatusOK || d.asked != tt.want {
			t.Errorf("%s: answered %d for %+v, want %+v", tt.name, w.Code, d.asked, tt.want)
		}
	}
}

func TestPromotionPageLeadsToUndoingIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		as, page string
		leads    bool
	}{
		{rita, "/promotions/10", true}, {vera, "/promotions/10", false}, {rita, "/promotions/12", false}, // not merged
	} {
		body := newDoor(t, true).get(tt.as, tt.page).Body.String()
		if leads := strings.Contains(body, `id="undo" href="/rollback?application=checkout&amp;environment=`); leads != tt.leads {
			t.Errorf("%s of %s leads to undoing it: %v, want %v", tt.page, tt.as, leads, tt.leads)
		}
	}
}

// TestWhatIsOnlyReportedIsNotCalledSafe: it may be gone back to, and the page says what it is.
func TestWhatIsOnlyReportedIsNotCalledSafe(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	only := &d.back.Candidates[0]
	d.back.Candidates, only.WithConfig.Verdict.Gate, only.Undo.Verdict.Verdict.Gate = d.back.Candidates[:1], rollback.Blocked, rollback.Blocked
	v := &only.Images
	v.Facts.Modes = map[string]rollback.Mode{rollback.ConfigCompatible: rollback.ModeReport}
	v.Verdict = rollback.Evaluate(v.Facts)
	body := d.get(rita, "/applications/checkout/prod-eu/rollback").Body.String()
	if !strings.Contains(body, "<strong>1.1.0, images only: unsafe, and the policy only reports why</strong>") {
		t.Errorf("it is recommended without a word:\n%s", body)
	}
}

func TestUnknownIsAcceptedByWhoMay(t *testing.T) {
	t.Parallel()
	const form = `<form method="post" action="/promotions/12/accept">`
	for _, tt := range []struct {
		name, as string
		change   func(*door)
		form     bool
		shows    string
	}{
		{"approver", amir, nil, true, `<option value="` + unreadMigration + `">`},
		{"who asked for it", rita, nil, false, "You asked for this promotion, so somebody else"},
		{"viewer", vera, nil, false, "vera may not accept an unknown: it needs the role approver"},
		{"nobody", "", nil, false, "Sign in to accept one."},
		{"all are accepted", amir, func(d *door) { d.accepted[0].ExpiresAt = noon.Add(1) }, false, "<h3>Accepted</h3>"},
		{"it is over", amir, func(d *door) { d.promotions[0].Decision = promotion.Cancelled }, false, "<h3>Accepted</h3>"},
	} {
		d := newDoor(t, true)
		d.gates, d.accepted = append(d.gates, unknownWayBack()), sampleAcceptances()
		if tt.change != nil {
			tt.change(d)
		}
		body := d.get(tt.as, "/promotions/12").Body.String()
		if strings.Contains(body, form) != tt.form || !strings.Contains(body, tt.shows) {
			t.Errorf("%s: wants the form %v and %q:\n%s", tt.name, tt.form, tt.shows, body)
		}
		if strings.Contains(body, `<option value="`+unreadMessages) {
			t.Errorf("%s: what stands accepted can be accepted again", tt.name)
		}
	}
}

func TestPromotionPageWithUnknowns(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.gates, d.accepted = append(d.gates, unknownWayBack()), sampleAcceptances()
	golden(t, "promotion-unknowns", d.get(amir, "/promotions/12").Body.Bytes())
}

// TestWhatNobodyAttestedLeadsToWhereItIsSigned: not what another fact would answer.
func TestWhatNobodyAttestedLeadsToWhereItIsSigned(t *testing.T) {
	t.Parallel()
	const link = `<a id="sign-off" href="/attestations?application=checkout&amp;from=3&amp;to=2">`
	for unknowns, want := range map[[1]any]bool{{unreadMessages}: true, {unreadMigration}: false} {
		d := newDoor(t, true)
		g := unknownWayBack()
		g.Inputs["unknowns"] = unknowns[:]
		d.gates = append(d.gates, g)
		if body := d.get(amir, "/promotions/12").Body.String(); strings.Contains(body, link) != want {
			t.Errorf("%v leads there: want %v:\n%s", unknowns, want, body)
		}
	}
}

func TestAnAttestationIsSignedByWhoMay(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	if body := d.get(vera, "/attestations?application=checkout").Body.String(); !strings.Contains(body, "vera may not sign it off: it needs the role approver") {
		t.Errorf("a viewer is not told so:\n%s", body)
	}
	d.attested = nil
	if body := d.get(vera, "/attestations?application=checkout").Body.String(); !strings.Contains(body, "Nothing is attested of its releases.") {
		t.Errorf("an empty list does not say so:\n%s", body)
	}
	if w := d.get(vera, "/attestations"); w.Code != http.StatusNotFound {
		t.Errorf("without an application it answers %d", w.Code)
	}
}

func TestRefusedAcceptanceKeepsWhatWasSent(t *testing.T) {
	t.Parallel()
	sent := url.Values{"unknown": {unreadMessages}, "reason": {"<empty>"}, "lasts": {"72h0m0s"}}
	for field, id := range map[string]string{"unknown": "accept-unknown", "reason": "accept-reason", "expires_at": "accept-lasts"} {
		d := newDoor(t, true)
		d.gates = append(d.gates, unknownWayBack())
		d.err = &promotion.Error{Kind: promotion.Invalid, Field: field, Message: "not like this"}
		w := d.post(amir, "/promotions/12/accept", sent)
		if w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: answered %d", field, w.Code)
		}
		for _, want := range []string{`id="` + id + `-problem" role="alert">not like this<`, `aria-describedby="` + id + `-problem"`, `<option value="` + unreadMessages + `" selected>`,
			"&lt;empty&gt;</textarea>", `<option value="72h0m0s" selected>`} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: the page lacks %q:\n%s", field, want, w.Body)
			}
		}
		if strings.Count(w.Body.String(), "not like this") != 1 {
			t.Errorf("%s: what is wrong is not said once:\n%s", field, w.Body)
		}
	}
}
