package postgres

import (
	"context"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// DatabaseLooks implements promotion.Reader.
func (r reader) DatabaseLooks(ctx context.Context) ([]promotion.DatabaseLook, error) {
	rows, err := r.q.DatabaseLooks(ctx)
	all := make([]promotion.DatabaseLook, len(rows))
	for i, row := range rows {
		all[i] = promotion.DatabaseLook{DatabaseKey: promotion.DatabaseKey{Application: row.Application, Environment: row.Environment}, At: row.LookedAt,
			Problem: row.Problem}
		if row.ReadAt != nil {
			all[i].ReadAt = *row.ReadAt
		}
	}
	return all, err
}

// SaveDatabaseLook implements promotion.Tx.
func (t *tx) SaveDatabaseLook(ctx context.Context, l promotion.DatabaseLook) error {
	return t.q.SaveDatabaseLook(ctx, dbsqlc.SaveDatabaseLookParams{Application: l.Application, Environment: l.Environment, LookedAt: l.At,
		ReadAt: nullTime(l.ReadAt), Problem: l.Problem})
}
