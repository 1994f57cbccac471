package httpapi

import (
	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

// promotionAnswer is a promotion as lists show it.
func promotionAnswer(p promotion.Promotion) api.Promotion {
	return api.Promotion{
		ID: p.ID, Application: p.Target.Application, Environment: p.Target.Environment,
		Kind: api.PromotionKind(p.Kind), State: api.PromotionState(p.State()),
		Release: unlessZero(p.Release.ID), ReleaseNumber: unlessZero(p.Release.Number), Version: p.Release.Version,
		Restore:     api.Restoration{Commit: p.Restore.Commit, Base: p.Restore.Base, Secrets: p.Restore.Secrets, Revert: p.Restore.Revert},
		Adopts:      p.Adopt.Cause,
		RequestedBy: p.RequestedBy, RequestedAt: p.RequestedAt.UTC(), Reason: p.Reason, StartedByBuild: p.StartedByBuild,
		WaitsFor: p.WaitsFor, Failure: p.Failure,

		Decision: api.PromotionDecision(p.Decision), DecidedBy: p.DecidedBy, DecidedAt: p.DecidedAt.UTC(),
		With: p.With, Hotfix: p.Hotfix, Behind: p.Behind, SourceChanges: each(p.Source, sourceAnswer),
		DecisionReason: p.DecisionReason, SupersededBy: p.SupersededBy,

		PullRequest: pullRequestAnswer(p), RenderedHash: p.RenderedHash,
		MergeAskedBy: p.MergeAskedBy, MergeAskedAt: p.MergeAskedAt.UTC(), StandingMerge: standingMergeAnswer(p.StandingMerge),
		MergedBy: p.MergedBy, MergedAt: p.MergedAt.UTC(),

		SyncAskedBy: p.SyncAskedBy, SyncAskedAt: p.SyncAskedAt.UTC(), SyncStartedAt: p.SyncStartedAt.UTC(), SyncedAt: p.SyncedAt.UTC(),
		LiveAt: p.LiveAt.UTC(), VerifiedAt: p.VerifiedAt.UTC(), OvertakenAt: p.OvertakenAt.UTC(), RolledBackAt: p.RolledBackAt.UTC(),
	}
}

func summaryAnswer(p promotion.Promotion) api.PromotionSummary {
	return api.PromotionSummary{ID: p.ID, Application: p.Target.Application, Environment: p.Target.Environment, State: api.PromotionState(p.State())}
}

func sourceAnswer(c promotion.SourceChange) api.SourceChange {
	return api.SourceChange{Repository: c.Repository, From: c.From, To: c.To, Back: c.Back, Total: c.Total, URL: c.URL, Problem: c.Problem,
		Commits: each(c.Commits, func(s promotion.SourceCommit) api.SourceCommit {
			return api.SourceCommit{SHA: s.SHA, Title: s.Title, Author: s.Author}
		})}
}

func standingMergeAnswer(w promotion.StandingMerge) *api.StandingMerge {
	if w.By == "" {
		return nil
	}
	return &api.StandingMerge{By: w.By, At: w.At.UTC(), Roles: each(w.Roles, func(r promotion.Role) string { return string(r) }), RenderedHash: w.RenderedHash}
}

func pullRequestAnswer(p promotion.Promotion) *api.PullRequest {
	if p.PullRequest == promotion.PullRequestNone {
		return nil
	}
	return &api.PullRequest{Number: p.Number, URL: p.URL, State: api.PullRequestState(p.PullRequest), Branch: p.Branch,
		HeadSHA: p.HeadSHA, MergeSHA: p.MergeSHA}
}

func gateAnswer(g promotion.GateResult) api.Gate {
	return api.Gate{Name: g.Gate, Phase: api.GatePhase(g.Phase), Mode: api.GateMode(g.Mode), Verdict: api.GateVerdict(g.Verdict),
		Reason: g.Reason, Until: g.Until.UTC(), Inputs: g.Inputs, Override: g.Override, EvaluatedAt: g.EvaluatedAt.UTC()}
}

func approvalAnswer(a promotion.Approval) api.Approval {
	return api.Approval{Actor: a.Actor, Roles: each(a.Roles, func(r promotion.Role) string { return string(r) }),
		Decision: api.ApprovalDecision(a.Decision), Comment: a.Comment, RenderedHash: a.RenderedHash, DecidedAt: a.DecidedAt.UTC()}
}

func states() []string {
	return []string{
		string(promotion.StateRequested), string(promotion.StateOpen), string(promotion.StateMerged), string(promotion.StateSyncing),
		string(promotion.StateLive), string(promotion.StateVerified), string(promotion.StateSuperseded), string(promotion.StateRejected),
		string(promotion.StateCancelled), string(promotion.StateFailed), string(promotion.StateRolledBack),
	}
}
