package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/auth"
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

// SaveToken implements auth.TokenStore.
func (s *Store) SaveToken(ctx context.Context, name string, hash []byte, roles []promotion.Role, created, expires time.Time) error {
	err := s.q.SaveToken(ctx, dbsqlc.SaveTokenParams{Name: name, Hash: hash, Roles: rolesToText(roles), CreatedAt: created, ExpiresAt: expires})
	if err != nil {
		return fmt.Errorf("store token %s: %w", name, err)
	}
	return nil
}

// TokenActor implements auth.TokenStore.
func (s *Store) TokenActor(ctx context.Context, hash []byte, now time.Time) (promotion.Actor, error) {
	row, err := s.q.TokenActor(ctx, dbsqlc.TokenActorParams{Hash: hash, Now: now})
	if errors.Is(err, pgx.ErrNoRows) {
		return promotion.Actor{}, auth.ErrUnknownToken
	} else if err != nil {
		return promotion.Actor{}, fmt.Errorf("look for a token: %w", err)
	}
	return promotion.Actor{Name: row.Name, Kind: promotion.Token, Roles: rolesFromText(row.Roles)}, nil
}
