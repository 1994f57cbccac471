package web_test

import (
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/web"
)

var (
	noon     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	newImage = "registry.example.com/shop/checkout@sha256:" + strings.Repeat("4be1", 16)
	oldImage = "registry.example.com/shop/checkout@sha256:" + strings.Repeat("90aa", 16)
	mergeSHA = strings.Repeat("d1e2", 10)
	source   = strings.Repeat("5f2c", 10)
)

// before is some seconds before the samples' now.
func before(seconds int) time.Time { return noon.Add(-time.Duration(seconds) * time.Second) }

func target(id int64, application, environment string, rank int) promotion.Target {
	return promotion.Target{ID: id, ApplicationID: 1, Application: application, Repository: "platform-config", Environment: environment,
		Rank: rank, Path: "apps/" + application + "/overlays/" + environment, Layout: "kustomize"}
}

func runs(t promotion.Target, cluster string, r promotion.Release, sync promotion.SyncStatus, health promotion.HealthStatus, since time.Time) promotion.Deployment {
	d := promotion.Deployment{TargetID: t.ID, Application: t.Application, Environment: t.Environment, ReleaseID: r.ID, Version: r.Version,
		Number: r.Number, Since: since}
	d.Observation = promotion.Observation{Key: promotion.DeploymentKey{Cluster: cluster, Namespace: "argocd", Name: t.Application + "-" + t.Environment},
		Simulated: true, Sync: sync, Health: health, Revision: mergeSHA, ObservedAt: before(3), RepositoryURL: "https://git.example.com/platform/config",
		Path: t.Path}
	for _, a := range r.Artifacts {
		d.Images = append(d.Images, a.Reference())
	}
	return d
}

func strayDeployment() promotion.Deployment {
	d := promotion.Deployment{Application: "", Since: before(400)}
	d.Observation = promotion.Observation{Key: promotion.DeploymentKey{Cluster: "eu-1", Namespace: "argocd", Name: "grafana"},
		RepositoryURL: "https://git.example.com/other/repo", Path: "grafana", Sync: promotion.Synced, Health: promotion.Healthy, ObservedAt: before(5)}
	return d
}

func sampleReleases() []promotion.Release {
	return []promotion.Release{
		{ID: 3, Application: "checkout", Number: 3, Version: "1.2.0", Line: "main", Origin: promotion.FromBuild, BuildID: 7, RebuildOf: 2,
			Aliases: []string{"1.2.0-rc1"}, CreatedAt: before(3600), Artifacts: []promotion.Artifact{
				{Name: "checkout", Repository: "registry.example.com/shop/checkout", Digest: newImage[len(newImage)-71:], BuildID: 7},
				{Name: "sidecar", Repository: "registry.example.com/shop/sidecar", Digest: "sha256:" + strings.Repeat("c0de", 16), CarriedFrom: 2}},
			Charts: []promotion.ReleaseChart{{Chart: promotion.Chart{Name: "checkout", Version: "0.4.0"}, BuildID: 6, CarriedFrom: 2}}},
		{ID: 2, Application: "checkout", Number: 2, Version: "1.1.0", Line: "main", Origin: promotion.FromBuild, BuildID: 6, CreatedAt: before(90000),
			Artifacts: []promotion.Artifact{{Name: "checkout", Repository: "registry.example.com/shop/checkout", Digest: oldImage[len(oldImage)-71:], BuildID: 6}}},
		{ID: 1, Application: "checkout", Number: 1, Version: "1.0.0", Line: "main", Origin: promotion.FromImport, CreatedAt: before(900000),
			Artifacts: []promotion.Artifact{{Name: "checkout", Repository: "registry.example.com/shop/checkout", Tag: "1.0.0"}}},
	}
}

func sampleBuild() promotion.Build {
	return promotion.Build{ID: 7, Version: "1.2.0", Line: "main", Source: promotion.Source{Repository: "https://git.example.com/shop/checkout",
		Commit: source, Ref: "refs/heads/main"}, CI: promotion.CIRun{Provider: "jenkins", RunURL: "https://ci.example.com/shop/checkout/88"},
		PostedBy: "ci", PostedAt: before(3700)}
}

func openPromotion() promotion.Promotion {
	return promotion.Promotion{ID: 12, Target: target(3, "checkout", "prod-eu", 50), Release: sampleReleases()[0], Kind: promotion.KindRelease,
		RequestedBy: "rita", RequestedAt: before(1200), Reason: "weekly release, CHG-1041", Decision: promotion.Requested,
		PullRequest: promotion.PullRequestOpen, Number: 7, URL: "/git/platform-config/pulls/7", HeadSHA: source, RenderedHash: "f00d",
		Source: []promotion.SourceChange{{Repository: "github.com/acme/checkout", From: "5ca1ab1e00", To: "f00dfeed00", SourceRange: promotion.SourceRange{
			URL: "https://github.com/acme/checkout/compare/5ca1ab1e00...f00dfeed00", Total: 23,
			Commits: []promotion.SourceCommit{{SHA: "f00dfeed00", Title: "Round the total <once>", Author: "Ann"}}}},
			{Repository: "git.example.test/pay", From: "1", To: "2", Problem: "cannot be read from here"}},
		Diff:     "~ Deployment.apps shop/checkout\n    spec.template.spec.containers[checkout].image\n      - " + oldImage + "\n      + " + newImage + "\n",
		WaitsFor: "0 of 1 approvals. Somebody other than rita, with the role approver or release-manager or admin, must approve."}
}

func failedPromotion() promotion.Promotion {
	return promotion.Promotion{ID: 14, Target: target(5, "search", "dev", 10), Release: promotion.Release{ID: 9, Application: "search", Number: 31, Version: "2.4.0"},
		Kind: promotion.KindRelease, RequestedBy: "sluice", RequestedAt: before(900), Decision: promotion.Requested, PullRequest: promotion.PullRequestMerged,
		Number: 9, URL: "https://git.example.com/platform/config/pulls/9", MergeSHA: mergeSHA, MergedBy: "sluice", MergedAt: before(800),
		SyncStartedAt: before(790), Failure: "The new pods of search crash: container search ended with exit code 1, 4 times."}
}

func samplePromotions() []promotion.Promotion {
	verified := promotion.Promotion{ID: 10, Target: target(2, "checkout", "staging", 30), Release: sampleReleases()[0], Kind: promotion.KindRelease,
		RequestedBy: "rita", RequestedAt: before(2400), Decision: promotion.Requested, PullRequest: promotion.PullRequestMerged, Number: 5,
		URL: "https://git.example.com/platform/config/pulls/5", MergeSHA: mergeSHA, MergedBy: "sluice", MergedAt: before(2200),
		SyncStartedAt: before(2190), SyncedAt: before(2180), LiveAt: before(2100), VerifiedAt: before(2000)}
	return []promotion.Promotion{openPromotion(), failedPromotion(), verified}
}

func sampleGates() []promotion.GateResult {
	gate := func(name string, phase promotion.Phase, mode promotion.Mode, v promotion.Verdict, reason string) promotion.GateResult {
		return promotion.GateResult{Gate: name, Phase: phase, Mode: mode, Verdict: v, Reason: reason, EvaluatedAt: before(10)}
	}
	approvals := gate(promotion.GateApprovals, promotion.PhaseMerge, promotion.Enforce, promotion.Wait, openPromotion().WaitsFor)
	approvals.Inputs = map[string]any{"by": []any{}}
	window := gate(promotion.GateSyncWindow, promotion.PhaseMerge, promotion.Enforce, promotion.Wait, "The window office-hours is closed on Sundays.")
	window.Until = noon.Add(20 * time.Hour)
	return []promotion.GateResult{
		gate(promotion.GateImmutableReference, promotion.PhaseOpen, promotion.Enforce, promotion.Pass, "every image is named by digest"),
		gate(promotion.GateArtifactAvailable, promotion.PhaseOpen, promotion.Enforce, promotion.Pass, "the registry has both images, whole"),
		gate(promotion.GateUpstreamVerified, promotion.PhaseOpen, promotion.Enforce, promotion.Pass, "the same digests are verified in staging"),
		gate(promotion.GateContent, promotion.PhaseMerge, promotion.Enforce, promotion.Pass, "the merge renders exactly what was recorded"),
		approvals, window,
		gate(promotion.GateBranchProtected, promotion.PhaseMerge, promotion.Report, promotion.Block, "the base branch is not fully protected: pushes are not refused"),
		gate(promotion.GateServerDryRun, promotion.PhaseSync, promotion.Report, promotion.Block, "unchecked: no dry run is connected for cluster eu-1"),
	}
}

func sampleApprovals() []promotion.Approval {
	return []promotion.Approval{{ID: 1, PromotionID: 12, Actor: "ada", Roles: []promotion.Role{promotion.RoleAdmin}, Decision: "approve",
		Comment: "looked at the migration", RenderedHash: "0ld", DecidedAt: before(1000)}}
}

func sampleEvents() []promotion.AuditEvent {
	event := func(id int64, ago int, by promotion.Actor, action, message string) promotion.AuditEvent {
		return promotion.AuditEvent{ID: id, At: before(ago), Actor: by, Action: action, Object: "promotion/12", Application: "checkout",
			Environment: "prod-eu", ReleaseID: 3, PromotionID: 12, Message: message, RequestID: "r-1", SourceAddress: "192.0.2.7"}
	}
	rita := promotion.Actor{Name: "rita", Kind: promotion.Person}
	return []promotion.AuditEvent{
		event(4, 1000, promotion.Actor{Name: "ada", Kind: promotion.Person}, "promotion.approved", "approved looked at the migration"),
		event(3, 1100, promotion.Sluice(), "promotion.opened", "pull request #7 opened"),
		event(2, 1200, rita, "promotion.requested", "release 3 (1.2.0) of checkout requested for prod-eu"),
	}
}

func sampleBoard() []promotion.BoardRow {
	releases := sampleReleases()
	dev, staging := target(1, "checkout", "dev", 10), target(2, "checkout", "staging", 30)
	eu, us := target(3, "checkout", "prod-eu", 50), target(4, "checkout", "prod-us", 50)
	searchDev, searchProd := target(5, "search", "dev", 10), target(6, "search", "prod-eu", 50)
	billing := target(7, "billing", "staging", 30)
	billing.RenderProblem = "apps/billing/overlays/staging/kustomization.yaml:4: resource ../../base/cron.yaml does not exist"
	search := promotion.Release{ID: 9, Application: "search", Number: 31, Version: "2.4.0", Artifacts: []promotion.Artifact{
		{Repository: "registry.example.com/shop/search", Digest: "sha256:" + strings.Repeat("77aa", 16)}}}
	open, failed := openPromotion(), failedPromotion()
	crashing := runs(searchDev, "dev-1", search, promotion.Synced, promotion.Degraded, before(700))
	crashing.Message = failed.Failure
	older := runs(eu, "eu-2", releases[1], promotion.OutOfSync, promotion.Progressing, before(30))
	return []promotion.BoardRow{
		{Application: "billing", Cells: []promotion.BoardCell{{Target: billing}}},
		{Application: "checkout", Cells: []promotion.BoardCell{
			{Target: dev, Desired: &releases[0], Deployments: []promotion.Deployment{runs(dev, "dev-1", releases[0], promotion.Synced, promotion.Healthy, before(3000))}},
			{Target: staging, Desired: &releases[0], Deployments: []promotion.Deployment{runs(staging, "eu-1", releases[0], promotion.Synced, promotion.Healthy, before(2100))}},
			{Target: eu, Desired: &releases[1], Open: &open, Deployments: []promotion.Deployment{runs(eu, "eu-1", releases[1], promotion.Synced, promotion.Healthy, before(86400)), older}},
			{Target: us, Desired: &releases[1], Deployments: []promotion.Deployment{runs(us, "us-1", releases[2], promotion.Synced, promotion.Healthy, before(864000))}},
		}},
		{Application: "search", Cells: []promotion.BoardCell{
			{Target: searchDev, Desired: &search, Open: &failed, Deployments: []promotion.Deployment{crashing}},
			{Target: searchProd, Desired: nil, Deployments: []promotion.Deployment{runs(searchProd, "eu-1", promotion.Release{}, promotion.SyncUnknown, promotion.HealthUnknown, before(60))}},
		}},
		{Application: "quiet-one", Cells: []promotion.BoardCell{{Target: target(8, "quiet-one", "dev", 10), Desired: &releases[0],
			Deployments: []promotion.Deployment{runs(target(8, "quiet-one", "dev", 10), "dev-1", releases[0], promotion.Synced, promotion.Healthy, before(5000))}}}},
	}
}

func sampleLinks() []promotion.Link {
	return []promotion.Link{
		{Name: "source commit → build", Verified: true, Expected: source, Found: source, Proof: "said by ci when it posted build 7; no signed provenance was given", At: before(3700)},
		{Name: "build → release", Verified: true, Expected: newImage, Found: newImage, Proof: "the release has exactly what was posted", At: before(3600)},
		{Name: "release → registry", Environment: "staging", Verified: true, Expected: newImage, Found: newImage, Proof: "the registry has both images, whole", At: before(2400)},
		{Name: "synced revision → running containers", Environment: "staging", Expected: newImage, Found: oldImage, Proof: "imageIDs of the running containers in eu-1", At: before(2100)},
	}
}

func sampleHistory() []promotion.HistoryEntry {
	return []promotion.HistoryEntry{
		{ID: 9, Application: "checkout", Environment: "staging", Cluster: "eu-1", ReleaseID: 3, Number: 3, Version: "1.2.0", Sync: promotion.Synced,
			Health: promotion.Healthy, Revision: mergeSHA, Images: []string{newImage}, ImageIDs: []string{newImage}, From: before(2100), PromotionID: 10,
			RequestedBy: "rita", ApprovedBy: []string{"ada"}, MergedBy: "sluice"},
		{ID: 8, Application: "checkout", Environment: "staging", Cluster: "eu-1", Sync: promotion.OutOfSync, Health: promotion.Degraded,
			Message: "1 of 2 pods crash", Images: []string{oldImage}, From: before(90000), To: before(2100)},
		{ID: 7, Application: "checkout", Environment: "dev", Cluster: "dev-2", ReleaseID: 3, Number: 3, Version: "1.2.0", Sync: promotion.Synced,
			Health: promotion.Healthy, Images: []string{newImage}, From: before(90000), To: before(80000)},
	}
}

func samplePullRequest() web.PullRequest {
	return web.PullRequest{
		PullRequestSummary: web.PullRequestSummary{Number: 7, Title: "checkout: 1.2.0 to prod-eu", State: "open", Branch: "sluice/checkout/prod-eu/12", OpenedAt: before(1100)},
		Body: "**checkout 1.2.0 → prod-eu** (release 3, line main)\n\n| image | digest |\n| --- | --- |\n| `registry.example.com/shop/checkout` | `@sha256:4be1` |\n\n" +
			"### Gates\n\n- ✅ pass **content**: the merge renders exactly what was recorded\n\n<script>alert(1)</script>\n\n[bad](javascript:alert(1)) [Promotion 12](https://sluice.example.com/promotions/12)\n",
		HeadSHA: source, Comments: []web.PullRequestComment{{Author: "amir", Body: "why *now*?", At: before(600)}},
		Statuses: []web.PullRequestStatus{{Context: "sluice/gates", State: "pending", Description: "held by approvals", URL: "/promotions/12", At: before(900)}},
		Diff: "diff --git a/apps/checkout/overlays/prod-eu/kustomization.yaml b/apps/checkout/overlays/prod-eu/kustomization.yaml\n--- a/apps/checkout/overlays/prod-eu/kustomization.yaml\n" +
			"+++ b/apps/checkout/overlays/prod-eu/kustomization.yaml\n@@ -4,4 +4,4 @@\n images:\n - name: checkout\n-  digest: sha256:90aa\n+  digest: sha256:4be1\n",
	}
}
