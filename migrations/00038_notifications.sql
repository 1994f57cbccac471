-- +goose Up
CREATE TABLE notifications (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text        NOT NULL CHECK (kind <> ''),
    object       text        NOT NULL CHECK (object <> ''),
    occasion     text        NOT NULL,
    at           timestamptz NOT NULL,
    application  text        NOT NULL DEFAULT '',
    environment  text        NOT NULL DEFAULT '',
    promotion_id bigint REFERENCES promotions,
    actor        text        NOT NULL DEFAULT '',
    message      text        NOT NULL CHECK (message <> ''),
    page         text        NOT NULL,
    UNIQUE (kind, object, occasion)
);
COMMENT ON TABLE notifications IS 'what people were to be told, written in the transaction that made it so';
COMMENT ON COLUMN notifications.occasion IS 'which of the times that the same is said of the object: each is said once';
COMMENT ON COLUMN notifications.page IS 'path of the page that shows it';

CREATE TABLE notification_deliveries (
    id              text        PRIMARY KEY DEFAULT gen_random_uuid()::text,
    notification_id bigint      NOT NULL REFERENCES notifications,
    destination     text        NOT NULL CHECK (destination <> ''),
    attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    tried_at        timestamptz,
    delivered_at    timestamptz,
    problem         text        NOT NULL DEFAULT '',
    UNIQUE (notification_id, destination),
    CHECK ((attempts = 0) = (tried_at IS NULL)),
    CHECK (delivered_at IS NULL OR problem = '')
);
COMMENT ON TABLE notification_deliveries IS 'a notification on its way to one destination; the id is what the receiver knows it by';
COMMENT ON COLUMN notification_deliveries.problem IS 'why the last attempt failed, without address or secret';
CREATE INDEX notification_deliveries_open ON notification_deliveries (notification_id) WHERE delivered_at IS NULL;

CREATE INDEX gate_results_by_override ON gate_results (override_id) WHERE override_id IS NOT NULL;

-- +goose Down
DROP INDEX gate_results_by_override;
DROP TABLE notification_deliveries, notifications;
