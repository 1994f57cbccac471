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

func (r reader) Notifications(ctx context.Context, f promotion.NotificationFilter) ([]promotion.NotificationEntry, error) {
	rows, err := r.q.Notifications(ctx, dbsqlc.NotificationsParams{Application: f.Application, Environment: f.Environment, Kind: string(f.Kind),
		Undelivered: f.Undelivered, Before: f.Before, Most: int32(f.Limit)})
	if err != nil {
		return nil, err
	}
	all, at, ids := make([]promotion.NotificationEntry, len(rows)), map[int64]int{}, make([]int64, len(rows))
	for i, n := range rows {
		all[i], at[n.ID], ids[i] = promotion.NotificationEntry{ID: n.ID, Notification: notification(n)}, i, n.ID
	}
	deliveries, err := r.q.DeliveriesOf(ctx, ids)
	for _, d := range deliveries {
		to := &all[at[d.NotificationID]].Deliveries
		*to = append(*to, delivery(d, rows[at[d.NotificationID]]))
	}
	return all, err
}

func delivery(d dbsqlc.NotificationDelivery, n dbsqlc.Notification) promotion.Delivery {
	return promotion.Delivery{ID: d.ID, Destination: d.Destination, Attempts: int(d.Attempts), TriedAt: value(d.TriedAt), DeliveredAt: value(d.DeliveredAt),
		Problem: d.Problem, Notification: notification(n)}
}

func notification(n dbsqlc.Notification) promotion.Notification {
	return promotion.Notification{Kind: promotion.NotificationKind(n.Kind), Object: n.Object, Occasion: n.Occasion, At: n.At,
		Application: n.Application, Environment: n.Environment, PromotionID: value(n.PromotionID), Actor: n.Actor, Message: n.Message, Page: n.Page}
}
