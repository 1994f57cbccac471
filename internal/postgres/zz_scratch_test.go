package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres"
)

func TestScratchPlan(t *testing.T) {
	a := newTrail(t)
	ctx := context.Background()
	a.fill(300_000)
	st := time.Now()
	n := a.seal()
	t.Logf("sealed %d in %v", n, time.Since(st))
	c, _ := pgxpool.ParseConfig(a.url)
	c.MaxConns = 2
	c.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { t.Log(n.Message) }
	c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "LOAD 'auto_explain'; SET auto_explain.log_min_duration=0; SET auto_explain.log_analyze=on; SET client_min_messages=log")
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, c)
	a.must(err)
	defer pool.Close()
	s := postgres.NewStore(pool, nil)
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			a.exec("VACUUM ANALYZE audit_events")
			a.exec("VACUUM ANALYZE audit_chain")
		}
		a.write(a.pool, "one more")
		st = time.Now()
		n, h, err := s.SealAudit(ctx)
		t.Log("==== analyzed", analyzed, n, h.Position, err, time.Since(st))
	}
	st = time.Now()
	r, err := a.store.VerifyAudit(ctx, nil, func(f audit.Finding) { t.Log(f) })
	t.Log(r, err, time.Since(st))
}
