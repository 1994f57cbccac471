-- name: InsertNotification :one
INSERT INTO notifications (kind, object, occasion, at, application, environment, promotion_id, actor, message, page)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (kind, object, occasion) DO NOTHING RETURNING id;

-- name: InsertDeliveries :many
INSERT INTO notification_deliveries (notification_id, destination)
SELECT sqlc.arg(notification)::bigint, unnest(sqlc.arg(destinations)::text[]) RETURNING id;

-- name: DeliveryByID :one
SELECT sqlc.embed(d), sqlc.embed(n) FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id WHERE d.id = $1;

-- name: SaveDelivery :exec
UPDATE notification_deliveries SET attempts = $2, tried_at = $3, delivered_at = $4, problem = $5 WHERE id = $1;

-- name: Deliveries :many
SELECT sqlc.embed(d), sqlc.embed(n) FROM notification_deliveries d JOIN notifications n ON n.id = d.notification_id
WHERE NOT sqlc.arg(failed)::boolean OR d.delivered_at IS NULL AND d.attempts > 0
ORDER BY d.notification_id DESC, d.destination LIMIT sqlc.arg(most);

-- name: Notifications :many
SELECT * FROM notifications n
WHERE (sqlc.arg(application)::text = '' OR n.application = sqlc.arg(application)::text)
  AND (sqlc.arg(environment)::text = '' OR n.environment = sqlc.arg(environment)::text)
  AND (sqlc.arg(kind)::text = '' OR n.kind = sqlc.arg(kind)::text)
  AND (NOT sqlc.arg(undelivered)::boolean
       OR EXISTS (SELECT FROM notification_deliveries d WHERE d.notification_id = n.id AND d.delivered_at IS NULL))
  AND (sqlc.arg(before)::bigint = 0 OR n.id < sqlc.arg(before)::bigint)
ORDER BY n.id DESC LIMIT sqlc.arg(most);

-- name: DeliveriesOf :many
SELECT * FROM notification_deliveries WHERE notification_id = ANY (sqlc.arg(notifications)::bigint[]) ORDER BY notification_id, destination;
