package httpapi

import (
	"slices"
	"time"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/promotion"
)

func environmentAnswer(cell promotion.BoardCell) api.Environment {
	answer := api.Environment{
		Environment: cell.Target.Environment, Rank: cell.Target.Rank, Repository: cell.Target.Repository, Path: cell.Target.Path,
		Layout: cell.Target.Layout, RenderProblem: cell.Target.RenderProblem,
		Desired:     api.Desired{Revision: cell.DesiredSHA},
		Deployments: each(cell.Deployments, deploymentAnswer),
	}
	if r := cell.Desired; r != nil {
		answer.Desired.Release, answer.Desired.ReleaseNumber, answer.Desired.Version = &r.ID, &r.Number, r.Version
	}
	if cell.Open != nil {
		open := promotionAnswer(*cell.Open)
		answer.Promotion = &open
	}
	return answer
}

func deploymentAnswer(d promotion.Deployment) api.Deployment {
	answer := api.Deployment{
		ID: d.ID, Application: d.Application, Environment: d.Environment,
		Cluster: d.Key.Cluster, Namespace: d.Key.Namespace, Name: d.Key.Name, Simulated: d.Simulated, AutomatedSync: d.AutomatedSync,
		Sync: api.SyncStatus(d.Sync), Health: api.HealthStatus(d.Health), Revision: d.Revision, Message: d.Message,
		Images: each(d.Images, same[string]), ImageIds: imageIDs(d),
		Release: unlessZero(d.ReleaseID), ReleaseNumber: unlessZero(d.Number), Version: d.Version,
		Since: d.Since.UTC(), ObservedAt: d.ObservedAt.UTC(),
	}
	for _, c := range d.RunningImages {
		if c.Ended != (promotion.LastEnd{}) {
			answer.Crash = api.Crash{Pod: c.Pod, Container: c.Container, ExitCode: c.Ended.ExitCode, Log: c.Ended.Log, Unread: c.Ended.Unread}
			break
		}
	}
	return answer
}

// imageIDs lists what the running containers resolved to, each once.
func imageIDs(d promotion.Deployment) []string {
	ids := []string{}
	for _, c := range d.RunningImages {
		if c.ImageID != "" && !slices.Contains(ids, c.ImageID) {
			ids = append(ids, c.ImageID)
		}
	}
	slices.Sort(ids)
	return ids
}

func historyAnswer(e promotion.HistoryEntry) api.HistoryEntry {
	return api.HistoryEntry{
		ID: e.ID, Application: e.Application, Environment: e.Environment, Cluster: e.Cluster,
		Release: unlessZero(e.ReleaseID), ReleaseNumber: unlessZero(e.Number), Version: e.Version,
		Sync: api.SyncStatus(e.Sync), Health: api.HealthStatus(e.Health), Revision: e.Revision, Message: e.Message,
		Images: each(e.Images, same[string]), ImageIds: each(e.ImageIDs, same[string]), From: e.From.UTC(), To: unlessNever(e.To),
		Promotion: unlessZero(e.PromotionID), RequestedBy: e.RequestedBy, ApprovedBy: each(e.ApprovedBy, same[string]), MergedBy: e.MergedBy,
	}
}

func auditAnswer(e promotion.AuditEvent) api.AuditEvent {
	return api.AuditEvent{
		ID: e.ID, At: e.At.UTC(), Actor: e.Actor.Name, ActorKind: api.AuditEventActorKind(e.Actor.Kind), Action: e.Action, Object: e.Object,
		Application: e.Application, Environment: e.Environment, Release: e.ReleaseID, Promotion: e.PromotionID, Message: e.Message,
		Before: e.Before, After: e.After, RequestID: e.RequestID, SourceAddress: e.SourceAddress,
	}
}

// unlessZero is null in JSON for what is not there.
func unlessZero[N int | int64](n N) *N {
	if n == 0 {
		return nil
	}
	return &n
}

// unlessNever is null in JSON for what does not happen.
func unlessNever(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func same[T any](v T) T { return v }
