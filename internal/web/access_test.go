package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestActionsByRole(t *testing.T) {
	t.Parallel()
	everybody := []string{vera, cia, rita, amir, ada, gil}
	for _, tt := range []struct{ target, allowed string }{
		{"/promotions/12/approve", rita + amir + ada},
		{"/promotions/12/reject", rita + amir + ada},
		{"/promotions/12/merge", rita + amir + ada},
		{"/promotions/12/standing-merge", rita + amir + ada},
		{"/promotions/12/withdraw-merge", rita + amir + ada},
		{"/promotions/12/sync", rita + amir + ada},
		{"/promotions/12/retry", rita + ada},
		{"/promotions/12/cancel", rita + ada},
		{"/promotions/12/accept", rita + amir + ada},
		{"/promote", rita + ada},
		{"/hold", rita + ada},
		{"/resume", rita + ada},
		{"/owed/waive", rita + ada},
		{"/restore", rita + ada},
		{"/rollback", rita + ada},
		{"/adopt", rita + ada},
		{"/attestations", rita + amir + ada},
		{"/freezes/4/end", rita + ada},
		{"/overrides/new", gil},
		{"/overrides/3/review", rita + amir + ada},
		{"/violations/8/review", rita + amir + ada},
		{"/notifications/d-1/try-again", rita + ada},
		{"/applications/checkout/prod-us/restore-live", rita + amir + ada},
		{"/releases/3/reject", rita + amir + ada},
		{"/releases/3/reopen", rita + ada},
		{"/releases/3/clear-rollback", rita + ada},
		{"/git/platform-config/pulls/new", rita + ada},
		{"/git/platform-config/pulls/8/merge", rita + amir + ada},
		{"/git/platform-config/pulls/8/close", rita + ada},
	} {
		for _, as := range everybody {
			d := newDoor(t, true)
			w := d.post(as, tt.target, url.Values{"comment": {"no"}, "branch": {"more-memory"}, "title": {"more memory"}})
			want := http.StatusForbidden
			if strings.Contains(tt.allowed, as) {
				want = http.StatusSeeOther
			}
			if w.Code != want {
				t.Errorf("POST %s as %s answered %d, want %d", tt.target, as, w.Code, want)
			}
			if done := d.asked != nil; done != (want == http.StatusSeeOther) {
				t.Errorf("POST %s as %s: done is %v", tt.target, as, done)
			}
			if want == http.StatusForbidden && !strings.Contains(w.Body.String(), "You may not do this") {
				t.Errorf("POST %s as %s does not say what is wrong: %s", tt.target, as, w.Body)
			}
		}
	}
}

func TestAnonymousActionIsRefused(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	w := d.post("", "/promotions/12/merge", nil)
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `href="/sign-in?next=%2Fpromotions%2F12"`) {
		t.Errorf("an action by nobody answered %d: %s", w.Code, w.Body)
	}
	if d.asked != nil {
		t.Errorf("nobody did %v", d.asked)
	}
}

func TestReadingNeedsSigningInUnlessDemo(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/", "/events", "/promotions/12", "/promote", "/applications/checkout", "/releases/3", "/history?at=x",
		"/audit", "/set-up", "/git/platform-config/pulls", "/git/platform-config/pulls/7", "/git/platform-config/pulls/new", "/calendar", "/freezes/new",
		"/hold", "/restore", "/rollback", "/adopt", "/attestations", "/violations", "/notifications", "/drift", "/overrides", "/overrides/new", "/applications/checkout/prod-eu",
		"/applications/checkout/prod-eu/rollback"} {
		w := newDoor(t, false).get("", target)
		if want := "/sign-in?next=" + url.QueryEscape(target); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("GET %s as nobody answered %d to %q, want 303 to %q", target, w.Code, w.Header().Get("Location"), want)
		}
	}
	if w := newDoor(t, true).get("", "/audit"); w.Code != http.StatusOK {
		t.Errorf("in a demonstration nobody gets %d for the audit", w.Code)
	}
}

func TestWrongTokenIsNotSentToSignIn(t *testing.T) {
	t.Parallel()
	w := newDoor(t, false).get("sluice_wrong", "/")
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "the token is unknown, expired or revoked") {
		t.Errorf("a wrong token answered %d: %s", w.Code, w.Body)
	}
}

func TestAddressOfRefusalLeadsBack(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{"/promotions/12/merge": "/promotions/12", "/promotions/12/standing-merge": "/promotions/12",
		"/promotions/12/withdraw-merge": "/promotions/12", "/promotions/12/accept": "/promotions/12", "/releases/3/reject": "/releases/3", "/releases/3/reopen": "/releases/3",
		"/resume": "/", "/freezes": "/calendar#freezes", "/freezes/4": "/calendar#freezes", "/freezes/4/end": "/calendar#freezes", "/violations/8": "/violations", "/applications/checkout/prod-us/restore-live": "/applications/checkout/prod-us",
		"/notifications/d-1/try-again": "/notifications", "/notifications/d-1": "/notifications", "/violations/8/review": "/violations", "/overrides": "/violations#overrides", "/overrides/3": "/violations#overrides",
		"/overrides/3/review": "/violations#overrides", "/git/platform-config/pulls/8/merge": "/git/platform-config/pulls/8"} {
		if w := newDoor(t, true).get(vera, target); w.Code != http.StatusSeeOther || w.Header().Get("Location") != want {
			t.Errorf("loading %s answered %d to %q, want %q", target, w.Code, w.Header().Get("Location"), want)
		}
	}
}

func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	r := request(vera, "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := d.send(r)
	page, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(page); err != nil || !strings.Contains(string(text), "</html>") {
		t.Errorf("the page does not come whole: %v", err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	r.URL.Path = "/promotions/99"
	if w := d.send(r); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Not found") {
		t.Errorf("an error behind the compression answered %d: %q", w.Code, w.Body)
	}
}

func TestEveryRouteDeclaresItsUsers(t *testing.T) {
	t.Parallel()
	d := newDoor(t, false)
	if routes := d.router.Undeclared(); len(routes) > 0 {
		t.Errorf("routes past the router: %v", routes)
	}
}

func TestCrossSiteFormsAreRefused(t *testing.T) {
	t.Parallel()
	for _, header := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}, {"Origin": {"https://evil.example"}}, {"Origin": {"null"}}} {
		d := newDoor(t, true)
		r := request(ada, "/promotions/12/merge", url.Values{})
		for name, values := range header {
			r.Header[name] = values
		}
		if w := d.send(r); w.Code != http.StatusForbidden || d.asked != nil {
			t.Errorf("a form with %v answered %d and did %v", header, w.Code, d.asked)
		}
	}
	d := newDoor(t, true)
	r := request(ada, "/promotions/12/merge", url.Values{})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if w := d.send(r); w.Code != http.StatusSeeOther {
		t.Errorf("a form of this site answered %d", w.Code)
	}
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	for _, target := range []string{"/", "/promotions/99", "/nothing-here", "/static/sluice.css", "/sign-in"} {
		h := d.get(vera, target).Header()
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("GET %s has the policy %q", target, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" || h.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("GET %s lacks security headers: %v", target, h)
		}
	}
}

func TestStaticFiles(t *testing.T) {
	t.Parallel()
	d := newDoor(t, false)
	for name, kind := range map[string]string{"sluice.css": "text/css", "sluice.js": "text/javascript", "logo.svg": "image/svg+xml"} {
		w := d.get("", "/static/"+name)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), kind) || w.Body.Len() == 0 {
			t.Errorf("GET /static/%s answered %d, %s, %d bytes", name, w.Code, w.Header().Get("Content-Type"), w.Body.Len())
		}
	}
	for _, target := range []string{"/static/none.css", "/static/..%2ftemplates.go"} {
		if w := d.get("", target); w.Code != http.StatusNotFound {
			t.Errorf("GET %s answered %d", target, w.Code)
		}
	}
}

func TestStopIsShownOnEveryPage(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.holds = append(d.holds, sampleStop())
	for _, target := range []string{"/", "/?fragment=board", "/promotions/10", "/promotions/10?fragment=promotion", "/promotions/99", "/promote", "/applications/checkout",
		"/applications/checkout/dev", "/releases/3", "/applications/checkout/prod-eu/rollback", "/history", "/audit", "/set-up", "/calendar", "/violations", "/sign-in", "/git/platform-config/pulls"} {
		if body := d.get(vera, target).Body.String(); strings.Count(body, "Everything is stopped.") != 1 {
			t.Errorf("GET %s does not say once that everything is stopped:\n%s", target, body)
		}
	}
}
