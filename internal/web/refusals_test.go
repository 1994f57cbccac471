package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestRefusedActionKeepsWhatWasSent(t *testing.T) {
	t.Parallel()
	gates := []promotion.GateResult{{Gate: promotion.GateContent, Phase: promotion.PhaseMerge, Mode: promotion.Enforce, Verdict: promotion.Block, Reason: "main has moved & differs"}}
	for _, tt := range []struct {
		name, target string
		form         url.Values
		err          *promotion.Error
		status       int
		shows        []string
	}{
		{"missing comment", "/promotions/12/reject", url.Values{"comment": {""}},
			&promotion.Error{Kind: promotion.Invalid, Field: "comment", Message: "say why you reject"}, http.StatusUnprocessableEntity,
			[]string{`aria-invalid="true" aria-describedby="comment-problem"`, `id="comment-problem" role="alert">say why you reject`}},
		{"content changed", "/promotions/12/approve", url.Values{"comment": {"looks <fine>"}, "rendered": {"0ld"}},
			&promotion.Error{Kind: promotion.Conflict, Code: "content-changed", Message: "read it again"}, http.StatusConflict,
			[]string{`maxlength="2000">looks &lt;fine&gt;</textarea>`, "<strong>read it again</strong>"}},
		{"held", "/promotions/12/merge", nil,
			&promotion.Error{Kind: promotion.Refused, Message: "held by content", Gates: gates}, http.StatusConflict,
			[]string{"<strong>held by content</strong>", "main has moved &amp; differs", `id="gate-content-merge" class="holds"`}},
		{"not open", "/promotions/12/cancel", url.Values{"reason": {"wrong one"}},
			&promotion.Error{Kind: promotion.Conflict, Message: "it cannot be cancelled"}, http.StatusConflict,
			[]string{"it cannot be cancelled", `maxlength="2000">wrong one</textarea>`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t, true)
			d.err = tt.err
			w := d.post(ada, tt.target, tt.form)
			if w.Code != tt.status {
				t.Errorf("answered %d, want %d", w.Code, tt.status)
			}
			for _, want := range tt.shows {
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("the page lacks %q:\n%s", want, w.Body)
				}
			}
			if strings.Contains(w.Body.String(), "data-events") {
				t.Error("the page of a refusal would be replaced while it is read")
			}
		})
	}
}

func TestRefusedPromoteKeepsWhatWasSent(t *testing.T) {
	t.Parallel()
	form := url.Values{"application": {"checkout"}, "environment": {"staging"}, "release": {"2"}, "reason": {`CHG-7 "now"`}}
	for status, refused := range map[int]*promotion.Error{
		http.StatusConflict:            {Kind: promotion.Conflict, Message: "main already has release 2"},
		http.StatusUnprocessableEntity: {Kind: promotion.Invalid, Field: "release", Message: "say which release"},
	} {
		d := newDoor(t, true)
		d.err = refused
		w := d.post(rita, "/promote", form)
		if w.Code != status {
			t.Errorf("answered %d, want %d", w.Code, status)
		}
		for _, want := range []string{refused.Message, `<option value="staging" selected>`, `<option value="2" selected>`, `>CHG-7 &#34;now&#34;</textarea>`} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("the page of %d lacks %q:\n%s", status, want, w.Body)
			}
		}
	}
}

func TestActionsPassOnWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		target string
		form   url.Values
		want   any
	}{
		{"/promotions/12/approve", url.Values{"comment": {" fine \n"}, "rendered": {"f00d"}},
			promotion.DecideRequest{PromotionID: 12, Decision: "approve", Comment: "fine", Rendered: "f00d"}},
		{"/promotions/12/reject", url.Values{"comment": {"no"}}, promotion.DecideRequest{PromotionID: 12, Decision: "reject", Comment: "no"}},
		{"/promote", url.Values{"application": {"checkout"}, "environment": {"dev"}, "release": {"3"}, "reason": {"x"}},
			promotion.PromoteRequest{Application: "checkout", Environment: "dev", Release: "3", Reason: "x"}},
		{"/promote", url.Values{"application": {"checkout"}, "environment": {"dev"}, "release": {"3"}, "with": {"staging", "prod"}},
			promotion.PromoteRequest{Application: "checkout", Environment: "dev", Release: "3", With: []string{"staging", "prod"}}},
	} {
		d := newDoor(t, true)
		w := d.post(ada, tt.target, tt.form)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/promotions/12" {
			t.Errorf("POST %s answered %d to %q", tt.target, w.Code, w.Header().Get("Location"))
		}
		if !reflect.DeepEqual(d.asked, tt.want) || d.by.Name != "ada" {
			t.Errorf("POST %s asked for %+v as %s, want %+v", tt.target, d.asked, d.by.Name, tt.want)
		}
	}
}

func TestWhatIsSluicesFaultStaysInside(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	d.err = errors.New("dial tcp 10.0.0.7:5432: connection refused")
	w := d.post(ada, "/promotions/12/merge", nil)
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "10.0.0.7") {
		t.Errorf("answered %d: %s", w.Code, w.Body)
	}
	if !strings.Contains(d.log.String(), "10.0.0.7") {
		t.Errorf("the log does not say why: %s", d.log.String())
	}
}

func TestNotFound(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	for _, target := range []string{"/promotions/99", "/promotions/x", "/promotions/-1", "/releases/99", "/applications/none", "/nothing",
		"/promote?application=none", "/git/none/pulls", "/git/none/pulls/new", "/git/platform-config/pulls/99",
		"/applications/checkout/none", "/hold?application=checkout&environment=none", "/restore?application=none&environment=dev", "/overrides/new?application=none", "/git/platform-config/pulls/x", "/events?promotion=x"} {
		w := d.get(vera, target)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "Not found") {
			t.Errorf("GET %s answered %d: %s", target, w.Code, w.Body)
		}
	}
	for _, target := range []string{"/audit?before=x", "/history?before=0", "/audit?promotion=x"} {
		if w := d.get(vera, target); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("GET %s answered %d", target, w.Code)
		}
	}
}

func TestFormTooLarge(t *testing.T) {
	t.Parallel()
	d := newDoor(t, true)
	w := d.post(ada, "/promotions/12/reject", url.Values{"comment": {strings.Repeat("x", 1<<17)}})
	if w.Code != http.StatusBadRequest || d.asked != nil {
		t.Errorf("a form of 128 KiB answered %d and did %v", w.Code, d.asked)
	}
}
