-- name: LockSealing :one
SELECT pg_try_advisory_xact_lock(hashtextextended('sluice/audit-seal', 0));

-- name: SealingTransaction :one
-- No transaction of a higher number had begun: a snapshot's xmax says only which had ended.
SELECT pg_current_xact_id()::xid8;

-- name: AuditHorizon :one
-- No transaction of this number or above had ended.
SELECT pg_snapshot_xmax(pg_current_snapshot())::xid8;

-- name: NewestSeal :one
SELECT position, hash FROM audit_chain ORDER BY position DESC LIMIT 1;

-- name: NewestSealedEvent :one
-- Passes over seals whose event somebody removed.
SELECT e.tx, e.id FROM audit_chain c JOIN audit_events e ON e.id = c.event_id ORDER BY c.position DESC LIMIT 1;

-- name: EventsToSeal :many
-- Every transaction below xmin has ended: what it committed is seen, and nothing can come before it any more. A row of
-- a transaction that has not ended came with a dump from another server. The chain is looked into per event, which keeps
-- to the index on (tx, id) even where statistics are missing: NOT EXISTS would be planned as a join with all of it.
SELECT e.id, statement_timestamp()::timestamptz AS sealed_at
FROM audit_events e
WHERE (e.tx, e.id) > (sqlc.arg(tx)::xid8, sqlc.arg(id)::bigint)
  AND (e.tx < (SELECT pg_snapshot_xmin(pg_current_snapshot())) OR e.tx >= (SELECT pg_snapshot_xmax(pg_current_snapshot())))
  AND (SELECT c.event_id FROM audit_chain c WHERE c.event_id = e.id) IS NULL
ORDER BY e.tx, e.id LIMIT sqlc.arg(most);

-- name: UnsealedEvents :many
SELECT e.tx, e.id FROM audit_events e
WHERE (e.tx, e.id) > (sqlc.arg(tx)::xid8, sqlc.arg(id)::bigint)
  AND NOT EXISTS (SELECT FROM audit_chain c WHERE c.event_id = e.id)
ORDER BY e.tx, e.id LIMIT sqlc.arg(most);

-- name: RawAuditEvents :many
-- An infinite time is nothing that Sluice writes: it is read as another one, so that it can be read at all.
SELECT id, tx, (CASE WHEN isfinite(at) THEN at ELSE 'epoch' END)::timestamptz AS at, actor, actor_kind, action, object, application,
    environment, release_id, promotion_id, message, before, after, request_id, source_address
FROM audit_events WHERE id = ANY (sqlc.arg(ids)::bigint[]);

-- name: InsertSeals :exec
INSERT INTO audit_chain (position, event_id, hash, horizon, sealed_at)
SELECT unnest(sqlc.arg(positions)::bigint[]), unnest(sqlc.arg(events)::bigint[]), unnest(sqlc.arg(hashes)::bytea[]),
    sqlc.arg(horizon)::xid8, sqlc.arg(sealed_at)::timestamptz;

-- name: SealsAfter :many
SELECT position, event_id, hash, horizon, (CASE WHEN isfinite(sealed_at) THEN sealed_at ELSE 'epoch' END)::timestamptz AS sealed_at
FROM audit_chain WHERE position > sqlc.arg(position)::bigint ORDER BY position LIMIT sqlc.arg(most);

-- name: SealsOf :many
SELECT position, event_id, hash, horizon, (CASE WHEN isfinite(sealed_at) THEN sealed_at ELSE 'epoch' END)::timestamptz AS sealed_at
FROM audit_chain WHERE event_id = ANY (sqlc.arg(events)::bigint[]);

-- name: AuditEventsToExport :many
SELECT id FROM audit_events
WHERE id > sqlc.arg(after)::bigint
  AND (sqlc.narg(since)::timestamptz IS NULL OR at >= sqlc.narg(since)::timestamptz)
  AND (sqlc.narg(until)::timestamptz IS NULL OR at < sqlc.narg(until)::timestamptz)
  AND (sqlc.arg(application)::text = '' OR application = sqlc.arg(application)::text)
ORDER BY id LIMIT sqlc.arg(most);
