package web_test

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// berlinTime is a time of day in March 2026 in Berlin.
func berlinTime(day, hour, minute int) time.Time {
	return time.Date(2026, 3, day, hour, minute, 0, 0, berlin)
}

func freezeForm(step string) url.Values {
	return url.Values{"kind": {"freeze"}, "reason": {" quarter's end "}, "owner": {"dora"}, "starts_at": {"2026-03-03T05:00"}, "ends_at": {"2026-03-04T05:30"},
		"zone": {"Europe/Berlin"}, "applications": {"checkout, web-*"}, "environments": {"prod-eu  prod-us"}, "clusters": {""}, "step": {step}, "seen": {"3,4,6"}}
}

func TestFormsDoWhatWasSent(t *testing.T) {
	t.Parallel()
	target := url.Values{"application": {"checkout"}, "environment": {"prod-eu"}, "reason": {" INC-77\n"}}
	hold := promotion.HoldRequest{Application: "checkout", Environment: "prod-eu", Reason: "INC-77"}
	with := func(more url.Values) url.Values {
		form := url.Values{}
		for _, v := range []url.Values{target, more} {
			for name, values := range v {
				form[name] = values
			}
		}
		return form
	}
	for _, tt := range []struct {
		as, target string
		form       url.Values
		want       any
		leads      string
	}{
		{rita, "/promotions/12/standing-merge", url.Values{"rendered": {"f00d"}}, []any{"merge when passing", int64(12), "f00d"}, "/promotions/12"},
		{amir, "/promotions/12/withdraw-merge", nil, []any{"withdraw merge", int64(12)}, "/promotions/12"},
		{amir, "/promotions/12/accept", url.Values{"unknown": {unreadMessages}, "reason": {" the queue is empty\n"}, "lasts": {"4h0m0s"}}, promotion.AcceptRequest{Promotion: 12,
			Unknown: unreadMessages, Reason: "the queue is empty", ExpiresAt: noon.Add(4 * time.Hour)}, "/promotions/12"},
		{rita, "/hold", target, []any{"hold", hold}, "/applications/checkout/prod-eu"},
		{rita, "/hold", url.Values{"application": {""}, "environment": {""}, "reason": {"fire"}}, []any{"hold", promotion.HoldRequest{Reason: "fire"}}, "/"},
		{rita, "/resume", target, []any{"resume", hold}, "/applications/checkout/prod-eu"},
		{rita, "/owed/waive", with(url.Values{"release": {"3"}}), promotion.WaiveRequest{Application: "checkout", Environment: "prod-eu", Release: "3", Reason: "INC-77"}, "/applications/checkout/prod-eu"},
		{rita, "/promote", with(url.Values{"release": {"3"}, "hotfix": {"1"}}), promotion.PromoteRequest{Application: "checkout", Environment: "prod-eu", Release: "3", Reason: "INC-77", Hotfix: true}, "/promotions/12"},
		{rita, "/sync-pause", with(url.Values{"owner": {" dora "}, "lasts": {"2h0m0s"}}), []any{"pause sync", promotion.SyncPauseRequest{Application: "checkout",
			Environment: "prod-eu", Owner: "dora", Reason: "INC-77", ExpiresAt: noon.Add(2 * time.Hour)}}, "/applications/checkout/prod-eu"},
		{rita, "/sync-pause/resume", target, []any{"resume sync", "checkout", "prod-eu"}, "/applications/checkout/prod-eu"},
		{rita, "/freezes/new", freezeForm("save"), []any{"freeze", promotion.Freeze{Kind: promotion.KindFreeze, Reason: "quarter's end", Owner: "dora",
			Applications: []string{"checkout", "web-*"}, Environments: []string{"prod-eu", "prod-us"}, Clusters: []string{},
			StartsAt: berlinTime(3, 5, 0), EndsAt: berlinTime(4, 5, 30)}}, "/calendar#freezes"},
		{rita, "/freezes/4/end", nil, []any{"thaw", int64(4)}, "/calendar#freezes"},
		{gil, "/overrides/new", with(url.Values{"gates": {"approvals", "hold"}, "incident": {"https://incidents.example.com/77"}, "lasts": {"2h0m0s"}}),
			promotion.OverrideRequest{Application: "checkout", Environment: "prod-eu", Gates: []string{"approvals", "hold"}, Reason: "INC-77",
				Incident: "https://incidents.example.com/77", ExpiresAt: noon.Add(2 * time.Hour)}, "/applications/checkout/prod-eu"},
		{amir, "/overrides/3/review", url.Values{"review": {"fine"}}, []any{"review override", int64(3), "fine"}, "/violations"},
		{amir, "/applications/checkout/prod-us/restore-live", nil, []any{"restore live", "checkout", "prod-us"}, "/applications/checkout/prod-us"},
		{rita, "/notifications/d-1/try-again", url.Values{}, []any{"try again", "d-1"}, "/notifications"},
		{amir, "/violations/8/review", url.Values{"review": {"talked to dora"}}, []any{"close violation", int64(8), "talked to dora"}, "/violations"},
		{amir, "/releases/3/reject", url.Values{"reason": {"loses carts"}}, []any{"reject", int64(3), "loses carts"}, "/releases/3"},
		{rita, "/releases/3/reopen", url.Values{"reason": {"does not"}}, []any{"reopen", int64(3), "does not"}, "/releases/3"},
		{rita, "/rollback", with(url.Values{"to": {"1.1.0"}, "way": {"revert"}, "promotion": {"10"}}), promotion.GoBackRequest{Application: "checkout",
			Environment: "prod-eu", Way: promotion.Revert, Promotion: 10, Reason: "INC-77"}, "/promotions/12"},
		{rita, "/releases/3/clear-rollback", url.Values{"reason": {"the network"}}, []any{"clear rollback", int64(3), "the network"}, "/releases/3"},
		{rita, "/rollback", with(url.Values{"to": {"1.1.0"}, "way": {"images-and-config"}, "base": {"1"}}), promotion.GoBackRequest{Application: "checkout",
			Environment: "prod-eu", Way: promotion.ImagesAndConfig, To: "1.1.0", Base: true, Reason: "INC-77"}, "/promotions/12"},
		{rita, "/rollback", with(url.Values{"to": {"2"}, "way": {"images"}, "base": {"1"}}), promotion.GoBackRequest{Application: "checkout",
			Environment: "prod-eu", Way: promotion.ImagesOnly, To: "2", Reason: "INC-77"}, "/promotions/12"},
		{rita, "/adopt", with(url.Values{}), []any{"adopt", promotion.AdoptRequest{Application: "checkout", Environment: "prod-eu", Reason: "INC-77"}}, "/promotions/12"},
		{amir, "/attestations", url.Values{"application": {"checkout"}, "from": {" 3"}, "to": {"1.1.0"}, "subject": {"messages"}, "verdict": {"compatible"}, "reason": {"same <schema>\n"},
			"lasts": {"168h0m0s"}}, promotion.AttestRequest{Application: "checkout", From: "3", To: "1.1.0", Subject: promotion.SubjectMessages,
			Verdict: promotion.AttestedCompatible, Reason: "same <schema>", ExpiresAt: noon.Add(168 * time.Hour)}, "/attestations?application=checkout"},
		{rita, "/adopt", with(url.Values{"field": {"8", "9"}}), []any{"adopt", promotion.AdoptRequest{Application: "checkout", Environment: "prod-eu", Fields: []int64{8, 9}, Reason: "INC-77"}}, "/promotions/12"},
		{rita, "/adopt", with(url.Values{"of": {"fields"}}), []any{"adopt", promotion.AdoptRequest{Application: "checkout", Environment: "prod-eu", Fields: []int64{0}, Reason: "INC-77"}}, "/promotions/12"},
		{rita, "/restore", with(url.Values{"commit": {mergeSHA}, "images": {"today"}, "base": {"1"}}), []any{"restore", promotion.RestoreRequest{Application: "checkout",
			Environment: "prod-eu", Restoration: promotion.Restoration{Commit: mergeSHA, Base: true}, ImagesOfToday: true, Reason: "INC-77"}}, "/promotions/12"},
		{rita, "/restore", with(url.Values{"commit": {mergeSHA}, "images": {"then"}, "secrets": {"1"}}), []any{"restore", promotion.RestoreRequest{Application: "checkout",
			Environment: "prod-eu", Restoration: promotion.Restoration{Commit: mergeSHA, Secrets: true}, Reason: "INC-77"}}, "/promotions/12"},
		{rita, "/git/platform-config/pulls/new", url.Values{"branch": {"more-memory"}, "title": {" more memory "}, "body": {"why"}},
			[]any{"open", "platform-config", "more-memory", "more memory", "why"}, "/git/platform-config/pulls/9"},
		{amir, "/git/platform-config/pulls/8/merge", url.Values{"head": {source}}, []any{"merge at host", "platform-config", 8, source}, "/git/platform-config/pulls/8"},
		{rita, "/git/platform-config/pulls/8/close", nil, []any{"close", "platform-config", 8}, "/git/platform-config/pulls/8"},
	} {
		d := newDoor(t, true)
		w := d.post(tt.as, tt.target, tt.form)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != tt.leads {
			t.Errorf("POST %s answered %d to %q, want %q", tt.target, w.Code, w.Header().Get("Location"), tt.leads)
		}
		if !sameAsked(d.asked, tt.want) {
			t.Errorf("POST %s asked for\n%+v, want\n%+v", tt.target, d.asked, tt.want)
		}
		if name, _, _ := strings.Cut(tt.as, ":"); d.by.Name != name {
			t.Errorf("POST %s was done as %q, want %q", tt.target, d.by.Name, name)
		}
	}
}

// sameAsked compares times as moments.
func sameAsked(got, want any) bool {
	if g, ok := got.([]any); ok && len(g) == 2 {
		if z, ok := g[1].(promotion.Freeze); ok {
			z.StartsAt, z.EndsAt = z.StartsAt.In(berlin), z.EndsAt.In(berlin)
			got = []any{g[0], z}
		}
	}
	return reflect.DeepEqual(got, want)
}

func TestRefusedFormsKeepWhatWasSent(t *testing.T) {
	t.Parallel()
	target := func(more url.Values) url.Values {
		more.Set("application", "checkout")
		more.Set("environment", "prod-eu")
		return more
	}
	invalid := func(field, message string) *promotion.Error {
		return &promotion.Error{Kind: promotion.Invalid, Field: field, Message: message}
	}
	conflict := &promotion.Error{Kind: promotion.Conflict, Code: "some", Message: "not now"}
	beside := func(id, message string) string { return `id="` + id + `-problem" role="alert">` + message + "<" }
	for _, tt := range []struct {
		name, as, target string
		form             url.Values
		err              *promotion.Error
		status           int
		shows            []string
	}{
		{"hold without reason", rita, "/hold", target(url.Values{"reason": {""}}), invalid("reason", "say why"), 422,
			[]string{beside("reason", "say why"), `aria-invalid="true" aria-describedby="reason-problem"`, `name="application" value="checkout"`}},
		{"hold refused", rita, "/hold", target(url.Values{"reason": {"<fire>"}}), conflict, 409, []string{"<strong>not now</strong>", "&lt;fire&gt;</textarea>"}},
		{"freeze refused", rita, "/freezes/new", freezeForm("save"), conflict, 409, []string{"<strong>not now</strong>", `value="2026-03-03T05:00"`, `value="checkout, web-*"`,
			`value="prod-eu  prod-us"`, `value="dora"`, `<option value="Europe/Berlin" selected>`, "quarter&#39;s end</textarea>"}},
		{"override without gates", gil, "/overrides/new", target(url.Values{"reason": {"INC"}, "lasts": {"4h0m0s"}, "incident": {"https://x.example"}}),
			invalid("gates", "say which gates"), 422, []string{beside("gates", "say which gates"), `<fieldset aria-invalid="true" aria-describedby="gates-problem">`,
				"INC</textarea>", `<option value="4h0m0s" selected>`, `value="https://x.example"`}},
		{"override without end", gil, "/overrides/new", target(url.Values{"reason": {"INC"}, "gates": {"hold"}, "lasts": {"for ever"}}),
			invalid("expires_at", "it has to end"), 422, []string{beside("lasts", "it has to end"), `value="hold" checked`}},
		{"override review", amir, "/overrides/3/review", url.Values{"review": {""}}, invalid("review", "say what you found"), 422,
			[]string{beside("review-override-3", "say what you found")}},
		{"violation review", amir, "/violations/8/review", url.Values{"review": {"all <well>"}}, conflict, 409, []string{"<strong>not now</strong>", "all &lt;well&gt;</textarea>"}},
		{"delivery", rita, "/notifications/d-1/try-again", url.Values{}, conflict, 409, []string{"<strong>not now</strong>"}},
		{"own violation", amir, "/violations/7/review", url.Values{"review": {"all well"}}, conflict, 409, []string{"<strong>not now</strong>", "It was you"}},
		{"reject without reason", amir, "/releases/3/reject", url.Values{"reason": {""}}, invalid("reason", "say why"), 422, []string{beside("reason", "say why")}},
		{"reopen refused", rita, "/releases/3/reopen", url.Values{"reason": {"fixed"}}, conflict, 409, []string{"<strong>not now</strong>", "fixed</textarea>"}},
		{"clear without reason", rita, "/releases/3/clear-rollback", url.Values{"reason": {""}}, invalid("reason", "say why"), 422, []string{beside("clear-reason", "say why")}},
		{"rollback without reason", rita, "/rollback", target(url.Values{"to": {"1.1.0"}, "way": {"images-and-config"}, "base": {"1"}}), invalid("reason", "say why"), 422,
			[]string{beside("reason", "say why"), `value="images-and-config" checked`, `name="way" value="images-and-config"><input type="hidden" name="base" value="1">`}},
		{"rollback to what was never here", rita, "/rollback", target(url.Values{"to": {"9.9.9"}, "way": {"images"}, "reason": {"back"}}), invalid("to", "never verified"), 422,
			[]string{"<strong>never verified</strong>", `value="9.9.9"`, "back</textarea>"}},
		{"adopt without reason", rita, "/adopt", target(url.Values{}), invalid("reason", "say why"), 422, []string{beside("reason", "say why"), "Rolled back by hand"}},
		{"adopt refused", rita, "/adopt", target(url.Values{"reason": {"<fire>"}}), conflict, 409, []string{"<strong>not now</strong>", "&lt;fire&gt;</textarea>"}},
		{"attestation without a verdict", amir, "/attestations", url.Values{"application": {"checkout"}, "from": {"3"}, "to": {"1.1.0"}, "subject": {"caches"}, "reason": {"<so>"}, "lasts": {"720h0m0s"}},
			invalid("verdict", "say which"), 422, []string{beside("verdict", "say which"), `name="from" value="3"`, `name="to" value="1.1.0"`, `<option value="caches" selected>`,
				"&lt;so&gt;</textarea>", `<option value="720h0m0s" selected>`}},
		{"attestation that does not end", amir, "/attestations", url.Values{"application": {"checkout"}, "lasts": {"for ever"}}, invalid("expires_at", "it has to end"), 422,
			[]string{beside("lasts", "it has to end")}},
		{"restore without reason", rita, "/restore", target(url.Values{"commit": {mergeSHA}, "images": {"today"}, "base": {"1"}, "secrets": {"1"}}), invalid("reason", "say why"), 422,
			[]string{beside("reason", "say why"), `value="today" checked`, `name="base" value="1"><input type="hidden" name="secrets" value="1">`}},
		{"restore of nothing", rita, "/restore", target(url.Values{"commit": {"x"}, "reason": {"back"}}), invalid("commit", "choose one of its history"), 422,
			[]string{"<strong>choose one of its history</strong>", "back</textarea>"}},
		{"pull without branch", rita, "/git/platform-config/pulls/new", url.Values{"title": {"more"}, "body": {"why"}}, nil, 422,
			[]string{beside("branch", "say for which branch; push it first"), `value="more"`, "why</textarea>"}},
		{"pull without title", rita, "/git/platform-config/pulls/new", url.Values{"branch": {"raise-limits"}}, nil, 422,
			[]string{beside("title", "say in a few words what it changes"), `<option value="raise-limits" selected>`}},
		{"pull close", rita, "/git/platform-config/pulls/8/close", nil, conflict, 409, []string{"<strong>not now</strong>"}},
		{"a promotion's pull", amir, "/git/platform-config/pulls/7/merge", nil, nil, 409, []string{"It is the pull request of promotion 12"}},
		{"promote together with itself", rita, "/promote", target(url.Values{"release": {"3"}, "with": {"staging"}}), invalid("with", "name further ones only"), 422,
			[]string{beside("with", "name further ones only"), `value="staging" checked`, "<details open>"}},
		{"waive without reason", rita, "/owed/waive", target(url.Values{"release": {"3"}}), invalid("reason", "say why"), 422, []string{beside("reason", "say why"), "live in prod-us"}},
		{"a hotfix together", rita, "/promote", target(url.Values{"release": {"3"}, "hotfix": {"1"}, "reason": {"INC"}}), invalid("hotfix", "one environment"), 422,
			[]string{beside("hotfix", "one environment"), `value="1" checked`}},
		{"promote without reason", rita, "/promote", target(url.Values{"release": {"3"}}), invalid("reason", "say why"), 422, []string{beside("reason", "say why")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, true)
			d.overrides, d.violations, d.owed = sampleOverrides(), sampleViolations(), sampleOwed()
			if tt.name == "clear without reason" {
				d.releases[0].RolledBack = []promotion.RollbackMark{{PromotionID: 12, Environment: "prod-eu", By: "rita", Reason: "loses carts"}}
			}
			if tt.name == "reopen refused" {
				d.releases[0].RejectedBy = "amir"
			}
			if tt.err != nil {
				d.err = tt.err
			}
			w := d.post(tt.as, tt.target, tt.form)
			if w.Code != tt.status {
				t.Errorf("answered %d, want %d", w.Code, tt.status)
			}
			for _, want := range tt.shows {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("the page lacks %q:\n%s", want, w.Body)
				}
			}
		})
	}
}

func TestHostsRefusalsAreSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target string
		err    error
		status int
		says   string
	}{
		{"new", promotion.ErrNotFound, 422, "nobody pushed a branch raise-limits"},
		{"new", promotion.ErrNotMergeable, 422, "raise-limits has no commit that main does not have"},
		{"8/merge", promotion.ErrHeadMoved, 409, "Somebody pushed to it since"},
		{"8/merge", promotion.ErrConflict, 409, "It conflicts with main"},
		{"8/merge", promotion.ErrNotMergeable, 409, "sluice/gates is not green"},
	} {
		d := newDoor(t, true)
		d.err = tt.err
		w := d.post(ada, "/git/platform-config/pulls/"+tt.target, url.Values{"branch": {"raise-limits"}, "title": {"more"}})
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s refused with %v answered %d:\n%s", tt.target, tt.err, w.Code, w.Body)
		}
	}
}

func TestOwnPullRequestIsLookedAtAtOnce(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.post(rita, "/git/platform-config/pulls/new", url.Values{"branch": {"raise-limits"}, "title": {"more"}})
	d.post(rita, "/git/platform-config/pulls/8/close", nil)
	if want := []string{"platform-config refs/heads/raise-limits", "platform-config refs/heads/more-replicas"}; !reflect.DeepEqual(d.pushed, want) {
		t.Errorf("looked at %v, want %v", d.pushed, want)
	}
}

func TestGatedPullRequestIsMergedThroughItsPromotion(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.changes = []promotion.Promotion{personsChange(15, target(3, "checkout", "prod-eu", 50))}
	if body := d.get(amir, "/git/platform-config/pulls/8").Body.String(); !strings.Contains(body, `<form method="post" action="/promotions/15/merge">`) {
		t.Errorf("the page does not lead to the promotion's merge:\n%s", body)
	}
	w := d.post(amir, "/git/platform-config/pulls/8/merge", url.Values{"head": {source}})
	if w.Code != http.StatusConflict || d.by.Name != "" {
		t.Errorf("merging it at the host answered %d, done as %q", w.Code, d.by.Name)
	}
}
