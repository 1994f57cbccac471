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
)

// SaveObservation updates the deployment. Its history gets a row when what a
// person would call its state differs; counts of a rollout alone do not. Several servers watch: what one saw before what another has
// stored already is refused, so that it looks again. That nothing is known any more counts from then on.
func (t *tx) SaveObservation(ctx context.Context, o promotion.Observation, targetID, releaseID int64) (bool, error) {
	old, known, err := t.lockDeployment(ctx, o.Key)
	if err != nil {
		return false, err
	}
	row, err := deploymentRow(o, targetID, releaseID)
	if err != nil {
		return false, err
	}
	moved := !known || differs(old, row)
	if !moved && old.ComparedRev == row.ComparedRev && sameDocument(old.Application, row.Application) && sameDocument(old.Containers, row.Containers) && sameDocument(old.Rollout, row.Rollout) {
		return false, nil
	}
	if known && o.ObservedAt.Before(old.ObservedAt) {
		if o.Health != promotion.HealthUnknown {
			return false, promotion.ErrOutdated
		}
		row.ObservedAt = old.ObservedAt
	}
	row.Since = row.ObservedAt
	if !moved {
		row.Since = old.Since
	}
	id, err := t.q.SaveDeployment(ctx, row)
	if err != nil || !moved {
		return err == nil, err
	}
	if err := t.q.ReplaceObservation(ctx, dbsqlc.ReplaceObservationParams{DeploymentID: id, At: row.ObservedAt}); err != nil {
		return false, err
	}
	return true, t.q.InsertObservation(ctx, dbsqlc.InsertObservationParams{DeploymentID: id, TargetID: row.TargetID, ReleaseID: row.ReleaseID,
		Sync: row.Sync, Health: row.Health, Revision: row.Revision, Operation: row.Operation, Message: row.Message, Images: row.Images,
		ImageIds: row.ImageIds, ObservedAt: row.ObservedAt})
}

// lockDeployment reads a deployment that nobody else saves until the transaction has ended. One that is not known yet has no row to
// lock, so servers that see it for the first time wait for each other by its name.
func (t *tx) lockDeployment(ctx context.Context, k promotion.DeploymentKey) (d dbsqlc.Deployment, known bool, err error) {
	key := dbsqlc.LockDeploymentParams{Cluster: k.Cluster, Namespace: k.Namespace, Name: k.Name}
	if d, err = t.q.LockDeployment(ctx, key); errors.Is(err, pgx.ErrNoRows) {
		if err = t.q.AwaitDeployment(ctx, dbsqlc.AwaitDeploymentParams(key)); err == nil {
			d, err = t.q.LockDeployment(ctx, key)
		}
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return d, false, nil
	}
	return d, err == nil, err
}

func differs(old dbsqlc.Deployment, row dbsqlc.SaveDeploymentParams) bool {
	return value(old.TargetID) != value(row.TargetID) || value(old.ReleaseID) != value(row.ReleaseID) ||
		old.Sync != row.Sync || old.Health != row.Health || old.Revision != row.Revision || old.Operation != row.Operation ||
		old.OperationRev != row.OperationRev || old.Message != row.Message || old.AutomatedSync != row.AutomatedSync ||
		!slices.Equal(old.Images, row.Images) || !slices.Equal(old.ImageIds, row.ImageIds)
}

func deploymentRow(o promotion.Observation, targetID, releaseID int64) (dbsqlc.SaveDeploymentParams, error) {
	row := dbsqlc.SaveDeploymentParams{TargetID: nullID(targetID), Cluster: o.Key.Cluster, Namespace: o.Key.Namespace, Name: o.Key.Name,
		Simulated: o.Simulated, RepositoryUrl: o.RepositoryURL, Path: o.Path, AutomatedSync: o.AutomatedSync, Sync: string(o.Sync),
		Health: string(o.Health), Revision: o.Revision, ComparedRev: o.ComparedRevision, Operation: o.Operation, OperationRev: o.OperationRev, Message: o.Message,
		ReleaseID: nullID(releaseID), ObservedAt: o.ObservedAt, Application: o.EngineObject}
	if len(o.EngineObject) == 0 {
		row.Application = []byte("{}")
	}
	for _, c := range o.RunningImages {
		row.Images, row.ImageIds = append(row.Images, c.Image), append(row.ImageIds, c.ImageID)
	}
	row.Images, row.ImageIds = distinct(row.Images), distinct(row.ImageIds)
	var err error
	if row.Containers, err = json.Marshal(o.RunningImages); err != nil {
		return row, fmt.Errorf("containers of %s: %w", o.Key.Name, err)
	}
	if row.Rollout, err = json.Marshal(o.Rollout); err != nil {
		return row, fmt.Errorf("rollout of %s: %w", o.Key.Name, err)
	}
	return row, nil
}

func distinct(s []string) []string {
	slices.Sort(s)
	return list(slices.DeleteFunc(slices.Compact(s), func(v string) bool { return v == "" }))
}

func (r reader) Deployments(ctx context.Context, application, environment string) ([]promotion.Deployment, error) {
	return r.deployments(ctx, dbsqlc.DeploymentsParams{Application: application, Environment: environment})
}

func (r reader) DeploymentsOf(ctx context.Context, targetID int64) ([]promotion.Deployment, error) {
	return r.deployments(ctx, dbsqlc.DeploymentsParams{TargetID: targetID})
}

func (r reader) deployments(ctx context.Context, p dbsqlc.DeploymentsParams) ([]promotion.Deployment, error) {
	rows, err := r.q.Deployments(ctx, p)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.Deployment, len(rows))
	for i, row := range rows {
		d := row.Deployment
		all[i] = promotion.Deployment{ID: d.ID, TargetID: value(d.TargetID), Application: row.Application, Environment: row.Environment,
			ReleaseID: value(d.ReleaseID), Version: row.Version, Number: int(row.Number), RolledBack: row.RolledBack, Since: d.Since,
			Observation: promotion.Observation{Key: promotion.DeploymentKey{Cluster: d.Cluster, Namespace: d.Namespace, Name: d.Name},
				Simulated: d.Simulated, RepositoryURL: d.RepositoryUrl, Path: d.Path, AutomatedSync: d.AutomatedSync,
				Sync: promotion.SyncStatus(d.Sync), Health: promotion.HealthStatus(d.Health), Revision: d.Revision, ComparedRevision: d.ComparedRev,
				Operation:    d.Operation,
				OperationRev: d.OperationRev, Message: d.Message, Images: d.Images, ObservedAt: d.ObservedAt}}
		if string(d.Application) != "{}" {
			all[i].Observation.EngineObject = d.Application
		}
		if err := json.Unmarshal(d.Containers, &all[i].RunningImages); err != nil {
			return nil, fmt.Errorf("containers of %s: %w", d.Name, err)
		}
		if err := json.Unmarshal(d.Rollout, &all[i].Rollout); err != nil {
			return nil, fmt.Errorf("rollout of %s: %w", d.Name, err)
		}
	}
	return all, nil
}

func (r reader) History(ctx context.Context, f promotion.HistoryFilter) ([]promotion.HistoryEntry, error) {
	rows, err := r.q.History(ctx, dbsqlc.HistoryParams{Application: f.Application, Environment: f.Environment, At: nullTime(f.At),
		Before: f.Before, Most: int32(f.Limit)})
	all := make([]promotion.HistoryEntry, len(rows))
	for i, h := range rows {
		all[i] = promotion.HistoryEntry{ID: h.ID, Application: h.Application, Environment: h.Environment, Cluster: h.Cluster,
			ReleaseID: value(h.ReleaseID), Number: int(h.Number), Version: h.Version, Sync: promotion.SyncStatus(h.Sync),
			Health: promotion.HealthStatus(h.Health), Revision: h.Revision, Message: h.Message, Images: h.Images, ImageIDs: h.ImageIds,
			From: h.ObservedAt, To: value(h.ReplacedAt), PromotionID: h.PromotionID, RequestedBy: h.RequestedBy,
			MergedBy: h.MergedBy, ApprovedBy: h.ApprovedBy}
	}
	return all, err
}

func (r reader) Seen(ctx context.Context, targetID, releaseID int64, since time.Time) ([]promotion.Seen, error) {
	rows, err := r.q.Seen(ctx, dbsqlc.SeenParams{Target: nullID(targetID), Release: releaseID, Since: since})
	all := make([]promotion.Seen, len(rows))
	for i, o := range rows {
		all[i] = promotion.Seen{Deployment: promotion.DeploymentKey{Cluster: o.Cluster, Namespace: o.Namespace, Name: o.Name}, ReleaseID: value(o.ReleaseID), Sync: promotion.SyncStatus(o.Sync),
			Health: promotion.HealthStatus(o.Health), From: o.ObservedAt, To: value(o.ReplacedAt)}
	}
	return all, err
}
