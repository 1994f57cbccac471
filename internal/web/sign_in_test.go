package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// session sends a sign-in form and returns the session's cookie.
func session(t *testing.T, d *door, form url.Values) (*http.Cookie, *httptest.ResponseRecorder) {
	t.Helper()
	w := d.post("", "/sign-in", form)
	for _, c := range w.Result().Cookies() {
		if c.Name == "sluice_session" {
			return c, w
		}
	}
	return nil, w
}

func TestPersonaSignsInAndOut(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	cookie, w := session(t, d, url.Values{"persona": {"amir"}, "next": {"/promotions/12"}})
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/promotions/12" || cookie == nil {
		t.Fatalf("signing in answered %d to %q with cookie %v", w.Code, w.Header().Get("Location"), cookie)
	}
	r := request("", "/promotions/12", nil)
	r.AddCookie(cookie)
	if body := d.send(r).Body.String(); !strings.Contains(body, "<strong>amir</strong>") || !strings.Contains(body, `<button id="approve"`) {
		t.Errorf("amir does not see what he can do:\n%s", body)
	}
	r = request("", "/sign-out", url.Values{})
	r.AddCookie(cookie)
	if w := d.send(r); w.Code != http.StatusSeeOther {
		t.Errorf("signing out answered %d", w.Code)
	}
	r = request("", "/", nil)
	r.AddCookie(cookie)
	if strings.Contains(d.send(r).Body.String(), "amir</strong>") {
		t.Error("the session is still good after signing out")
	}
}

func TestTokenSignsIn(t *testing.T) {
	t.Parallel()
	d := newDoor(t, false)
	cookie, w := session(t, d, url.Values{"token": {" " + rita + "\n"}})
	if w.Code != http.StatusSeeOther || cookie == nil || !cookie.HttpOnly {
		t.Fatalf("signing in answered %d with cookie %v", w.Code, cookie)
	}
	r := request("", "/", nil)
	r.AddCookie(cookie)
	if body := d.send(r).Body.String(); !strings.Contains(body, "<strong>rita</strong>") {
		t.Errorf("rita is not signed in:\n%s", body)
	}
}

func TestRefusedSignIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		demo   bool
		form   url.Values
		status int
	}{
		{"persona without demo", false, url.Values{"persona": {"ada"}}, http.StatusUnauthorized},
		{"unknown persona", true, url.Values{"persona": {"root"}}, http.StatusUnprocessableEntity},
		{"wrong token", false, url.Values{"token": {"sluice_wrong"}}, http.StatusUnauthorized},
		{"no token", false, url.Values{}, http.StatusUnauthorized},
	} {
		cookie, w := session(t, newDoor(t, tt.demo), tt.form)
		if w.Code != tt.status || cookie != nil || strings.Contains(w.Body.String(), "sluice_wrong") {
			t.Errorf("%s: answered %d with cookie %v: %s", tt.name, w.Code, cookie, w.Body)
		}
	}
}

func TestSignInNeverLeadsToAnotherSite(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/audit?application=a": "/audit?application=a", "": "/", "https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/",
		"javascript:alert(1)": "/", "/\t/evil.example": "/", "audit": "/", "/%2f/evil.example": "/%2f/evil.example",
	} {
		_, w := session(t, newDoor(t, true), url.Values{"persona": {"vera"}, "next": {next}})
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("next %q leads to %q, want %q", next, got, want)
		}
	}
}
