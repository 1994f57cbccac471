-- +goose Up
CREATE TABLE webhook_deliveries (
    host        text        NOT NULL,
    delivery    text        NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (host, delivery)
);
COMMENT ON TABLE webhook_deliveries IS 'claimed in the transaction that enqueues what follows from them, so that one delivered again does nothing';
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (received_at);

-- +goose Down
DROP TABLE webhook_deliveries;
