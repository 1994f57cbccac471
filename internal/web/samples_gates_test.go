package web_test

import (
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

var berlin = func() *time.Location {
	place, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return place
}()

func sampleHold() promotion.Hold {
	return promotion.Hold{ID: 5, Target: target(4, "checkout", "prod-us", 50), Reason: "the US database is being moved, ask dora", HeldBy: "rita", HeldAt: before(3600)}
}

func sampleSyncPause() promotion.SyncPause {
	return promotion.SyncPause{ID: 4, Target: target(4, "checkout", "prod-us", 50), Owner: "dora", Reason: "INC-77: <b>patched</b> by hand", PausedBy: "rita",
		PausedAt: before(7200), ExpiresAt: before(600)}
}

func sampleStop() promotion.Hold {
	return promotion.Hold{ID: 6, Reason: "INC-77: prod is on fire", HeldBy: "ada", HeldAt: before(120)}
}

// sampleOwed is a hotfix that went past prod-eu to prod-us.
func sampleOwed() []promotion.Owed {
	return []promotion.Owed{{Target: target(3, "checkout", "prod-eu", 50), Release: sampleReleases()[0], PromotionID: 12, LiveIn: "prod-us", Since: before(90)}}
}

func sampleOverrides() []promotion.Override {
	return []promotion.Override{
		{ID: 3, Target: target(3, "checkout", "prod-eu", 50), Gates: []string{promotion.GateApprovals, promotion.GateSyncWindow}, Reason: "INC-77: checkout does not answer",
			Incident: "https://incidents.example.com/77", GivenBy: "gil", GivenAt: before(300), ExpiresAt: noon.Add(55 * time.Minute)},
		{ID: 2, Target: target(6, "search", "prod-eu", 50), Gates: []string{promotion.GateHold}, Reason: "the hold was forgotten", GivenBy: "gil",
			GivenAt: before(90000), ExpiresAt: before(86400)},
		{ID: 1, Target: target(6, "search", "prod-eu", 50), Gates: []string{promotion.GateEvidence}, Reason: "the test rig is down", GivenBy: "gil",
			GivenAt: before(190000), ExpiresAt: noon.Add(time.Minute), ReviewedBy: "amir", ReviewedAt: before(1000), Review: "right to do so"},
	}
}

func sampleViolations() []promotion.Violation {
	return []promotion.Violation{
		{ID: 8, Target: target(3, "checkout", "prod-eu", 50), PromotionID: 12, Kind: promotion.ViolationMerged, Actor: "dora", Subject: mergeSHA, FoundAt: before(700),
			Message: "pull request #7 was merged by dora while approvals held it"},
		{ID: 7, Target: target(6, "search", "prod-eu", 50), Kind: promotion.ViolationPushed, Actor: "amir", Subject: source, FoundAt: before(8000),
			Message: "commit 5f2c5f2c5f by amir changed apps/search/overlays/prod-eu past every pull request"},
		{ID: 6, Target: target(6, "search", "prod-eu", 50), Kind: promotion.ViolationSynced, Actor: "unknown", Subject: source, FoundAt: before(80000),
			Message: "search-prod-eu was synced around Sluice", ClosedBy: "ada", ClosedAt: before(70000), Review: "an Argo CD upgrade; automated sync is off again"},
	}
}

func sampleFreezes() []promotion.Freeze {
	return []promotion.Freeze{
		{ID: 4, Kind: promotion.KindFreeze, Reason: "quarter's end", Owner: "dora", Environments: []string{"prod-*"}, StartsAt: noon.Add(40 * time.Hour), EndsAt: noon.Add(64 * time.Hour),
			CreatedBy: "rita", CreatedAt: before(50000)},
		{ID: 5, Kind: promotion.KindWindow, Reason: "mend the search index", Owner: "sam", Applications: []string{"search"}, Clusters: []string{"eu-1", "eu-2"},
			StartsAt: before(3600), EndsAt: noon.Add(3 * time.Hour), CreatedBy: "ada", CreatedAt: before(5000)},
	}
}

// sampleWindows are of the week from 23 February to 1 March 2026 in Berlin.
func sampleWindows() []promotion.TargetWindows {
	from, to := time.Date(2026, 2, 23, 0, 0, 0, 0, berlin), time.Date(2026, 3, 2, 0, 0, 0, 0, berlin)
	always := promotion.TargetWindows{Target: target(1, "checkout", "dev", 10), Now: promotion.WindowDecision{Open: true, Reason: "there are no sync windows"},
		Open: []promotion.Interval{{From: from, To: to, Reason: "there are no sync windows"}}}
	hours := promotion.TargetWindows{Target: target(3, "checkout", "prod-eu", 50),
		Now: promotion.WindowDecision{By: "", Reason: "no allow window is active", Next: time.Date(2026, 3, 2, 9, 0, 0, 0, berlin)}}
	at := from
	for day := from; day.Before(to.AddDate(0, 0, -2)); day = day.AddDate(0, 0, 1) {
		opens, closes := day.Add(9*time.Hour), day.Add(17*time.Hour)
		hours.Closed = append(hours.Closed, promotion.Interval{From: at, To: opens, Reason: "no allow window is active"})
		hours.Open = append(hours.Open, promotion.Interval{From: opens, To: closes, By: "office-hours", Reason: `allow window "office-hours" is active`})
		at = closes
	}
	hours.Closed = append(hours.Closed, promotion.Interval{From: at, To: to.AddDate(0, 0, -1), Reason: "no allow window is active"},
		promotion.Interval{From: to.AddDate(0, 0, -1), To: to, By: "freeze 3", Reason: "frozen by rita: the move"})
	hours.Beside = []promotion.DeploymentWindows{{Deployment: promotion.DeploymentKey{Cluster: "eu-1", Namespace: "argocd", Name: "checkout-prod-eu"}, Project: "shop",
		Now: promotion.WindowDecision{Open: true, Reason: "no deny window is active"}, Differs: []promotion.Interval{{From: from, To: from.Add(9 * time.Hour),
			Reason: "the policy is closed (no allow window is active), the project is open (no deny window is active)"}}},
		{Deployment: promotion.DeploymentKey{Cluster: "us-1", Namespace: "argocd", Name: "checkout-prod-us"}, Project: "shop", Problem: "the cluster does not answer"}}
	closed := promotion.TargetWindows{Target: target(6, "search", "prod-eu", 50), Now: promotion.WindowDecision{Reason: "no policy can be read"},
		Closed: []promotion.Interval{{From: from, To: to, Reason: "no policy can be read"}}}
	return []promotion.TargetWindows{always, hours, closed}
}

func sampleEvidence() []promotion.Evidence {
	return []promotion.Evidence{
		{ID: 3, ReleaseID: 3, Environment: "staging", Name: "integration-tests", Source: "jenkins", Verdict: "pass", URL: "https://ci.example.com/tests/9",
			Summary: "412 passed", PostedBy: "ci", PostedAt: before(1900), ExpiresAt: noon.Add(24 * time.Hour)},
		{ID: 2, ReleaseID: 3, Name: "image-scan", Source: "scanner", Verdict: "fail", Summary: "CVE-2026-1 in libz", PostedBy: "scanner", PostedAt: before(2900)},
		{ID: 1, ReleaseID: 3, Environment: "dev", Name: "smoke", Source: "rita", Verdict: "pass", PostedBy: "rita", PostedAt: before(90000), ExpiresAt: before(10)},
	}
}

func sampleRevisions() []promotion.TargetRevision {
	commit := func(sha, author, message string, ago int) promotion.Commit {
		return promotion.Commit{SHA: strings.Repeat(sha, 10), Author: author, Message: message, When: before(ago)}
	}
	return []promotion.TargetRevision{
		{ID: 30, TargetID: 3, Commit: commit("aaaa", "Sluice <sluice@example.com>", "checkout: 1.1.0 to prod-eu\n\nRelease 2", 86400), ReleaseID: 2, PromotionID: 9},
		{ID: 20, TargetID: 3, Commit: commit("bbbb", "Dora <dora@example.com>", "more memory", 186400), ReleaseID: 1},
		{ID: 10, TargetID: 3, Commit: commit("cccc", "Dora <dora@example.com>", "first", 986400), Imported: true},
	}
}

func sampleRestorePlan() promotion.RestorePlan {
	return promotion.RestorePlan{Target: target(3, "checkout", "prod-eu", 50), Release: sampleReleases()[2], Others: []promotion.Target{target(4, "checkout", "prod-us", 50)},
		Change: promotion.Change{Files: map[string][]byte{"a": nil, "b": nil}, Deletes: []string{"c"}, Diff: openPromotion().Diff,
			Removed:          []promotion.RemovedObject{{Object: "PersistentVolumeClaim/shop/carts", Stateful: true}, {Object: "Service/shop/old"}},
			PlaintextSecrets: []string{"Secret/shop/db"}, Notes: []string{"SealedSecret/shop/api stays as it is today", "ConfigMap/shop/flags comes back: it was deleted since"}}}
}

func samplePlan() promotion.Plan {
	return promotion.Plan{Target: target(4, "checkout", "prod-us", 50), Release: sampleReleases()[0], Gates: sampleGates(), Earliest: noon.Add(20 * time.Hour),
		Waits: openPromotion().WaitsFor, Diff: openPromotion().Diff}
}

// adoptedFields is a change that Sluice writes itself.
func adoptedFields(id int64, t promotion.Target) promotion.Promotion {
	p := personsChange(id, t)
	p.RequestedBy, p.Reason, p.Branch = "rita", "INC-77: the fair", "sluice/checkout/prod-us/17"
	p.Adopt = promotion.Adoption{Cause: "spec.replicas of Deployment.apps shop/checkout is 4, set by kubectl <scale>; Git says 2.",
		Fields: []promotion.AdoptedField{{Object: "Deployment.apps shop/checkout", Path: "spec.replicas", Steps: []string{"f:spec", "f:replicas"}, Value: "4"}}}
	return p
}

// personsChange is what dora's own pull request changes.
func personsChange(id int64, t promotion.Target) promotion.Promotion {
	return promotion.Promotion{ID: id, Target: t, Kind: promotion.KindChange, RequestedBy: "dora", RequestedAt: before(390), Reason: "more replicas of checkout",
		Decision: promotion.Requested, PullRequest: promotion.PullRequestOpen, Branch: "more-replicas", Number: 8, URL: "/git/platform-config/pulls/8", HeadSHA: source,
		RenderedHash: "beef", Diff: "~ Deployment.apps shop/checkout\n    spec.replicas\n      - 2\n      + 4\n", WaitsFor: "0 of 1 approvals."}
}
