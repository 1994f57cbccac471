package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (t *tx) Audit(ctx context.Context, e promotion.AuditEvent) error {
	before, err := document(e.Before)
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	after, err := document(e.After)
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	err = t.q.InsertAuditEvent(ctx, dbsqlc.InsertAuditEventParams{At: e.At, Actor: e.Actor.Name, ActorKind: string(e.Actor.Kind),
		Action: e.Action, Object: e.Object, Application: e.Application, Environment: e.Environment, ReleaseID: nullID(e.ReleaseID),
		PromotionID: nullID(e.PromotionID), Message: e.Message, Before: before, After: after, RequestID: e.RequestID,
		SourceAddress: e.SourceAddress})
	if err != nil {
		return fmt.Errorf("audit %s: %w", e.Action, err)
	}
	return nil
}

func (r reader) AuditEvents(ctx context.Context, f promotion.AuditFilter) ([]promotion.AuditEvent, error) {
	rows, err := r.q.AuditEvents(ctx, dbsqlc.AuditEventsParams{Application: f.Application, Environment: f.Environment,
		Promotion: f.PromotionID, Release: f.ReleaseID, Before: f.Before, Most: int32(f.Limit)})
	all := make([]promotion.AuditEvent, len(rows))
	for i, e := range rows {
		all[i] = promotion.AuditEvent{ID: e.ID, At: e.At, Actor: promotion.Actor{Name: e.Actor, Kind: promotion.ActorKind(e.ActorKind)},
			Action: e.Action, Object: e.Object, Application: e.Application, Environment: e.Environment, ReleaseID: value(e.ReleaseID),
			PromotionID: value(e.PromotionID), Message: e.Message, Before: stored(e.Before), After: stored(e.After),
			RequestID: e.RequestID, SourceAddress: e.SourceAddress}
	}
	return all, err
}

// stored keeps an absent document absent instead of an empty one.
func stored(d json.RawMessage) any {
	if len(d) == 0 {
		return nil
	}
	return d
}
