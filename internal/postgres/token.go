package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (t *tx) SaveToken(ctx context.Context, n promotion.NewToken, at time.Time) error {
	return t.q.SaveToken(ctx, dbsqlc.SaveTokenParams{Name: n.Name, Hash: n.Hash, Roles: rolesToText(n.Roles), CreatedAt: at, ExpiresAt: n.Expires})
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

func (r reader) TokenRoles(ctx context.Context, name string, at time.Time) ([]promotion.Role, time.Time, error) {
	row, err := r.q.TokenNamed(ctx, dbsqlc.TokenNamedParams{Name: name, Now: at})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, time.Time{}, nil
	}
	return rolesFromText(row.Roles), row.ExpiresAt, err
}

func (t *tx) RevokeToken(ctx context.Context, name string, at time.Time) (bool, error) {
	n, err := t.q.RevokeToken(ctx, dbsqlc.RevokeTokenParams{Name: name, At: at})
	if err != nil || n > 0 {
		return n > 0, err
	}
	if there, err := t.q.TokenExists(ctx, name); err != nil || there {
		return false, err
	}
	return false, promotion.ErrNotFound
}
