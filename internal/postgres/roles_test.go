package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres"
)

// TestRoles connects as members of the roles of deploy/postgres/roles.sql. Roles belong to
// the whole server, so that one test does it all.
func TestRoles(t *testing.T) {
	t.Parallel()
	a, ctx := nineSealed(t), context.Background()
	content, err := os.ReadFile("../../deploy/postgres/roles.sql")
	a.must(err)
	for range 2 { // it may be run again
		a.exec(string(content))
	}
	a.exec("CREATE ROLE member_of_app LOGIN IN ROLE sluice_app; CREATE ROLE member_of_readonly LOGIN IN ROLE sluice_readonly")
	app, readonly := a.as("member_of_app"), a.as("member_of_readonly")

	for _, sql := range []string{
		"UPDATE audit_events SET message = 'x' WHERE id = 1",
		"DELETE FROM audit_events",
		"TRUNCATE audit_events CASCADE",
		"ALTER TABLE audit_events DISABLE TRIGGER audit_events_append_only",
		"DROP TRIGGER audit_events_append_only ON audit_events",
		"DROP TABLE audit_events CASCADE",
		"SET session_replication_role = replica",
		"SELECT * FROM audit_events FOR UPDATE",
		"INSERT INTO audit_events (id, at, actor, actor_kind, action, object, message) OVERRIDING SYSTEM VALUE VALUES (-1, now(), 'a', 'person', 'b', 'c', 'd')",
		"INSERT INTO audit_events (tx, at, actor, actor_kind, action, object, message) VALUES ('0', now(), 'a', 'person', 'b', 'c', 'd')",
		"SELECT setval('audit_events_id_seq', 1)",
		"UPDATE audit_chain SET hash = sha256('x')",
		"DELETE FROM audit_chain",
		"TRUNCATE audit_chain",
		"ALTER TABLE audit_chain DISABLE TRIGGER ALL",
		"UPDATE policies SET files = '{}'",
		"DELETE FROM evidence",
		"UPDATE attestations SET compatible = true",
		"CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"CREATE TABLE mine (id int)",
		"UPDATE goose_db_version SET is_applied = false",
	} {
		a.refused(app, sql)
		a.refused(readonly, sql)
	}
	a.refused(readonly, "SELECT hash FROM api_tokens")
	a.refused(readonly, "SELECT data FROM sessions")
	a.refused(readonly, "INSERT INTO river_queue (name, updated_at) VALUES ('x', now())")

	a.worksAsApp(app)
	if report, err := postgres.NewStore(readonly, nil).VerifyAudit(ctx, nil, func(f audit.Finding) { t.Error(f) }); err != nil || report.Head.Position < 9 {
		t.Errorf("verification as sluice_readonly: %+v, error %v", report, err)
	}
	a.privileges()
}

// worksAsApp has the server's own start, writes and sealing done as the role.
func (t *trail) worksAsApp(app *pgxpool.Pool) {
	t.Helper()
	ctx := context.Background()
	t.must(migrate(ctx, app.Config().ConnString())) // finds nothing to do, as at a server's start
	t.write(app, "as the application")
	head, err := sealPending(ctx, postgres.NewStore(app, nil), nil)
	if err != nil || head.Position != 10 {
		t.Errorf("sealing as the application: head %v, error %v", head, err)
	}
	_, err = app.Exec(ctx, `
		INSERT INTO config_repositories (name, url, base_branch) VALUES ('config', 'u', 'main');
		UPDATE config_repositories SET problem = '' WHERE name = 'config';
		INSERT INTO sessions VALUES ('t', '', now()); DELETE FROM sessions;
		INSERT INTO river_job (args, kind, max_attempts) VALUES ('{}', 'x', 1); DELETE FROM river_job`)
	t.must(err)
}

// privileges compares what sluice_app may do with every table there is.
func (t *trail) privileges() {
	t.Helper()
	rows, err := t.pool.Query(context.Background(), `SELECT format('%s.%s', schemaname, tablename) FROM pg_tables p
		WHERE schemaname IN ('public', 'prhost') AND NOT (has_table_privilege('sluice_app', format('%I.%I', schemaname, tablename), 'SELECT')
			AND has_table_privilege('sluice_app', format('%I.%I', schemaname, tablename), 'INSERT')
			AND has_table_privilege('sluice_app', format('%I.%I', schemaname, tablename), 'UPDATE')
			AND has_table_privilege('sluice_app', format('%I.%I', schemaname, tablename), 'DELETE')) ORDER BY 1`)
	t.must(err)
	limited, err := pgx.CollectRows(rows, pgx.RowTo[string])
	t.must(err)
	want := []string{"public.attestations", "public.audit_chain", "public.audit_events", "public.evidence", "public.goose_db_version", "public.policies", "public.river_migration"}
	if !slices.Equal(limited, want) {
		t.Errorf("sluice_app is limited on %v, want %v", limited, want)
	}
}

func (t *trail) as(role string) *pgxpool.Pool {
	t.Helper()
	u, err := url.Parse(t.url)
	t.must(err)
	u.User = url.User(role)
	pool, err := pgxpool.New(context.Background(), u.String())
	t.must(err)
	t.Cleanup(pool.Close)
	return pool
}

// refused wants the lack of a privilege (42501), not a trigger or a constraint, to be the reason.
func (t *trail) refused(as *pgxpool.Pool, sql string) {
	t.Helper()
	var pg *pgconn.PgError
	if _, err := as.Exec(context.Background(), sql); !errors.As(err, &pg) || pg.Code != "42501" {
		t.Errorf("as %s: %s: %v", as.Config().ConnConfig.User, sql, err)
	}
}
