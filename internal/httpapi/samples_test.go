package httpapi_test

import (
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func sampleRelease() promotion.Release {
	return promotion.Release{ID: 3, Application: "web", Number: 2, Version: "1.4.2", Line: "main", Origin: promotion.FromBuild, BuildID: 7,
		RebuildOf: 2, Aliases: []string{"1.4.2-rc1"}, CreatedAt: noon, Artifacts: []promotion.Artifact{
			{Name: "web", Repository: "r.test/web", Digest: digest, BuildID: 7},
			{Name: "sidecar", Repository: "r.test/sidecar", Tag: "v1", CarriedFrom: 1},
		}, Charts: []promotion.ReleaseChart{{Chart: promotion.Chart{Name: "web", Version: "2.0.1"}, BuildID: 7},
			{Chart: promotion.Chart{Name: "redis", Version: "1.0.0"}, BuildID: 6, CarriedFrom: 1}}}
}

func sampleImport() promotion.Release {
	return promotion.Release{ID: 1, Application: "web", Number: 1, Version: "v1", Line: "main", Origin: promotion.FromImport, CreatedAt: noon,
		Artifacts: []promotion.Artifact{{Name: "web", Repository: "r.test/web", Tag: "v1"}}}
}

func sampleOutcome() promotion.BuildOutcome {
	return promotion.BuildOutcome{
		Build: promotion.Build{ID: 7, Version: "1.4.2", Line: "main", Group: "ci-88", GroupExpects: []string{"web", "worker"},
			Artifacts: []promotion.BuildArtifact{{Repository: "r.test/web", Digest: digest, Tags: []string{"1.4.2"}}},
			Charts:    []promotion.Chart{{Name: "web", Version: "2.0.1"}},
			Source:    promotion.Source{Repository: "https://git.test/web", Commit: commit, Ref: "refs/heads/main"},
			CI:        promotion.CIRun{Provider: "jenkins", RunURL: "https://ci.test/88"}, PostedBy: "ci", PostedAt: noon},
		Releases:   []promotion.Release{sampleRelease()},
		Promotions: []promotion.Promotion{sampleRequested()},
		Waiting:    []string{"worker"},
	}
}

func sampleRequested() promotion.Promotion {
	return promotion.Promotion{ID: 11, Target: promotion.Target{ID: 5, Application: "web", Environment: "dev", Rank: 10}, Release: sampleRelease(),
		Kind: promotion.KindRelease, RequestedBy: "sluice", RequestedAt: noon, Reason: "by policy", StartedByBuild: 7,
		Decision: promotion.Requested, PullRequest: promotion.PullRequestNone}
}

func sampleMerged() promotion.Promotion {
	return promotion.Promotion{ID: 12,
		Target: promotion.Target{ID: 6, Application: "web", Environment: "prod", Rank: 50, Repository: "config",
			Path: "apps/web/overlays/prod", Layout: "kustomize"},
		Release: sampleRelease(), Kind: promotion.KindRelease, RequestedBy: "rita", RequestedAt: noon, Reason: "ship it",
		Decision: promotion.Requested, PullRequest: promotion.PullRequestMerged, Branch: "sluice/web-prod-12", BaseSHA: commit,
		HeadSHA: commit, Number: 4, URL: "https://git.test/config/pulls/4", RenderedHash: "f00d", Diff: "image: old → new\n",
		MergeAskedBy: "rita", MergeAskedAt: noon.Add(time.Minute), MergeSHA: merge, MergedBy: "rita", MergedAt: noon.Add(2 * time.Minute),
		Source: []promotion.SourceChange{{Repository: "github.com/shop/web", From: "5ca1ab1e00", To: "f00dfeed00", SourceRange: promotion.SourceRange{Total: 1,
			Commits: []promotion.SourceCommit{{SHA: "f00dfeed00", Title: "Round the total", Author: "Ann"}}}}},
		StandingMerge: promotion.StandingMerge{By: "ada", At: noon, Roles: []promotion.Role{promotion.RoleApprover}, RenderedHash: "f00d"},
		SyncStartedAt: noon.Add(3 * time.Minute), WaitsFor: "The cluster rolls it out."}
}

// sampleChange is a person's own change to another target, by the pull request of sampleMerged.
func sampleChange() promotion.Promotion {
	return promotion.Promotion{ID: 13, Target: promotion.Target{ID: 7, Application: "api", Environment: "prod", Rank: 50, Repository: "config",
		Path: "apps/api/overlays/prod"}, Kind: promotion.KindChange, RequestedBy: "mallory", RequestedAt: noon, Decision: promotion.Requested,
		PullRequest: promotion.PullRequestOpen, Number: 4, URL: "https://git.test/config/pulls/4"}
}

func samplePlan() promotion.Plan {
	closed := promotion.GateResult{Gate: promotion.GateSyncWindow, Phase: promotion.PhaseMerge, Mode: promotion.Enforce, Verdict: promotion.Wait,
		Reason: "closed until Monday", Until: noon.Add(time.Hour), EvaluatedAt: noon}
	return promotion.Plan{Target: sampleMerged().Target, Release: sampleRelease(), At: noon, Gates: append(sampleGates(), closed),
		Earliest: noon.Add(time.Hour), Waits: "closed until Monday", Diff: "image: old → new\n"}
}

func sampleRestore() promotion.Promotion {
	p := sampleMerged()
	p.Kind, p.Restore = promotion.KindRollback, promotion.Restoration{Commit: commit, Base: true}
	return p
}

func sampleRejected() promotion.Release {
	r := sampleRelease()
	r.RejectedBy, r.RejectedAt, r.Rejection = "ada", noon, "it leaks"
	r.RolledBack = []promotion.RollbackMark{{PromotionID: 9, Environment: "prod", By: "rita", Reason: "it loses orders", At: noon}}
	return r
}

func sampleEvidence() promotion.Evidence {
	return promotion.Evidence{ID: 8, ReleaseID: 3, Environment: "staging", Name: "integration-tests", Source: "jenkins", Verdict: "pass",
		URL: "https://ci.test/88", Summary: "212 passed", ExpiresAt: noon.Add(24 * time.Hour), PostedBy: "ci", PostedAt: noon}
}

func sampleFreeze() promotion.Freeze {
	return promotion.Freeze{ID: 2, Kind: promotion.KindFreeze, Reason: "fair", Owner: "ops", Applications: []string{"web-*"},
		Environments: []string{"prod"}, Clusters: []string{"eu"}, StartsAt: noon, EndsAt: noon.Add(time.Hour), CreatedBy: "rita", CreatedAt: noon}
}

func sampleOverride() promotion.Override {
	return promotion.Override{ID: 2, Target: sampleMerged().Target, Gates: []string{promotion.GateSyncWindow}, Reason: "fire",
		Incident: "https://incidents.test/9", GivenBy: "bo", GivenAt: noon, ExpiresAt: noon.Add(time.Hour)}
}

func sampleGates() []promotion.GateResult {
	return []promotion.GateResult{
		{Gate: promotion.GateRenders, Phase: promotion.PhaseOpen, Mode: promotion.Enforce, Verdict: promotion.Pass, Reason: "one field",
			Inputs: map[string]any{"fields": 1}, EvaluatedAt: noon},
		{Gate: promotion.GateApprovals, Phase: promotion.PhaseMerge, Mode: promotion.Enforce, Verdict: promotion.Wait,
			Reason: "1 approval is missing", Until: noon.Add(time.Hour), EvaluatedAt: noon, Override: 2},
	}
}

func sampleDeployment() promotion.Deployment {
	d := promotion.Deployment{ID: 1, TargetID: 6, Application: "web", Environment: "prod", ReleaseID: 3, Version: "1.4.2", Number: 2, Since: noon}
	d.Observation = promotion.Observation{
		Key: promotion.DeploymentKey{Cluster: "eu", Namespace: "argocd", Name: "web-prod"}, Simulated: true,
		Sync: promotion.Synced, Health: promotion.Progressing, Revision: merge, Message: "1 of 2 pods are new",
		Images: []string{"r.test/web@" + digest}, ObservedAt: noon,
		RunningImages: []promotion.ContainerImage{
			{Pod: "web-1", Container: "web", ImageID: "r.test/web@" + digest, Ready: true},
			{Pod: "web-2", Container: "web", ImageID: "r.test/web@" + digest, Ended: promotion.LastEnd{ExitCode: 3, Log: "(hidden)\npanic: boom"}},
			{Pod: "web-3", Container: "web"},
		}}
	return d
}
