package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// stands has rita's wish to merge when the gates pass stand.
func stands(p *promotion.Promotion) {
	p.StandingMerge = promotion.StandingMerge{By: "rita", At: before(600), Roles: []promotion.Role{promotion.RoleReleaseManager}, RenderedHash: p.RenderedHash}
}

func TestStandingMergeIsShownWhileItStands(t *testing.T) {
	t.Parallel()
	const ask, withdraw = `action="/promotions/12/standing-merge"`, `action="/promotions/12/withdraw-merge"`
	const shown = "<dt>Merged when the gates pass</dt><dd>as rita asked"
	for _, tt := range []struct {
		name, as string
		change   func(*promotion.Promotion)
		has, not []string
	}{
		{"nobody asked", amir, func(*promotion.Promotion) {}, []string{ask, `name="rendered" value="f00d"`}, []string{shown, withdraw}},
		{"it stands", amir, stands, []string{shown, withdraw}, []string{ask}},
		{"it stands, for a viewer", vera, stands, []string{shown, `id="no-standing-merge"`, "needs the role"}, []string{ask, withdraw}},
		{"it was for other content", amir, func(p *promotion.Promotion) { stands(p); p.StandingMerge.RenderedHash = "0ld" }, []string{ask}, []string{shown, withdraw}},
		{"it is merged", amir, func(p *promotion.Promotion) { stands(p); p.PullRequest = promotion.PullRequestMerged }, []string{`id="no-standing-merge"`}, []string{shown, ask, withdraw}},
	} {
		d := newDoor(t, true)
		tt.change(&d.promotions[0])
		w := d.get(tt.as, "/promotions/12")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: the page answered %d", tt.name, w.Code)
		}
		for _, text := range tt.has {
			if !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: the page lacks %q", tt.name, text)
			}
		}
		for _, text := range tt.not {
			if strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: the page has %q", tt.name, text)
			}
		}
	}
}
