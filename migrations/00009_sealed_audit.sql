-- +goose Up
-- The events so far count as the oldest; a constant default rewrites no row.
ALTER TABLE audit_events ADD COLUMN tx xid8 NOT NULL DEFAULT '0';
ALTER TABLE audit_events ALTER COLUMN tx SET DEFAULT pg_current_xact_id();
COMMENT ON COLUMN audit_events.tx IS 'the transaction that wrote it; 0: before events were sealed';
CREATE INDEX audit_events_by_tx ON audit_events (tx, id);

-- A transaction has its number before its first event has an id: so an event of a transaction that began after others were
-- sealed has a higher id than they have.
-- +goose StatementBegin
CREATE FUNCTION number_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_current_xact_id();
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_events_number_transaction BEFORE INSERT ON audit_events
    FOR EACH STATEMENT EXECUTE FUNCTION number_transaction();

CREATE TABLE audit_chain (
    position  bigint      PRIMARY KEY CHECK (position > 0),
    event_id  bigint      NOT NULL UNIQUE REFERENCES audit_events,
    hash      bytea       NOT NULL CHECK (octet_length(hash) = 32),
    horizon   xid8        NOT NULL,
    sealed_at timestamptz NOT NULL
);
COMMENT ON TABLE audit_chain IS 'append-only: audit events in the order of tx and id, each sealed once no transaction before it can still commit';
COMMENT ON COLUMN audit_chain.hash IS 'SHA-256 of the hash before it and of every column of the event and of this row';
COMMENT ON COLUMN audit_chain.horizon IS 'no transaction of this number or a higher one had begun when the event was sealed';
CREATE TRIGGER audit_chain_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_chain
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- +goose Down
DROP TABLE audit_chain;
DROP TRIGGER audit_events_number_transaction ON audit_events;
DROP FUNCTION number_transaction;
DROP INDEX audit_events_by_tx;
ALTER TABLE audit_events DROP COLUMN tx;
