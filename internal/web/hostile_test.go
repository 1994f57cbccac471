package web_test

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/sluicehq/sluice/internal/promotion"
)

const (
	hostile     = `"><script>alert(1)</script><img src=x onerror=alert(1)>'` + "\u202e"
	hostileLink = "javascript:alert(1)//"
)

// hostileDoor has hostile text wherever somebody outside may have written it.
func hostileDoor(t *testing.T) *door {
	d := newDoor(t, true)
	for i := range d.promotions {
		p := &d.promotions[i]
		p.Reason, p.WaitsFor, p.Failure, p.Diff, p.URL, p.Release.Version, p.RequestedBy = hostile, hostile, hostile, "+ "+hostile, hostileLink, hostile, hostile
	}
	for i := range d.gates {
		d.gates[i].Reason = hostile
	}
	d.approvals[0].Comment, d.events[0].Message, d.events[0].Actor.Name = hostile, hostile, hostile
	d.releases[0].Version, d.releases[0].Aliases, d.releases[0].Artifacts[0].Tag = hostile, []string{hostile}, hostile
	d.releases[0].Artifacts[0].Digest = ""
	d.links[0].Proof, d.links[0].Expected = hostile, hostile
	d.history[0].Message, d.history[0].Version, d.history[0].Images = hostile, hostile, []string{hostile}
	for i := range d.rows {
		cell := &d.rows[i].Cells[0]
		cell.Target.RenderProblem, cell.Open, cell.Desired = hostile, &d.promotions[0], &d.releases[0]
		for j := range cell.Deployments {
			cell.Deployments[j].Message, cell.Deployments[j].Key.Cluster = hostile, hostile
		}
	}
	hold, stop := sampleHold(), sampleStop()
	hold.Reason, stop.Reason, stop.HeldBy = hostile, hostile, hostile
	d.holds, d.overrides, d.violations = []promotion.Hold{hold, stop}, sampleOverrides(), sampleViolations()
	d.overrides[0].Reason, d.overrides[0].Incident, d.overrides[0].GivenBy, d.overrides[0].Gates = hostile, hostileLink, hostile, []string{hostile}
	d.violations[0].Message, d.violations[0].Actor, d.violations[2].Review = hostile, hostile, hostile
	d.freezes[0].Reason, d.freezes[0].Owner, d.freezes[0].Environments = hostile, hostile, []string{hostile}
	d.evidence[0].Summary, d.evidence[0].URL, d.evidence[0].Name, d.evidence[0].Source = hostile, hostileLink, hostile, hostile
	d.revisions[0].Commit.Message, d.revisions[0].Commit.Author, d.revisions[0].Commit.SHA = hostile, hostile, hostile
	d.restored.Change.Notes, d.restored.Change.Diff, d.restored.Change.Removed[0].Object = []string{hostile}, "+ "+hostile, hostile
	d.planned.Waits, d.planned.Diff, d.planned.Gates[0].Reason = hostile, "+ "+hostile, hostile
	d.windows[1].Now.Reason, d.windows[1].Closed[0].Reason, d.windows[2].Closed[0].Reason = hostile, hostile, hostile
	d.engine = []promotion.EngineFault{{File: hostile, Line: 1, Message: hostile}}
	d.faults = promotion.PolicyFaults{{File: hostile, Line: 1, Message: hostile}}
	d.releases[0].RejectedBy, d.releases[0].Rejection = hostile, hostile
	d.releases[0].RolledBack = []promotion.RollbackMark{{PromotionID: 12, Environment: hostile, By: hostile, Reason: hostile}}
	d.branches = []string{hostile}
	d.changes = []promotion.Promotion{personsChange(15, target(3, "checkout", "prod-eu", 50))}
	d.changes[0].WaitsFor = hostile
	p := &d.pull
	p.Title, p.Branch, p.Body, p.Diff = hostile, hostile, hostile+"\n\n[x]("+hostileLink+") <a href=\""+hostileLink+"\">y</a>", hostile
	p.Comments[0].Body, p.Comments[0].Author, p.Statuses[0].URL = hostile, hostile, hostileLink
	return d
}

func TestHostileTextIsOnlyText(t *testing.T) {
	t.Parallel()
	query := url.QueryEscape(hostile)
	for _, target := range []string{"/", "/promotions/12", "/promotions/14", "/promote?application=checkout&release=3", "/applications/checkout",
		"/releases/3", "/history", "/audit", "/set-up", "/git/platform-config/pulls/7", "/git/platform-config/pulls/8",
		"/git/platform-config/pulls/new", "/applications/checkout/prod-us", "/hold", "/hold?application=checkout&environment=prod-us", "/calendar",
		"/calendar?view=month", "/freezes/new?application=" + query, "/overrides/new?application=checkout&environment=prod-eu&gates=" + query + "&reason=" + query,
		"/violations", "/notifications", "/restore?application=checkout&environment=prod-eu&commit=" + query, "/sign-in?next=" + hostileLink} {
		w := hostileDoor(t).get(ada, target)
		if !strings.Contains(w.Body.String(), "alert(1)") && !strings.Contains(target, "sign-in") {
			t.Errorf("GET %s shows nothing hostile: the test tests nothing", target)
		}
		harmless(t, target, w.Body.String())
	}
	d := hostileDoor(t)
	d.err = &promotion.Error{Kind: promotion.Refused, Message: hostile, Gates: d.gates}
	harmless(t, "refused", d.post(ada, "/promotions/12/merge", nil).Body.String())
}

// harmless parses a page and looks for anything in it that could run.
func harmless(t *testing.T, where, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style":
				t.Errorf("%s: <%s %s=%q>", where, n.Data, a.Key, a.Val)
			case strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") && (a.Key == "href" || a.Key == "src" || a.Key == "action"):
				t.Errorf("%s: <%s %s=%q>", where, n.Data, a.Key, a.Val)
			case a.Key == "src" && !strings.HasPrefix(a.Val, "/static/"):
				t.Errorf("%s: <%s> loads %q", where, n.Data, a.Val)
			}
		}
		if n.Data == "style" || n.Data == "script" && n.FirstChild != nil {
			t.Errorf("%s: an inline <%s>", where, n.Data)
		}
	}
}
