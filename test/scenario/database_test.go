package scenario_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/migrations"
)

// migrate makes the product's schema, a queue, and triggers that note every change that must be audited together with the
// transaction that made it.
func migrate(ctx context.Context, url string) error {
	if err := postgres.Migrate(ctx, url, migrations.Files); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is lost with it
	_, err = conn.Exec(ctx, schema)
	return err
}

const schema = `
CREATE SCHEMA scenario;
CREATE TABLE scenario.work (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text   NOT NULL,
    promotion_id bigint NOT NULL DEFAULT 0,
    repository   text   NOT NULL DEFAULT '',
    delivery     text   NOT NULL DEFAULT ''
);
-- when somebody held no role
CREATE TABLE scenario.absences (name text NOT NULL, since timestamptz NOT NULL, until timestamptz);
CREATE TABLE scenario.changes (tx text NOT NULL, object text NOT NULL, before text NOT NULL DEFAULT '', after text NOT NULL DEFAULT '');

CREATE FUNCTION scenario.note_promotion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO scenario.changes VALUES (pg_current_xact_id()::text, 'promotion/' || NEW.id, '', NEW.state);
    ELSIF (OLD.state, OLD.decision, OLD.pull_request, OLD.merge_sha, OLD.head_sha) IS DISTINCT FROM
          (NEW.state, NEW.decision, NEW.pull_request, NEW.merge_sha, NEW.head_sha) THEN
        INSERT INTO scenario.changes VALUES (pg_current_xact_id()::text, 'promotion/' || NEW.id, OLD.state, NEW.state);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER note AFTER INSERT OR UPDATE ON promotions FOR EACH ROW EXECUTE FUNCTION scenario.note_promotion();

-- The object's kind, and the column that names it, are the trigger's arguments.
CREATE FUNCTION scenario.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO scenario.changes (tx, object) VALUES (pg_current_xact_id()::text, TG_ARGV[0] || '/' || (to_jsonb(NEW) ->> TG_ARGV[1]));
    RETURN NEW;
END $$;
CREATE TRIGGER note AFTER INSERT ON builds FOR EACH ROW EXECUTE FUNCTION scenario.note('build', 'id');
CREATE TRIGGER note AFTER INSERT ON releases FOR EACH ROW EXECUTE FUNCTION scenario.note('release', 'id');
CREATE TRIGGER note AFTER INSERT ON release_aliases FOR EACH ROW EXECUTE FUNCTION scenario.note('release', 'release_id');
CREATE TRIGGER note AFTER INSERT ON approvals FOR EACH ROW EXECUTE FUNCTION scenario.note('promotion', 'promotion_id');
CREATE TRIGGER note AFTER INSERT ON targets FOR EACH ROW EXECUTE FUNCTION scenario.note('target', 'path');`

// everyChangeIsAudited holds, at the end of every scenario, each change against the audit events of the same transaction.
func (w *world) everyChangeIsAudited() {
	ctx := context.WithoutCancel(w.Context())
	rows, err := w.pool.Query(ctx, `SELECT c.object || ': ' || c.before || ' → ' || c.after FROM scenario.changes c
		WHERE NOT EXISTS (SELECT FROM audit_events e WHERE e.xmin::text = c.tx AND e.object = c.object
			AND (c.after = '' OR coalesce(e.before ->> 'state', c.before) = c.before AND coalesce(e.after ->> 'state', c.after) = c.after))`)
	if err != nil {
		w.Error(err)
		return
	}
	unaudited, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(unaudited) > 0 {
		w.Errorf("changes without an audit event in the same transaction (%v):\n%s", err, strings.Join(unaudited, "\n"))
	}
}

// content is a fingerprint of each table: how many rows, and of what they say.
func (w *world) content() map[string]string {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
		WHERE schemaname IN ('public', 'prhost', 'scenario') AND tablename NOT LIKE 'river%' AND tablename <> 'goose_db_version'`)
	w.must(err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	content := map[string]string{}
	for _, table := range tables {
		var count int
		var sum string
		w.must(w.pool.QueryRow(w.Context(), "SELECT count(*), md5(coalesce(string_agg(x::text, '|' ORDER BY x::text), '')) FROM "+table+" x").Scan(&count, &sum))
		content[table] = fmt.Sprintf("%d rows, %s", count, sum)
	}
	return content
}

// unchanged fails the test if any table says something else than before.
func (w *world) unchanged(before map[string]string) {
	w.Helper()
	for table, now := range w.content() {
		if now != before[table] {
			w.Errorf("table %s changed from %s to %s", table, before[table], now)
		}
	}
}

// count runs a query for one number.
func (w *world) count(query string, args ...any) int {
	w.Helper()
	var n int
	w.must(w.pool.QueryRow(w.Context(), query, args...).Scan(&n))
	return n
}

// execute runs a statement of the test's own.
func (w *world) execute(statement string, args ...any) {
	w.Helper()
	_, err := w.pool.Exec(w.Context(), statement, args...)
	w.must(err)
}

// texts runs a query for one column of text.
func (w *world) texts(query string, args ...any) []string {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), query, args...)
	w.must(err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	return all
}
