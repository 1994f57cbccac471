package scenario_test

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// closesAt has prod's window open until a moment.
func (w *world) closesAt(edge time.Time) {
	w.policies.window = func(_ promotion.Target, at time.Time) promotion.WindowDecision {
		d := promotion.WindowDecision{Open: at.Before(edge), Reason: "as the test says", By: "test"}
		if d.Open {
			d.Next = edge
		}
		return d
	}
}

// restarts has a server that knows nothing but the database go on.
func (w *world) restarts() {
	s := w.service
	w.service = &promotion.Service{Store: s.Store, Sites: s.Sites, Clusters: s.Clusters, Registry: s.Registry, Manifests: s.Manifests,
		Engine: s.Engine, Linter: s.Linter, Policies: s.Policies, Migrations: s.Migrations, Now: s.Now, PublicURL: s.PublicURL, Log: s.Log, Identify: s.Identify, People: s.People, Groups: s.Groups, Author: s.Author, Metrics: s.Metrics,
		Readers: s.Readers, Inspectors: s.Inspectors, LiveObjects: s.LiveObjects, Databases: s.Databases, Patience: s.Patience,
		Destinations: s.Destinations, Projects: s.Projects, Reminders: s.Reminders}
	clear(w.due)
}

func TestAWindowThatClosesAfterTheMergeWasAskedFor(t *testing.T) {
	w := newProdWorld(t)
	w.closesAt(start.Add(time.Hour))
	id := w.approvedAtProd("1.1.0")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	w.clock.pass(time.Hour)
	w.settle()
	w.is(id, promotion.StateOpen)
	same(w, "merge asked by", w.promotion(id).MergeAskedBy, "")
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")
}

// The window closes in the middle of the step that merges, after its gates were evaluated.
func TestAWindowThatClosesInsideTheMerge(t *testing.T) {
	w := newProdWorld(t)
	w.closesAt(start.Add(time.Hour))
	id := w.approvedAtProd("1.1.0")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	w.service.Checkpoint = func(boundary string) {
		if boundary == "merge:begun" {
			w.clock.pass(time.Hour)
		}
	}
	_, _, _ = w.service.Advance(w.Context(), id) // whether it says so or tries again is not the point
	w.service.Checkpoint = nil
	w.settle()
	w.is(id, promotion.StateOpen)
}

func TestAWindowThatClosesInsideTheSync(t *testing.T) {
	w := newProdWorld(t)
	w.closesAt(start.Add(time.Hour))
	id := w.approvedAtProd("1.1.0")
	w.sees("web", "prod", healthy)
	w.service.Checkpoint = func(boundary string) {
		if boundary == "sync:begun" {
			w.clock.pass(time.Hour)
		}
	}
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	_, _, _ = w.service.Advance(w.Context(), id) // whether it says so or tries again is not the point
	w.service.Checkpoint = nil
	w.settle()
	w.is(id, promotion.StateMerged)
	same(w, "syncs", len(w.cluster.syncs), 0)
}

func TestAClockThatStepsBackClosesTheWindowAgain(t *testing.T) {
	w := newProdWorld(t)
	opens := start.Add(time.Hour)
	w.policies.window = func(_ promotion.Target, at time.Time) promotion.WindowDecision {
		return promotion.WindowDecision{Open: !at.Before(opens), Reason: "as the test says", By: "test"}
	}
	w.clock.pass(2 * time.Hour)
	id := w.approvedAtProd("1.1.0")
	w.clock.pass(-90 * time.Minute)
	_, err := w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
	w.lookAtEverything()
	w.is(id, promotion.StateOpen)
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")
	w.pass(time.Hour)
	w.lookAtEverything()
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

// A freeze that was over before the clock stepped back is in force again, and an override that expired does not come back unseen.
func TestAClockThatStepsBackBringsAFreezeBack(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	_, err := w.service.Freeze(w.Context(), rita, promotion.Freeze{Kind: promotion.KindFreeze, Reason: "the big sale", Owner: "ops",
		Environments: []string{"prod"}, StartsAt: start, EndsAt: start.Add(time.Hour)})
	w.must(err)
	w.settle()
	w.pass(2 * time.Hour)
	same(w, "verdict after the freeze", w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict, promotion.Pass)
	w.clock.pass(-90 * time.Minute)
	_, err = w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
}

// On 29 March 2026 at 02:00 the clocks of Berlin went to 03:00; on 25 October at 03:00 they went back to 02:00.
func TestAWindowOnTheNightsThatTheClocksChange(t *testing.T) {
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for name, night := range map[string]struct{ opens, closes time.Time }{
		"an hour is skipped":  {at("2026-03-29T00:00:00Z"), at("2026-03-29T02:00:00Z")},
		"an hour comes twice": {at("2026-10-24T23:00:00Z"), at("2026-10-25T03:00:00Z")},
		"the night after":     {at("2026-03-29T23:00:00Z"), at("2026-03-30T02:00:00Z")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.clone().Push("main", "sluice.yaml", `version: 1
windows:
- {name: at night, kind: allow, schedule: 0 1 * * *, duration: 3h, timezone: Europe/Berlin, environments: [prod]}
`)
			w.settle()
			id := w.approvedWhenever("1.1.0")
			verdict := func(when time.Time) promotion.Verdict {
				w.pass(when.Sub(w.clock.now()))
				return w.gate(id, promotion.PhaseMerge, promotion.GateSyncWindow).Verdict
			}
			same(w, "verdict a minute before", verdict(night.opens.Add(-time.Minute)), promotion.Wait)
			_, err := w.service.Merge(w.Context(), rita, id)
			w.refused(err, "merge-refused")
			same(w, "verdict a minute after it opens", verdict(night.opens.Add(time.Minute)), promotion.Pass)
			same(w, "verdict half an hour before it closes", verdict(night.closes.Add(-30*time.Minute)), promotion.Pass)
			same(w, "verdict a minute after it closes", verdict(night.closes.Add(time.Minute)), promotion.Wait)
			_, err = w.service.Merge(w.Context(), rita, id)
			w.refused(err, "merge-refused")
		})
	}
}

// approvedWhenever is a promotion to prod that ada approved although a window may hold it.
func (w *world) approvedWhenever(version string) int64 {
	w.Helper()
	id := w.atProd(version)
	w.approves(ada, id)
	return id
}

func TestAnApproverWhoseRoleNoLongerApproves(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) {
		p.ApproverRoles = []promotion.Role{promotion.RoleAdmin}
	}
	_, err := w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
	w.lookAtEverything()
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Wait)
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")
	without := ada
	without.Roles = []promotion.Role{promotion.RoleViewer}
	_, err = w.service.Decide(w.Context(), without, promotion.DecideRequest{PromotionID: id, Decision: "approve"})
	w.refused(err, "forbidden")
	w.approves(otto, id)
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

// An approver is in one of the groups that the policy names, as long as their approval is to count.
func TestAnApproverIsInAGroup(t *testing.T) {
	w := newProdWorld(t)
	members := map[string][]string{ada.Name: {"web"}, otto.Name: {"payments"}}
	w.service.Groups = func(name string) []string { return members[name] }
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) {
		p.ApproverGroups = []string{"payments", "sre"}
	}
	id := w.atProd("1.1.0")
	approvals := func() promotion.GateResult { return w.gate(id, promotion.PhaseMerge, promotion.GateApprovals) }
	w.contains("at first", approvals().Reason, "and in the group payments or sre, must approve")
	w.approves(ada, id)
	w.contains("of another group", approvals().Reason, "0 of 1", "ada is not in the group payments or sre")
	w.approves(otto, id)
	same(w, "of the group", approvals().Verdict, promotion.Pass)
	members[otto.Name] = nil
	_, err := w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
	w.lookAtEverything()
	w.contains("who left it", approvals().Reason, "0 of 1", "otto is not in the group payments or sre")
	members[ada.Name] = []string{"sre"}
	w.lookAtEverything()
	same(w, "who came", approvals().Verdict, promotion.Pass)
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

// Where the policy says so, nobody approves what they wrote a part of, and what nobody knows the authors of waits for somebody who says it.
func TestAnAuthorDoesNotApprove(t *testing.T) {
	for name, test := range map[string]struct {
		authors []string
		says    string // of ada's approval; empty: it counts
	}{
		"somebody else":     {[]string{otto.Name}, ""},
		"the approver":      {[]string{otto.Name, ada.Name}, "ada wrote a part of it"},
		"by another name":   {[]string{"ada@example.com"}, "ada wrote a part of it"},
		"nobody said":       {nil, "no build says who wrote"},
		"somebody unknown":  {[]string{otto.Name, "mallory"}, "mallory is not known here"},
		"a shouted address": {[]string{"ADA"}, "ada wrote a part of it"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.service.Author = func(_, author string) (string, bool) {
				names := map[string]string{"ada@example.com": ada.Name, "ADA": "ADA", ada.Name: ada.Name, otto.Name: otto.Name}
				return names[author], names[author] != ""
			}
			w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) { p.ExcludeAuthors = true }
			request := w.request("1.1.0", "web")
			request.Source.Authors = test.authors
			out := w.posts(request)
			w.settle()
			id := w.promotes(out.Releases[0], "prod")
			w.approves(ada, id)
			gate := w.gate(id, promotion.PhaseMerge, promotion.GateApprovals)
			if test.says == "" {
				same(w, "verdict", gate.Verdict, promotion.Pass)
				w.merges(rita, id)
				w.is(id, promotion.StateMerged)
				return
			}
			w.contains("the gate", gate.Reason, test.says)
			_, err := w.service.Merge(w.Context(), rita, id)
			w.refused(err, "merge-refused")
			if test.authors == nil {
				request.Source.Authors = []string{otto.Name}
				w.posts(request)
				w.lookAtEverything()
				same(w, "once it is posted again", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)
			}
		})
	}
}

func TestAnApprovalOfAnOlderHeadDoesNotCount(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	seen := w.promotion(id).RenderedHash
	w.edits(overlay("web", "prod"), "count: 4", "count: 5")
	_, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "approve", Rendered: seen})
	w.refused(err, "content-changed")
	same(w, "approvals", w.count("SELECT count(*) FROM approvals"), 0)
	_, err = w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "approve", Rendered: w.promotion(id).RenderedHash})
	w.must(err)
	w.edits(overlay("web", "prod"), "count: 5", "count: 6")
	w.contains("the approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "0 of 1", "ada approved another content")
	_, err = w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
}

func TestTwoApproversAtTheSameInstantBothCount(t *testing.T) {
	w := newProdWorld(t)
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) { p.Approvals = 2 }
	id := w.atProd("1.1.0")
	people := []promotion.Actor{ada, gil, ada, gil}
	atOnce(len(people), func(i int) {
		if _, err := w.service.Decide(w.Context(), people[i], promotion.DecideRequest{PromotionID: id, Decision: "approve"}); err != nil {
			t.Error(err)
		}
	})
	w.settle()
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

func TestOneApproverTwiceAtTheSameInstantIsOne(t *testing.T) {
	w := newProdWorld(t)
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) { p.Approvals = 2 }
	id := w.atProd("1.1.0")
	atOnce(4, func(int) {
		if _, err := w.service.Decide(w.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "approve"}); err != nil {
			t.Error(err)
		}
	})
	w.settle()
	w.contains("the approvals", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "1 of 2")
}

func TestAnApprovalAndARejectionAtTheSameInstantIsARejection(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	decisions := []string{"approve", "reject"}
	atOnce(2, func(i int) {
		_, err := w.service.Decide(w.Context(), []promotion.Actor{ada, gil}[i], promotion.DecideRequest{PromotionID: id, Decision: decisions[i], Comment: "at once"})
		if err != nil && decisions[i] == "reject" {
			t.Error(err)
		}
	})
	w.settle()
	w.is(id, promotion.StateRejected)
}

func TestMainThatMovesAfterTheMergeWasAskedFor(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	approved := w.promotion(id).RenderedHash
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	content := w.file("apps/web/base/configmap.yaml")
	w.clone().Push("main", "apps/web/base/configmap.yaml", content+"  ADDED: \"later\"\n")
	w.settle()
	w.is(id, promotion.StateOpen)
	if w.promotion(id).RenderedHash == approved {
		t.Error("the promotion still says what it rendered before main moved")
	}
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Wait)
}

// Main moves after the gates were evaluated, in the middle of the step that merges: what reaches main is not what was approved,
// which the merge cannot know, and the sync must.
func TestMainThatMovesInsideTheMergeDoesNotReachProd(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", healthy)
	id := w.approvedAtProd("1.1.0")
	content := w.file("apps/web/base/configmap.yaml")
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	moved := false
	w.service.Checkpoint = func(boundary string) {
		if boundary == "merge:begun" && !moved {
			moved = true
			w.clone().Push("main", "apps/web/base/configmap.yaml", content+"  ADDED: \"later\"\n")
		}
	}
	w.settle()
	same(w, "main's moving", moved, true)
	same(w, "syncs", len(w.cluster.syncs), 0)
}

// A status never expires by itself: it is green still although the window has closed, and the host lets a person merge.
func TestAStaleGreenStatusWhileSluiceWasDown(t *testing.T) {
	w := newProdWorld(t)
	w.closesAt(start.Add(time.Hour))
	w.sees("web", "prod", healthy)
	id := w.approvedAtProd("1.1.0")
	p := w.promotion(id)
	state, _ := w.gates(p.Number)
	same(w, "status", state, "success")

	w.clock.pass(2 * time.Hour) // and nobody is there to turn it red
	state, _ = w.gates(p.Number)
	same(w, "status while Sluice is down", state, "success")
	_, err := w.host.Repository(repository).Merge(w.Context(), p.Number, p.HeadSHA, "by hand", otto, "")
	w.must(err)

	w.restarts()
	w.lookAtEverything()
	w.is(id, promotion.StateMerged)
	messages := w.texts("SELECT actor || ': ' || message FROM violations WHERE kind = 'merged' AND promotion_id = $1", id)
	same(w, "violations", len(messages), 1)
	w.contains("the violation", messages[0], "otto", promotion.GateSyncWindow)
	same(w, "syncs", len(w.cluster.syncs), 0)
	w.contains("what it waits for", w.promotion(id).WaitsFor, "sync is held")
}

// What was merged in time while Sluice was down is no violation, however late it looks; the sync is held all the same.
func TestAMergeInTimeWhileSluiceWasDownIsNoViolation(t *testing.T) {
	w := newProdWorld(t)
	w.closesAt(start.Add(time.Hour))
	w.sees("web", "prod", healthy)
	id := w.approvedAtProd("1.1.0")
	p := w.promotion(id)
	_, err := w.host.Repository(repository).Merge(w.Context(), p.Number, p.HeadSHA, "by hand", otto, "")
	w.must(err)
	w.clock.pass(2 * time.Hour)
	w.restarts()
	w.lookAtEverything()
	w.is(id, promotion.StateMerged)
	same(w, "violations", w.count("SELECT count(*) FROM violations"), 0)
	same(w, "syncs", len(w.cluster.syncs), 0)
}
