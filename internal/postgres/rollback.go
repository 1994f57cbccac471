package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

func (r reader) VerifiedHere(ctx context.Context, targetID int64, limit int) ([]promotion.Release, error) {
	ids, err := r.q.VerifiedHere(ctx, dbsqlc.VerifiedHereParams{TargetID: targetID, Most: int32(limit)}) //nolint:gosec // the domain bounds it
	if err != nil {
		return nil, err
	}
	all, err := r.releases(ctx, ids)
	slices.SortFunc(all, func(a, b promotion.Release) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return all, err
}

// KeepRollbackVerdict implements promotion.Tx.
func (t *tx) KeepRollbackVerdict(ctx context.Context, v *promotion.RollbackVerdict, at time.Time) error {
	hash, err := v.Key()
	if err != nil {
		return err
	}
	v.EvaluatedAt, v.ConfirmedAt = at, at
	last, err := t.q.LatestRollbackVerdict(ctx, dbsqlc.LatestRollbackVerdictParams{TargetID: v.Target.ID, Way: string(v.Way), Candidate: v.Candidate.ID, Current: v.Current.ID})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return err
	case last.FactsHash == hash:
		v.ID, v.EvaluatedAt = last.ID, last.EvaluatedAt
		return t.q.ConfirmRollbackVerdict(ctx, dbsqlc.ConfirmRollbackVerdictParams{ID: last.ID, At: at})
	}
	facts, err := json.Marshal(v.Facts)
	if err != nil {
		return err
	}
	p := v.Verdict.Predicates
	v.ID, err = t.q.InsertRollbackVerdict(ctx, dbsqlc.InsertRollbackVerdictParams{TargetID: v.Target.ID, CurrentReleaseID: nullID(v.Current.ID),
		CandidateReleaseID: nullID(v.Candidate.ID), Way: string(v.Way), ConfigCommit: v.Commit, Facts: facts, FactsHash: hash,
		ArtifactAvailable: string(p.ArtifactAvailable.Value), ConfigCompatible: string(p.ConfigCompatible.Value), DataCompatible: string(p.DataCompatible.Value),
		TrafficSwitchable: string(p.TrafficSwitchable.Value), DependencyRecoverable: string(p.DependencyRecoverable.Value),
		Overall: string(v.Verdict.Overall), Gate: string(v.Verdict.Gate), Reasons: list(v.Verdict.Blocking), Notes: list(v.Notes), Unread: list(v.Unread), At: at})
	return err
}

// RollbackVerdict implements promotion.Reader: the verdict is computed again from the facts that were stored.
func (r reader) RollbackVerdict(ctx context.Context, id int64) (promotion.RollbackVerdict, error) {
	row, err := r.q.RollbackVerdictByID(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return promotion.RollbackVerdict{}, promotion.ErrNotFound
	} else if err != nil {
		return promotion.RollbackVerdict{}, err
	}
	d := row.RollbackVerdict
	v := promotion.RollbackVerdict{ID: d.ID, Target: target(row.TargetDetail), Way: promotion.Way(d.Way), Commit: d.ConfigCommit,
		Notes: d.Notes, Unread: d.Unread, EvaluatedAt: d.EvaluatedAt, ConfirmedAt: d.ConfirmedAt}
	if v.Facts, err = rollback.Parse(d.Facts); err != nil {
		return v, fmt.Errorf("the facts of rollback verdict %d: %w", id, err)
	}
	v.Verdict = rollback.Evaluate(v.Facts)
	for of, to := range map[*int64]*promotion.Release{d.CurrentReleaseID: &v.Current, d.CandidateReleaseID: &v.Candidate} {
		if of == nil {
			continue
		}
		if *to, err = r.Release(ctx, *of); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (r reader) AcceptancesOf(ctx context.Context, promotionID int64) ([]promotion.Acceptance, error) {
	rows, err := r.q.RollbackAcceptances(ctx, promotionID)
	all := make([]promotion.Acceptance, len(rows))
	for i, a := range rows {
		all[i] = promotion.Acceptance{ID: a.ID, PromotionID: a.PromotionID, Unknown: a.Unknown, RequestedBy: a.RequestedBy, AcceptedBy: a.AcceptedBy,
			Reason: a.Reason, AcceptedAt: a.AcceptedAt, ExpiresAt: a.ExpiresAt}
	}
	return all, err
}

func (t *tx) InsertAcceptance(ctx context.Context, a promotion.Acceptance) (int64, error) {
	return t.q.InsertRollbackAcceptance(ctx, dbsqlc.InsertRollbackAcceptanceParams{PromotionID: a.PromotionID, Unknown: a.Unknown, RequestedBy: a.RequestedBy,
		AcceptedBy: a.AcceptedBy, Reason: a.Reason, AcceptedAt: a.AcceptedAt, ExpiresAt: a.ExpiresAt})
}
