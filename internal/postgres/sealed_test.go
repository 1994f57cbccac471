package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/audit"
	"github.com/sluicehq/sluice/internal/postgres"
)

// TestTamperingIsNamed does each thing to an audit of nine sealed events, whose ids are
// their positions, and a tenth that is not sealed.
func TestTamperingIsNamed(t *testing.T) {
	t.Parallel()
	const swapSeals = `
		UPDATE audit_chain SET event_id = -event_id WHERE event_id IN (%[1]d, %[2]d);
		UPDATE audit_chain SET event_id = CASE event_id WHEN -%[1]d THEN %[2]d ELSE %[1]d END WHERE event_id < 0`
	a := nineSealed(t)
	a.write(a.pool, "not sealed yet")
	a.exec(`ALTER TABLE audit_chain DROP CONSTRAINT audit_chain_hash_check, DROP CONSTRAINT audit_chain_position_check;
		CREATE TABLE kept_events AS SELECT * FROM audit_events; CREATE TABLE kept_chain AS SELECT * FROM audit_chain`)
	for name, test := range map[string]struct {
		sql  string
		want []string
	}{
		"nothing":              {"SELECT 1", nil},
		"message":              {"UPDATE audit_events SET message = 'nothing happened' WHERE id = 4", []string{"altered 4 4"}},
		"message of the first": {"UPDATE audit_events SET message = 'nothing happened' WHERE id = 1", []string{"altered 1 1"}},
		"message of the last":  {"UPDATE audit_events SET message = 'nothing happened' WHERE id = 9", []string{"altered 9 9"}},
		"messages of two":      {"UPDATE audit_events SET message = 'x' WHERE id IN (4, 5)", []string{"altered 4 4", "altered 5 5"}},
		"JSON":                 {`UPDATE audit_events SET after = jsonb_set(after, '{state}', '"live"') WHERE id = 4`, []string{"altered 4 4"}},
		"a number's digits":    {`UPDATE audit_events SET after = jsonb_set(after, '{by,1}', '1.5') WHERE id = 4`, []string{"altered 4 4"}},
		"JSON taken away":      {"UPDATE audit_events SET after = NULL WHERE id = 4", []string{"altered 4 4"}},
		"JSON null for NULL":   {"UPDATE audit_events SET before = 'null' WHERE id = 4", []string{"altered 4 4"}},
		"time":                 {"UPDATE audit_events SET at = at - interval '1 microsecond' WHERE id = 4", []string{"altered 4 4"}},
		"time without end":     {"UPDATE audit_events SET at = 'infinity' WHERE id = 4", []string{"altered 4 4"}},
		"actor":                {"UPDATE audit_events SET actor = 'bob' WHERE id = 4", []string{"altered 4 4"}},
		"text moved across":    {"UPDATE audit_events SET action = left(action, -1), object = right(action, 1) || object WHERE id = 4", []string{"altered 4 4"}},
		"transaction":          {"UPDATE audit_events SET tx = '1' WHERE id = 4", []string{"reordered 4 4"}},
		"id": {`INSERT INTO audit_events OVERRIDING SYSTEM VALUE SELECT 400, at, actor, actor_kind, action, object, application, environment,
			release_id, promotion_id, message, before, after, request_id, source_address, tx FROM audit_events WHERE id = 4;
			DELETE FROM audit_events WHERE id = 4`, []string{"removed 4 4", "inserted 0 400"}},
		"removed":             {"DELETE FROM audit_events WHERE id = 4", []string{"removed 4 4"}},
		"the newest removed":  {"DELETE FROM audit_events WHERE id = 9", []string{"removed 9 9"}},
		"removed and altered": {"DELETE FROM audit_events WHERE id = 4; UPDATE audit_events SET message = 'x' WHERE id = 5", []string{"removed 4 4", "altered 5 5"}},
		"removed with seal":   {"DELETE FROM audit_events WHERE id = 4; DELETE FROM audit_chain WHERE event_id = 4", []string{"removed 4 0"}},
		"seals removed":       {"DELETE FROM audit_chain WHERE event_id IN (4, 5)", []string{"removed 4 0", "inserted 0 4", "inserted 0 5"}},
		"removed, moved up": {`DELETE FROM audit_events WHERE id = 4; DELETE FROM audit_chain WHERE event_id = 4;
			UPDATE audit_chain SET position = position + 100 WHERE position > 4; UPDATE audit_chain SET position = position - 101 WHERE position > 100`,
			[]string{"altered 4 5"}},
		"contents swapped": {`UPDATE audit_events e SET message = o.message, at = o.at FROM audit_events o
			WHERE (e.id, o.id) IN ((3, 7), (7, 3))`, []string{"altered 3 3", "altered 7 7"}},
		"swapped":           {fmt.Sprintf(swapSeals, 3, 7), []string{"reordered 3 7", "reordered 7 3"}},
		"neighbours":        {fmt.Sprintf(swapSeals, 3, 4), []string{"reordered 3 4", "broken 4 3"}},
		"seals moved":       {"UPDATE audit_chain SET position = 10 WHERE position = 3; UPDATE audit_chain SET position = 3 WHERE position = 7; UPDATE audit_chain SET position = 7 WHERE position = 10", []string{"reordered 3 7", "broken 4 4", "reordered 7 3", "broken 8 8"}},
		"hash":              {`UPDATE audit_chain SET hash = sha256('x') WHERE position = 4`, []string{"broken 4 4"}},
		"hash of a length":  {`UPDATE audit_chain SET hash = '' WHERE position = 4`, []string{"broken 4 4"}},
		"time of the seal":  {`UPDATE audit_chain SET sealed_at = 'infinity' WHERE position = 4`, []string{"altered 4 4"}},
		"horizon":           {`UPDATE audit_chain SET horizon = '99999999' WHERE position = 4`, []string{"altered 4 4"}},
		"seal out of place": {`INSERT INTO audit_chain SELECT -1, 10, hash, horizon, sealed_at FROM audit_chain WHERE position = 4`, []string{"inserted -1 10"}},
		"inserted, old id": {`INSERT INTO audit_events (id, at, actor, actor_kind, action, object, message) OVERRIDING SYSTEM VALUE
			VALUES (-3, now() - interval '1 day', 'ada', 'person', 'a.b', 'c', 'forged')`, []string{"inserted 0 -3"}},
		"inserted, old id and transaction": {`INSERT INTO audit_events (id, at, actor, actor_kind, action, object, message, tx) OVERRIDING SYSTEM VALUE
			VALUES (-3, now() - interval '1 day', 'ada', 'person', 'a.b', 'c', 'forged', '0')`, []string{"inserted 0 -3"}},
	} {
		t.Run(name, func(t *testing.T) {
			a.tamper(test.sql)
			report, findings := a.verify(nil)
			a.tamper(`DELETE FROM audit_chain; DELETE FROM audit_events; INSERT INTO audit_chain SELECT * FROM kept_chain;
				INSERT INTO audit_events OVERRIDING SYSTEM VALUE SELECT * FROM kept_events`)
			var got []string
			for _, f := range findings {
				got = append(got, fmt.Sprintf("%s %d %d", f.Kind, f.Position, f.EventID))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("found %q, want %q\n%v", got, test.want, findings)
			}
			if report.Pending != 1 && name != "seal out of place" {
				t.Errorf("%d events pending, want the tenth", report.Pending)
			}
		})
	}
}

func nineSealed(t *testing.T) *trail {
	t.Helper()
	return trailFrom(t, withNineSealed)
}

// withNineSealed is a template: sealing is held up by what other tests are doing, and so
// is done once.
func withNineSealed(ctx context.Context, url string) error {
	if err := migrate(ctx, url); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	store := postgres.NewStore(pool, nil)
	for batch := range 3 {
		for i := range 3 {
			if _, err := pool.Exec(ctx, insertEvent, fmt.Sprintf("event %d of batch %d", i, batch)); err != nil {
				return err
			}
		}
		if _, err := sealPending(ctx, store, nil); err != nil {
			return err
		}
	}
	return nil
}

// TestTheForgedIsSealedAndNamedAllTheSame has the sealer go over what was inserted under an
// old id: the chain goes on, and the finding stays.
func TestTheForgedIsSealedAndNamedAllTheSame(t *testing.T) {
	t.Parallel()
	a := nineSealed(t)
	a.tamper("DELETE FROM audit_events WHERE id = 9") // the newest sealed one
	a.tamper(`INSERT INTO audit_events (id, at, actor, actor_kind, action, object, message) OVERRIDING SYSTEM VALUE
		VALUES (-3, now(), 'ada', 'person', 'a.b', 'c', 'forged')`)
	a.write(a.pool, "after")
	var findings []audit.Finding
	_, err := sealPending(context.Background(), a.store, &findings)
	a.must(err)
	if len(findings) != 2 || findings[0].Kind != audit.Removed || findings[1].Kind != audit.Inserted || findings[1].EventID != -3 || findings[1].Position < 10 {
		t.Errorf("findings %v", findings)
	}
}

func TestANotedHeadShowsWhatTheChainAloneCannot(t *testing.T) {
	t.Parallel()
	for name, sql := range map[string]string{
		"newest removed": "DELETE FROM audit_chain WHERE position > 6; DELETE FROM audit_events WHERE id > 6",
		"made anew":      "DELETE FROM audit_chain; UPDATE audit_events SET message = 'all was well' WHERE id = 2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := nineSealed(t)
			noted := a.sealAll()
			if _, findings := a.verify(&noted); len(findings) > 0 {
				t.Errorf("findings before: %v", findings)
			}
			a.tamper(sql)
			a.sealAll() // without a noted head there is nothing to see
			if _, findings := a.verify(&noted); len(findings) != 1 || findings[0].Kind != audit.Replaced || findings[0].Position != 9 {
				t.Errorf("findings %v", findings)
			}
		})
	}
}

func TestExportOfASelection(t *testing.T) {
	t.Parallel()
	a := nineSealed(t)
	a.exec(`INSERT INTO audit_events (at, actor, actor_kind, action, object, application, message)
		VALUES ('2026-01-01 10:00Z', 'ada', 'person', 'a.b', 'c', 'shop', 'older')`)
	export := func(which postgres.AuditSelection) (positions []int64, ids []int64) {
		t.Helper()
		a.must(a.store.ExportAudit(context.Background(), which, func(e audit.Entry) error {
			positions, ids = append(positions, e.Position), append(ids, e.Event.ID)
			return nil
		}))
		return positions, ids
	}
	if positions, ids := export(postgres.AuditSelection{}); !slices.Equal(ids, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) || !slices.Equal(positions, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 0}) {
		t.Errorf("all: ids %v at %v", ids, positions)
	}
	if _, ids := export(postgres.AuditSelection{Application: "shop"}); !slices.Equal(ids, []int64{10}) {
		t.Errorf("of the shop: %v", ids)
	}
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	if _, ids := export(postgres.AuditSelection{Since: at, Until: at.Add(time.Microsecond)}); !slices.Equal(ids, []int64{10}) {
		t.Errorf("at that moment: %v", ids)
	}
	if _, ids := export(postgres.AuditSelection{Until: at}); len(ids) > 0 {
		t.Errorf("before: %v", ids)
	}
}

// TestEveryColumnIsSealed changes each column of a sealed event: one that a migration adds
// must become part of the hash.
func TestEveryColumnIsSealed(t *testing.T) {
	t.Parallel()
	a := nineSealed(t)
	rows, err := a.pool.Query(context.Background(), `SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
		WHERE attrelid = 'audit_events'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'id'`)
	a.must(err)
	type column struct{ Name, Type string }
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	a.must(err)
	others := map[string]string{"text": "%[1]s || 'x'", "bigint": "coalesce(%[1]s, 0) + 1", "jsonb": `'{"x": 1}'`, "xid8": "'1'",
		"timestamp with time zone": "%[1]s + interval '1 second'"}
	for _, c := range columns {
		other := others[c.Type]
		switch {
		case c.Name == "actor_kind":
			other = "'token'"
		case other == "":
			t.Errorf("column %s is a %s: say here how to change it", c.Name, c.Type)
			continue
		case strings.Contains(other, "%"):
			other = fmt.Sprintf(other, c.Name)
		}
		a.tamper(fmt.Sprintf("CREATE TABLE kept AS SELECT id, %[1]s FROM audit_events; UPDATE audit_events SET %[1]s = %[2]s WHERE id = 4", c.Name, other))
		if _, findings := a.verify(nil); len(findings) != 1 || findings[0].EventID != 4 {
			t.Errorf("column %s changed: findings %v", c.Name, findings)
		}
		a.tamper(fmt.Sprintf("UPDATE audit_events e SET %[1]s = k.%[1]s FROM kept k WHERE k.id = e.id; DROP TABLE kept", c.Name))
	}
	a.sealAll()
}

// BenchmarkVerifyAudit verifies 100,000 sealed events.
func BenchmarkVerifyAudit(b *testing.B) {
	const events = 100_000
	a := newTrail(b)
	a.fill(events)
	head := a.sealAll()
	if head.Position != events {
		b.Fatalf("sealed up to %v", head)
	}
	b.ReportAllocs()
	for b.Loop() {
		if report, findings := a.verify(&head); len(findings) > 0 || report.Head != head {
			b.Fatal(findings)
		}
	}
}

// BenchmarkSealAudit seals one new event after a million.
func BenchmarkSealAudit(b *testing.B) {
	a := newTrail(b)
	a.fill(1_000_000)
	started := time.Now()
	a.sealAll()
	b.Logf("the million was sealed in %v", time.Since(started))
	a.exec("VACUUM ANALYZE audit_events; VACUUM ANALYZE audit_chain")
	for b.Loop() {
		a.write(a.pool, "one more")
		a.seal()
	}
}

// fill writes events as many transactions would have.
func (t *trail) fill(n int) {
	t.Helper()
	t.exec(`INSERT INTO audit_events (at, actor, actor_kind, action, object, application, environment, message, after)
		SELECT now(), 'ada', 'person', 'promotion.approved', 'promotion/' || n, 'shop', 'prod', 'approved what was seen: ' || n,
			jsonb_build_object('state', 'open', 'hash', md5(n::text), 'by', 'ada') FROM generate_series(1, $1::int) n`, n)
}
