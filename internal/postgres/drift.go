package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func drift(d dbsqlc.Drift, lookedAt *time.Time) promotion.Drift {
	out := promotion.Drift{ID: d.ID, Object: d.Object, Path: d.Path, Want: d.Want, Have: d.Have, Class: promotion.DriftClass(d.Class),
		Owner: d.Owner, Manager: d.Manager, Operation: d.Operation, OwnedAt: value(d.OwnedAt), Excuse: d.Excuse, Finding: d.Finding,
		FirstSeen: d.FirstSeenAt, LastSeen: value(d.LastSeenAt), ResolvedAt: value(d.ResolvedAt)}
	if d.ResolvedAt == nil {
		// A look that found nothing new is kept only as the deployment's.
		if out.LastSeen = value(lookedAt); out.LastSeen.Before(d.FirstSeenAt) {
			out.LastSeen = d.FirstSeenAt
		}
	}
	return out
}

func (r reader) Drifts(ctx context.Context, targetID int64, open bool, limit int) ([]promotion.Drift, error) {
	return r.DriftPage(ctx, promotion.DriftFilter{TargetID: targetID, Open: open, Limit: limit})
}

func (r reader) DriftPage(ctx context.Context, f promotion.DriftFilter) ([]promotion.Drift, error) {
	rows, err := r.q.Drifts(ctx, dbsqlc.DriftsParams{Target: f.TargetID, Application: f.Application, Environment: f.Environment, Open: f.Open,
		Before: f.Before, Most: int32(f.Limit)})
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Drift, len(rows))
	for i, row := range rows {
		all[i] = drift(row.Drift, row.LookedAt)
		all[i].Target, all[i].Times = target(row.TargetDetail), int(row.Times)
		all[i].Deployment = promotion.DeploymentKey{Cluster: row.Cluster, Namespace: row.Namespace, Name: row.Name}
		var audited []promotion.LiveWrite
		if err := json.Unmarshal(row.Writes, &audited); err != nil {
			return nil, fmt.Errorf("writes to %s: %w", row.Drift.Object, err)
		}
		all[i].Written = all[i].Behind(audited)
	}
	return all, nil
}

func (r reader) DriftLooks(ctx context.Context, targetID int64) ([]promotion.DriftLook, error) {
	rows, err := r.q.DriftLooks(ctx, targetID)
	all := make([]promotion.DriftLook, len(rows))
	for i, row := range rows {
		l := row.DriftLook
		all[i] = promotion.DriftLook{DeploymentID: l.DeploymentID, Target: target(row.TargetDetail),
			Deployment: promotion.DeploymentKey{Cluster: row.Cluster, Namespace: row.Namespace, Name: row.Name}, LookedAt: value(l.LookedAt),
			Problem: l.Problem, ProblemSince: value(l.ProblemSince), Revision: l.Revision, SelfHeal: l.SelfHeal, Unchecked: l.Unchecked, Rollback: l.Rollback,
			KnownSince: value(l.KnownSince), Drifting: int(row.Drifting), DriftedUntil: row.DriftedUntil}
	}
	return all, err
}

func (t *tx) OpenDrifts(ctx context.Context, deploymentID int64) ([]promotion.Drift, error) {
	if err := t.q.LockDriftLook(ctx, deploymentID); err != nil {
		return nil, err
	}
	rows, err := t.q.OpenDrifts(ctx, deploymentID)
	all := make([]promotion.Drift, len(rows))
	for i, row := range rows {
		all[i] = drift(row.Drift, row.LookedAt)
	}
	return all, err
}

func (t *tx) SyncedAgain(ctx context.Context, deploymentID int64, after time.Time) (time.Time, error) {
	at, err := t.q.SyncedAgain(ctx, dbsqlc.SyncedAgainParams{DeploymentID: deploymentID, After: after})
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, nil
	}
	return at, err
}

func (t *tx) InsertDrift(ctx context.Context, deploymentID, targetID int64, d promotion.Drift) error {
	return t.q.InsertDrift(ctx, dbsqlc.InsertDriftParams{DeploymentID: deploymentID, TargetID: targetID, Object: d.Object, Path: d.Path, Want: d.Want, Have: d.Have,
		Class: string(d.Class), Owner: d.Owner, Manager: d.Manager, Operation: d.Operation, OwnedAt: nullTime(d.OwnedAt), Excuse: d.Excuse,
		Finding: d.Finding, FirstSeenAt: d.FirstSeen})
}

func (t *tx) SaveDrift(ctx context.Context, d promotion.Drift) error {
	return t.q.SaveDrift(ctx, dbsqlc.SaveDriftParams{ID: d.ID, Want: d.Want, Have: d.Have, Class: string(d.Class), Owner: d.Owner, Manager: d.Manager,
		Operation: d.Operation, OwnedAt: nullTime(d.OwnedAt), Excuse: d.Excuse, Finding: d.Finding})
}

func (t *tx) ResolveDrift(ctx context.Context, id int64, lastSeen, at time.Time) error {
	return t.q.ResolveDrift(ctx, dbsqlc.ResolveDriftParams{ID: id, LastSeen: lastSeen, At: at})
}

func (t *tx) SaveDriftLook(ctx context.Context, l promotion.DriftLook, patience time.Time) error {
	return t.q.SaveDriftLook(ctx, dbsqlc.SaveDriftLookParams{DeploymentID: l.DeploymentID, TargetID: l.Target.ID, Problem: l.Problem, Revision: l.Revision,
		SelfHeal: l.SelfHeal, Unchecked: list(l.Unchecked), Rollback: l.Rollback, LookedAt: nullTime(l.LookedAt), ProblemSince: nullTime(l.ProblemSince),
		KnownSince: nullTime(l.KnownSince), Patience: patience})
}

func (t *tx) InsertLiveWrite(ctx context.Context, cluster string, w promotion.AuditedWrite) error {
	return t.q.InsertLiveWrite(ctx, dbsqlc.InsertLiveWriteParams{Cluster: cluster, AuditID: w.ID, Object: w.Object, Verb: w.Verb, Username: w.User,
		Agent: w.Agent, Source: w.Source, WrittenAt: w.At})
}

func (t *tx) ForgetLiveWrites(ctx context.Context, before time.Time) error {
	return t.q.ForgetLiveWrites(ctx, before)
}
