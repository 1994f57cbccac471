package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestFreezeIsSavedOnceItsTargetsWereSeen(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	look := freezeForm("look")
	look.Del("seen")
	w := d.post(rita, "/freezes/new", look)
	body := w.Body.String()
	if w.Code != http.StatusOK || d.by.Name != "" {
		t.Errorf("looking answered %d, done as %q", w.Code, d.by.Name)
	}
	for _, want := range []string{"<strong>checkout</strong> in prod-eu, prod-us", "<strong>search</strong> in prod-eu", `name="seen" value="3,4,6"`, `<button id="save"`,
		"Tue 3 Mar 05:00 to Wed 4 Mar 05:30"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	for _, seen := range []string{"", "3,4", "3,4,6,7"} {
		form := freezeForm("save")
		form.Set("seen", seen)
		w := d.post(rita, "/freezes/new", form)
		if w.Code != http.StatusConflict || d.by.Name != "" || !strings.Contains(w.Body.String(), "Nothing is saved yet") {
			t.Errorf("saving what covers other targets than %q answered %d:\n%s", seen, w.Code, w.Body)
		}
	}
}

func TestFreezeFieldsThatAreWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ field, sent, says string }{
		{"starts_at", "soon", "&#34;soon&#34; is no time"},
		{"ends_at", "", "say when it ends"},
		{"ends_at", "2026-03-29T02:30", "there is no 2026-03-29T02:30 in Europe/Berlin"},
		{"zone", "Mars/Olympus", "&#34;Mars/Olympus&#34; is no time zone"},
		{"zone", "Local", "&#34;Local&#34; is no time zone"},
	} {
		d := newDoor(t, true)
		form := freezeForm("save")
		form.Set(tt.field, tt.sent)
		w := d.post(rita, "/freezes/new", form)
		if want := `id="` + tt.field + `-problem" role="alert">` + tt.says; w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s %q answered %d, and the page lacks %q:\n%s", tt.field, tt.sent, w.Code, want, w.Body)
		}
		if d.asked != nil {
			t.Errorf("%s %q was asked for: %+v", tt.field, tt.sent, d.asked)
		}
	}
	for _, field := range []string{"reason", "owner", "starts_at", "ends_at", "applications", "environments", "clusters"} {
		d := newDoor(t, true)
		d.planErr = &promotion.Error{Kind: promotion.Invalid, Field: field, Message: "not so"}
		w := d.post(rita, "/freezes/new", freezeForm("look"))
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `id="`+field+`-problem" role="alert">not so<`) {
			t.Errorf("a wrong %s answered %d and is not said beside it:\n%s", field, w.Code, w.Body)
		}
	}
}
