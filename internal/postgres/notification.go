package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (t *tx) InsertNotification(ctx context.Context, n promotion.Notification, destinations []string) ([]string, error) {
	id, err := t.q.InsertNotification(ctx, dbsqlc.InsertNotificationParams{Kind: string(n.Kind), Object: n.Object, Occasion: n.Occasion, At: n.At,
		Application: n.Application, Environment: n.Environment, PromotionID: nullID(n.PromotionID), Actor: n.Actor, Message: n.Message, Page: n.Page})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return t.q.InsertDeliveries(ctx, dbsqlc.InsertDeliveriesParams{Notification: id, Destinations: list(destinations)})
}

func (t *tx) SaveDelivery(ctx context.Context, d promotion.Delivery) error {
	return t.q.SaveDelivery(ctx, dbsqlc.SaveDeliveryParams{ID: d.ID, Attempts: int32(d.Attempts), TriedAt: nullTime(d.TriedAt),
		DeliveredAt: nullTime(d.DeliveredAt), Problem: d.Problem})
}

func (r reader) Delivery(ctx context.Context, id string) (promotion.Delivery, error) {
	row, err := r.q.DeliveryByID(ctx, id)
	return delivery(row.NotificationDelivery, row.Notification), found(err)
}

func (r reader) Deliveries(ctx context.Context, failed bool, limit int) ([]promotion.Delivery, error) {
	rows, err := r.q.Deliveries(ctx, dbsqlc.DeliveriesParams{Failed: failed, Most: int32(limit)})
	all := make([]promotion.Delivery, len(rows))
	for i, row := range rows {
		all[i] = delivery(row.NotificationDelivery, row.Notification)
	}
	return all, err
}

func delivery(d dbsqlc.NotificationDelivery, n dbsqlc.Notification) promotion.Delivery {
	return promotion.Delivery{ID: d.ID, Destination: d.Destination, Attempts: int(d.Attempts), TriedAt: value(d.TriedAt), DeliveredAt: value(d.DeliveredAt),
		Problem: d.Problem, Notification: promotion.Notification{Kind: promotion.NotificationKind(n.Kind), Object: n.Object, Occasion: n.Occasion, At: n.At,
			Application: n.Application, Environment: n.Environment, PromotionID: value(n.PromotionID), Actor: n.Actor, Message: n.Message, Page: n.Page}}
}
