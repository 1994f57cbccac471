package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// promotionOf converts a row; the release is filled in by the caller.
func promotionOf(p dbsqlc.Promotion, d dbsqlc.TargetDetail) (promotion.Promotion, error) {
	var source []promotion.SourceChange
	if err := json.Unmarshal(p.SourceChanges, &source); err != nil {
		return promotion.Promotion{}, fmt.Errorf("source changes of promotion %d: %w", p.ID, err)
	}
	adopt := promotion.Adoption{Cause: p.Adopts}
	if err := json.Unmarshal(p.AdoptedFields, &adopt.Fields); err != nil {
		return promotion.Promotion{}, fmt.Errorf("adopted fields of promotion %d: %w", p.ID, err)
	}
	return promotion.Promotion{ID: p.ID, Target: target(d), Release: promotion.Release{ID: value(p.ReleaseID)}, Kind: promotion.ChangeKind(p.Kind),
		RequestedBy: p.RequestedBy, RequestedAt: p.RequestedAt, Reason: p.Reason, StartedByBuild: value(p.StartedByBuild),
		With: p.WithEnvironments, Hotfix: p.Hotfix, Behind: value(p.Behind),
		Adopt:    adopt,
		Restore:  promotion.Restoration{Commit: p.RestoreCommit, Base: p.RestoreBase, Secrets: p.RestoreSecrets, Revert: p.RestoreRevert},
		Decision: promotion.Decision(p.Decision), DecidedBy: p.DecidedBy, DecidedAt: value(p.DecidedAt), DecisionReason: p.DecisionReason,
		SupersededBy: value(p.SupersededBy), MergeAskedBy: p.MergeAskedBy, MergeAskedAt: value(p.MergeAskedAt),
		StandingMerge: promotion.StandingMerge{By: p.StandingMergeBy, At: value(p.StandingMergeAt), Kind: promotion.ActorKind(p.StandingMergeKind), Roles: rolesFromText(p.StandingMergeRoles),
			RenderedHash: p.StandingMergeRendered},
		PullRequest: promotion.PullRequestState(p.PullRequest), Branch: p.Branch, BaseSHA: p.BaseSha, HeadSHA: p.HeadSha,
		Number: int(value(p.Number)), URL: p.Url, RenderedHash: p.RenderedHash, ChangesPolicy: p.ChangesPolicy, Diff: p.Diff, Lint: p.Lint, BodyHash: p.BodyHash,
		StatusReported: p.StatusReported, MergeSHA: p.MergeSha, MergedBy: p.MergedBy, MergedAt: value(p.MergedAt), CleanedUp: p.CleanedUp,
		SyncAskedBy: p.SyncAskedBy, SyncAskedAt: value(p.SyncAskedAt), SyncStartedAt: value(p.SyncStartedAt), SyncedAt: value(p.SyncedAt),
		LiveAt: value(p.LiveAt), VerifiedAt: value(p.VerifiedAt), OvertakenAt: value(p.OvertakenAt), RolledBackAt: value(p.RolledBackAt),
		Failure: p.Failure, WaitsFor: p.WaitsFor, Source: source}, nil
}

func (r reader) Promotion(ctx context.Context, id int64) (promotion.Promotion, error) {
	row, err := r.q.Promotion(ctx, id)
	if err != nil {
		return promotion.Promotion{}, found(err)
	}
	p, err := promotionOf(row.Promotion, row.TargetDetail)
	if err == nil && p.Release.ID != 0 {
		p.Release, err = r.Release(ctx, p.Release.ID)
	}
	return p, err
}

func (r reader) Changes(ctx context.Context, repository string, number int) ([]promotion.Promotion, error) {
	ids, err := r.q.Changes(ctx, dbsqlc.ChangesParams{Number: int32(number), Repository: repository})
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Promotion, len(ids))
	for i, id := range ids {
		if all[i], err = r.Promotion(ctx, id); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (r reader) Promotions(ctx context.Context, f promotion.PromotionFilter) ([]promotion.Promotion, error) {
	rows, err := r.q.Promotions(ctx, dbsqlc.PromotionsParams{Application: f.Application, Environment: f.Environment,
		State: string(f.State), ReleaseID: f.ReleaseID, Unfinished: f.Unfinished, Before: f.Before, Most: int32(f.Limit)})
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Promotion, len(rows))
	ids := make([]int64, len(rows))
	for i, row := range rows {
		if all[i], err = promotionOf(row.Promotion, row.TargetDetail); err != nil {
			return nil, err
		}
		ids[i] = all[i].Release.ID
	}
	releases, err := r.releases(ctx, ids)
	for i := range all {
		for _, v := range releases {
			if v.ID == ids[i] {
				all[i].Release = v
			}
		}
	}
	return all, err
}

func (t *tx) LockPromotion(ctx context.Context, id int64) (promotion.Promotion, error) {
	if _, err := t.q.LockPromotion(ctx, id); err != nil {
		return promotion.Promotion{}, found(err)
	}
	return t.Promotion(ctx, id)
}

func (r reader) OpenOn(ctx context.Context, targetID int64) ([]promotion.Promotion, error) {
	ids, err := r.q.OpenOn(ctx, targetID)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Promotion, len(ids))
	for i, id := range ids {
		if all[i], err = r.Promotion(ctx, id); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (t *tx) InsertPromotion(ctx context.Context, p promotion.Promotion) (int64, error) {
	fields, err := json.Marshal(append([]promotion.AdoptedField{}, p.Adopt.Fields...))
	if err != nil {
		return 0, fmt.Errorf("adopted fields of a promotion: %w", err)
	}
	return t.q.InsertPromotion(ctx, dbsqlc.InsertPromotionParams{TargetID: p.Target.ID, ReleaseID: nullID(p.Release.ID), Kind: string(p.Kind),
		State: string(p.State()), RequestedBy: p.RequestedBy, RequestedAt: p.RequestedAt, Reason: p.Reason,
		StartedByBuild: nullID(p.StartedByBuild), RestoreCommit: p.Restore.Commit, RestoreBase: p.Restore.Base,
		RestoreSecrets: p.Restore.Secrets, RestoreRevert: p.Restore.Revert, WithEnvironments: list(p.With), Hotfix: p.Hotfix, Behind: nullID(p.Behind),
		Adopts: p.Adopt.Cause, AdoptedFields: fields})
}

func (t *tx) SavePromotion(ctx context.Context, p promotion.Promotion) error {
	var number *int32
	if p.Number != 0 {
		n := int32(p.Number)
		number = &n
	}
	source, err := json.Marshal(append([]promotion.SourceChange{}, p.Source...))
	if err != nil {
		return fmt.Errorf("source changes of promotion %d: %w", p.ID, err)
	}
	return t.q.SavePromotion(ctx, dbsqlc.SavePromotionParams{ID: p.ID, State: string(p.State()), Decision: string(p.Decision),
		DecidedBy: p.DecidedBy, DecidedAt: nullTime(p.DecidedAt), DecisionReason: p.DecisionReason, SupersededBy: nullID(p.SupersededBy),
		MergeAskedBy: p.MergeAskedBy, MergeAskedAt: nullTime(p.MergeAskedAt), PullRequest: string(p.PullRequest), Branch: p.Branch,
		BaseSha: p.BaseSHA, HeadSha: p.HeadSHA, Number: number, Url: p.URL, RenderedHash: p.RenderedHash, Diff: p.Diff,
		BodyHash: p.BodyHash, StatusReported: p.StatusReported, MergeSha: p.MergeSHA, MergedBy: p.MergedBy, MergedAt: nullTime(p.MergedAt),
		CleanedUp: p.CleanedUp, SyncAskedBy: p.SyncAskedBy, SyncAskedAt: nullTime(p.SyncAskedAt), SyncStartedAt: nullTime(p.SyncStartedAt),
		SyncedAt: nullTime(p.SyncedAt), LiveAt: nullTime(p.LiveAt), VerifiedAt: nullTime(p.VerifiedAt), OvertakenAt: nullTime(p.OvertakenAt),
		RolledBackAt: nullTime(p.RolledBackAt), Failure: p.Failure, WaitsFor: p.WaitsFor, ReleaseID: nullID(p.Release.ID), Lint: list(p.Lint), ChangesPolicy: p.ChangesPolicy,
		StandingMergeBy: p.StandingMerge.By, StandingMergeAt: nullTime(p.StandingMerge.At), StandingMergeRoles: rolesToText(p.StandingMerge.Roles),
		StandingMergeRendered: p.StandingMerge.RenderedHash, StandingMergeKind: string(p.StandingMerge.Kind), SourceChanges: source, Behind: nullID(p.Behind)})
}

func (t *tx) PromotionByCommit(ctx context.Context, targetID int64, sha string) (int64, error) {
	id, err := t.q.PromotionByCommit(ctx, dbsqlc.PromotionByCommitParams{TargetID: targetID, MergeSha: sha})
	if errors.Is(found(err), promotion.ErrNotFound) {
		return 0, nil
	}
	return id, err
}

func (r reader) NewerMerged(ctx context.Context, p promotion.Promotion) (int64, error) {
	return r.q.NewerMerged(ctx, dbsqlc.NewerMergedParams{TargetID: p.Target.ID, ID: p.ID})
}

func (r reader) Unfinished(ctx context.Context, repository string) ([]int64, error) {
	return r.q.Unfinished(ctx, repository)
}

func (r reader) VerifiedOn(ctx context.Context, releaseID int64, targetIDs []int64) (map[int64]int64, error) {
	if len(targetIDs) == 0 {
		return nil, nil
	}
	rows, err := r.q.VerifiedOn(ctx, dbsqlc.VerifiedOnParams{ReleaseID: nullID(releaseID), Targets: targetIDs})
	verified := make(map[int64]int64, len(rows))
	for _, row := range rows {
		verified[row.TargetID] = row.PromotionID
	}
	return verified, err
}

func (t *tx) InsertApproval(ctx context.Context, a promotion.Approval) error {
	return t.q.InsertApproval(ctx, dbsqlc.InsertApprovalParams{PromotionID: a.PromotionID, Actor: a.Actor, ActorKind: string(a.Kind), Roles: rolesToText(a.Roles),
		Decision: a.Decision, Comment: a.Comment, RenderedHash: a.RenderedHash, DecidedAt: a.DecidedAt})
}

func (r reader) Approvals(ctx context.Context, promotionID int64) ([]promotion.Approval, error) {
	rows, err := r.q.Approvals(ctx, []int64{promotionID})
	all := make([]promotion.Approval, len(rows))
	for i, a := range rows {
		all[i] = promotion.Approval{ID: a.ID, PromotionID: a.PromotionID, Actor: a.Actor, Kind: promotion.ActorKind(a.ActorKind), Roles: rolesFromText(a.Roles),
			Decision: a.Decision, Comment: a.Comment, RenderedHash: a.RenderedHash, DecidedAt: a.DecidedAt}
	}
	return all, err
}

func (t *tx) NewestMerged(ctx context.Context, targetID, before int64) (promotion.Promotion, error) {
	id, err := t.q.NewestMerged(ctx, dbsqlc.NewestMergedParams{TargetID: targetID, ID: before})
	if err != nil {
		return promotion.Promotion{}, found(err)
	}
	return t.LockPromotion(ctx, id)
}
