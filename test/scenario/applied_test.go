package scenario_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sluicehq/sluice/internal/migrationtable"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// goose are migrations that goose runs.
func goose(files []promotion.MigrationFile) *promotion.Migrations {
	m := plain(files)
	m.Tool = "goose"
	for i := range m.Files {
		m.Files[i].SQL = "-- +goose Up\n" + m.Files[i].SQL
	}
	return m
}

// shop is the database of web in an environment, with goose's table and these versions applied.
type shop struct {
	w       *world
	address string
}

func (w *world) shop(environment, versions string) *shop {
	w.Helper()
	db := &shop{w, postgrestest.NewDatabase(w.TB, nil)}
	db.runs("CREATE TABLE goose_db_version (id int GENERATED ALWAYS AS IDENTITY, version_id bigint NOT NULL, is_applied boolean NOT NULL)")
	db.applies("0 " + versions)
	w.service.Databases = map[promotion.DatabaseKey]promotion.AppliedReader{{Application: "web", Environment: environment}: migrationtable.Database{URL: func() (string, error) { return db.address, nil }}}
	return db
}

func (db *shop) runs(statement string) {
	db.w.Helper()
	ctx := context.WithoutCancel(db.w.Context())
	conn, err := pgx.Connect(ctx, db.address)
	db.w.must(err)
	defer conn.Close(ctx) //nolint:errcheck // of a test
	_, err = conn.Exec(ctx, statement)
	db.w.must(err)
}

func (db *shop) applies(versions string) {
	db.w.Helper()
	for _, v := range strings.Fields(versions) {
		db.runs("INSERT INTO goose_db_version (version_id, is_applied) VALUES (" + v + ", true)")
	}
}

// inDevWith has a release run in dev whose build posts migrations.
func (w *world) inDevWith(version string, m *promotion.Migrations) {
	w.Helper()
	r := w.request(version, "web")
	r.Migrations = m
	out := w.posts(r)
	w.settle()
	w.verifies(out.Promotions[0].ID)
}

func TestWhatTheDatabaseHasAppliedIsPutBesideWhatReleasesSay(t *testing.T) {
	for name, test := range map[string]struct {
		applied string
		schema  rollback.State
		list    rollback.State
		unread  string // part of what is not known; empty: the database agrees
		note    string
	}{
		"as the release says":           {"1 2", rollback.Clean, rollback.Complete, "", ""},
		"the newest is not applied yet": {"1", rollback.Clean, rollback.Complete, "", "has not applied 0002_tracking.sql yet (goose_db_version)"},
		"one that nobody posted":        {"1 2 9", rollback.Clean, rollback.Unread, "has applied 9 (goose_db_version), which no release here has", ""},
		"one that the old needs is not": {"2", rollback.Unread, rollback.Complete, "has not applied 0001_parcel.sql (goose_db_version), which 1.1.0 needs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.connects(answering{platforms: []string{platform}})
			w.shop("dev", test.applied)
			w.inDevWith("1.1.0", goose(files(parcels)))
			w.inDevWith("1.2.0", goose(files(parcels, addsTracking)))
			v := w.verdict()
			same(w, "schema state", v.Facts.Data.SchemaState, test.schema)
			same(w, "list of migrations", v.Facts.Data.MigrationList, test.list)
			w.contains("what is not known", strings.Join(v.Unread, " "), test.unread)
			w.contains("what was found", strings.Join(v.Notes, " "), test.note)
			same(w, "whether the schema is unread", strings.Contains(strings.Join(v.Verdict.Blocking, " "), "schema-state-unread"), test.schema != rollback.Clean)
			stored, err := w.service.RollbackVerdict(w.Context(), v.ID)
			w.must(err)
			same(w, "stored schema state", stored.Facts.Data.SchemaState, test.schema)
		})
	}
}

func TestADatabaseThatIsNotReadIsUnknownWithTheCause(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*world, *shop)
		cause string
	}{
		"none is configured": {func(w *world, _ *shop) { w.service.Databases = nil }, "no application_databases of the server's configuration names it"},
		"credentials revoked": {func(_ *world, db *shop) {
			db.address = strings.Replace(db.address, "//", "//nobody:swordfish@", 1)
			if at := strings.LastIndex(db.address, "@"); strings.Count(db.address, "@") > 1 { // the owner's name stood there
				db.address = "postgres://nobody:swordfish" + db.address[at:]
			}
		}, "does not accept Sluice's credentials"},
		"no table": {func(_ *world, db *shop) { db.runs("DROP TABLE goose_db_version") }, "has no table goose_db_version"},
		"deaf":     {func(w *world, _ *shop) { w.readsOf("dev", deaf(w.Context().Done())) }, "gave no answer in time"},
		"half an answer": {func(w *world, _ *shop) {
			w.readsOf("dev", answers{err: errors.New("goose_db_version was not read whole")})
		}, "was not read whole"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.connects(answering{platforms: []string{platform}})
			db := w.shop("dev", "1")
			w.inDevWith("1.1.0", goose(files(parcels)))
			w.inDevWith("1.2.0", goose(files(parcels)))
			same(w, "schema state before", w.verdict().Facts.Data.SchemaState, rollback.Clean)
			test.spoil(w, db)
			if name == "deaf" {
				w.service.Patience.Source = soon
			}
			v := w.verdict()
			w.blocked(v, rollback.UnknownOverall, "schema-state-unread")
			same(w, "data", v.Verdict.Predicates.DataCompatible.Value, rollback.Unknown)
			same(w, "config", v.Verdict.Predicates.ConfigCompatible.Value, rollback.Yes)
			w.contains("the cause", strings.Join(v.Unread, " "), test.cause)
			if strings.Contains(strings.Join(v.Unread, " "), "swordfish") {
				t.Error("the cause has the password")
			}
			looks, err := w.service.ApplicationDatabases(w.Context())
			w.must(err)
			for _, l := range looks {
				same(w, "the database", l.DatabaseKey, promotion.DatabaseKey{Application: "web", Environment: "dev"})
				same(w, "it was read before", l.ReadAt.IsZero(), false)
				w.contains("what was found at the last look", l.Problem, test.cause)
				same(w, "it has the password", strings.Contains(l.Problem, "swordfish"), false)
			}
			same(w, "databases", len(looks), len(w.service.Databases))
		})
	}
}

// answers is a database that says half of it, with an error.
type answers struct {
	applied promotion.AppliedMigrations
	err     error
}

func (a answers) Applied(context.Context, string) (promotion.AppliedMigrations, error) {
	return a.applied, a.err
}

// deaf does not even look at its context, until the test is over.
type deaf <-chan struct{}

func (d deaf) Applied(context.Context, string) (promotion.AppliedMigrations, error) {
	<-d
	return promotion.AppliedMigrations{}, nil
}

func (w *world) readsOf(environment string, r promotion.AppliedReader) {
	w.service.Databases = map[promotion.DatabaseKey]promotion.AppliedReader{{Application: "web", Environment: environment}: r}
}

func TestAMigrationThatStoppedHalfWayIsSaid(t *testing.T) {
	w := newWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.readsOf("dev", answers{applied: promotion.AppliedMigrations{Table: "schema_migrations", Versions: []string{"1"}, UpTo: "1", Half: "1"}})
	w.inDevWith("1.1.0", goose(files(parcels)))
	w.inDevWith("1.2.0", goose(files(parcels)))
	v := w.verdict()
	w.blocked(v, rollback.UnknownOverall, "schema-half-applied")
	w.contains("the cause", strings.Join(v.Unread, " "), "migration 1 has stopped half-way in the database (schema_migrations)")
}

// TestTheGateAsksTheDatabaseToo asks where no cluster is read: what the database has that nobody posted holds the promotion.
func TestTheGateAsksTheDatabaseToo(t *testing.T) {
	for name, test := range map[string]struct {
		applied string
		verdict promotion.Verdict
		says    string
	}{
		"as the release says":    {"1", promotion.Pass, "after 1 migration"},
		"one that nobody posted": {"1 9", promotion.Block, "the database has applied 9"},
		"the running one's is not applied": {"", promotion.Block,
			"has not applied 0001_parcel.sql (goose_db_version), which 1.1.0 needs"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.runsInProd(w.migrating("1.1.0", goose(files(parcels))))
			w.shop("prod", test.applied)
			g := w.safe(w.migrating("1.2.0", goose(files(parcels, addsTracking))))
			same(w, "the verdict, which says "+g.Reason, g.Verdict, test.verdict)
			w.contains("the gate", g.Reason, test.says)
		})
	}
}

func TestAPolicyThatSaysNoneWhereADatabaseIsConfiguredIsUnknown(t *testing.T) {
	w := newProdWorld(t)
	w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) { p.Database = promotion.DatabaseNone }
	w.runsInProd(w.migrating("1.1.0", nil))
	w.shop("prod", "1")
	g := w.safe(w.migrating("1.2.0", nil))
	same(w, "the verdict, which says "+g.Reason, g.Verdict, promotion.Block)
	w.contains("the gate", g.Reason, "says database: none, but the server's configuration names one")
}
