package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// The migrations of web, from the first on.
const (
	parcels      = "CREATE TABLE parcel (id bigint PRIMARY KEY, note text, city text);\n"
	addsTracking = "ALTER TABLE parcel ADD COLUMN tracking text;\n"
	dropsNote    = "-- nobody reads it any more\n\nALTER TABLE parcel DROP COLUMN note;\n"
	needsCity    = "ALTER TABLE parcel ALTER COLUMN city SET NOT NULL;\n"
)

// files are migrations named by their number, in order.
func files(texts ...string) []promotion.MigrationFile {
	names := []string{"0001_parcel.sql", "0002_tracking.sql", "0003_note.sql", "0004_city.sql"}
	var all []promotion.MigrationFile
	for i, text := range texts {
		all = append(all, promotion.MigrationFile{Name: names[i], SQL: text})
	}
	return all
}

func plain(files []promotion.MigrationFile) *promotion.Migrations {
	return &promotion.Migrations{Tool: "plain", Files: files}
}

// migrating is a release of web whose build posts migrations; nil for none.
func (w *world) migrating(version string, m *promotion.Migrations) promotion.Release {
	w.Helper()
	r := w.request(version, "web")
	r.Migrations = m
	return w.posts(r).Releases[0]
}

// runsInProd takes a release to prod and has it run there.
func (w *world) runsInProd(r promotion.Release) {
	w.Helper()
	id := w.promotes(r, "prod")
	w.approves(ada, id)
	w.merges(rita, id)
	w.verifies(id)
}

// safe is what rollback-safe says of a release that is promoted to prod.
func (w *world) safe(r promotion.Release) promotion.GateResult {
	w.Helper()
	return w.gate(w.promotes(r, "prod"), promotion.PhaseMerge, promotion.GateRollbackSafe)
}

func TestTheDatabaseDecidesWhetherThereIsAWayBack(t *testing.T) {
	tool := plain(files(parcels, addsTracking))
	tool.Tool = "goose"
	for i := range tool.Files {
		tool.Files[i].SQL = "-- +goose Up\n" + tool.Files[i].SQL
	}
	for name, test := range map[string]struct {
		first, second *promotion.Migrations
		verdict       promotion.Verdict
		says          []string
	}{
		"nobody posts any":  {nil, nil, promotion.Pass, []string{"Configuration, data, traffic"}},
		"none in between":   {plain(files(parcels)), plain(files(parcels)), promotion.Pass, []string{"no migration lies between", "Configuration, traffic"}},
		"one that expands":  {plain(files(parcels)), plain(files(parcels, addsTracking)), promotion.Pass, []string{"after 1 migration."}},
		"one that breaks":   {plain(files(parcels, addsTracking)), plain(files(parcels, addsTracking, dropsNote)), promotion.Block, []string{"1.1.0 could not work", "0003_note.sql:3 drops a column"}},
		"one that may":      {plain(files(parcels)), plain(append(files(parcels), files("", "", "", needsCity)[3])), promotion.Block, []string{"a person must say", "0004_city.sql:1 forbids empty values"}},
		"one was altered":   {plain(files(parcels)), plain(files(parcels+"\n", addsTracking)), promotion.Block, []string{"unknown", "0001_parcel.sql is another file in 1.2.0 than in 1.1.0"}},
		"one went missing":  {plain(files(parcels, addsTracking)), plain(append(files(parcels), files("", "", dropsNote)[2])), promotion.Block, []string{"unknown", "0002_tracking.sql is in 1.1.0 and missing from 1.2.0"}},
		"another tool":      {plain(files(parcels)), tool, promotion.Block, []string{"unknown", "1.2.0 runs its migrations with goose and 1.1.0 with plain"}},
		"the old had none":  {nil, plain(files(parcels)), promotion.Block, []string{"unknown", "no build of 1.1.0 posted migrations"}},
		"the new left them": {plain(files(parcels)), nil, promotion.Block, []string{"unknown", "no build of 1.2.0 posted migrations"}},
		"the old has more":  {plain(files(parcels, addsTracking)), plain(files(parcels)), promotion.Pass, []string{"after 1 migration."}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.runsInProd(w.migrating("1.1.0", test.first))
			g := w.safe(w.migrating("1.2.0", test.second))
			same(w, "the verdict, which says "+g.Reason, g.Verdict, test.verdict)
			w.contains("the gate", g.Reason, test.says...)
		})
	}
}

func TestWhatThePolicySaysOfADatabase(t *testing.T) {
	for name, test := range map[string]struct {
		database promotion.Database
		posts    *promotion.Migrations
		verdict  promotion.Verdict
		says     []string
	}{
		"none":                   {promotion.DatabaseNone, nil, promotion.Pass, []string{"it has no database", "Configuration, traffic"}},
		"none, and some posted":  {promotion.DatabaseNone, plain(files(parcels)), promotion.Block, []string{"says database: none, but builds of it posted migrations"}},
		"one, and nothing known": {promotion.DatabasePostgres, nil, promotion.Block, []string{"no build of 1.1.0 posted migrations"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.policies.change = func(_ promotion.Target, p *promotion.EnvironmentPolicy) { p.Database = test.database }
			w.runsInProd(w.migrating("1.1.0", test.posts))
			g := w.safe(w.migrating("1.2.0", test.posts))
			same(w, "the verdict, which says "+g.Reason, g.Verdict, test.verdict)
			w.contains("the gate", g.Reason, test.says...)
		})
	}
}

// What a release has left in the database stays there when Git goes back: it counts for each release that comes after.
func TestWhatARolledBackReleaseLeftBehindStillCounts(t *testing.T) {
	w := newProdWorld(t)
	first := w.migrating("1.1.0", plain(files(parcels)))
	w.runsInProd(first)
	second := w.migrating("1.2.0", plain(files(parcels, addsTracking)))
	w.runsInProd(second)
	third := w.migrating("1.3.0", plain(files(parcels, addsTracking, dropsNote)))
	w.runsInProd(third)
	w.runsInProd(second)
	p, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "1.1.0", Reason: "back further"})
	w.must(err)
	w.settle()
	g := w.gate(p.ID, promotion.PhaseMerge, promotion.GateRollbackSafe)
	same(w, "the verdict, which says "+g.Reason, g.Verdict, promotion.Block)
	w.contains("the gate", g.Reason, "1.1.0 could not work", "0003_note.sql:3")
}

// An image that is built anew without its migrations must not look like one that has none.
func TestACIJobThatForgotTheMigrations(t *testing.T) {
	w := newWorld(t)
	first := w.request("2.1.0", "order-service", "order-worker")
	first.Migrations = plain(files(parcels))
	w.posts(first)
	w.posts(w.request("2.2.0", "order-service"))
	last := w.request("2.3.0", "order-service")
	last.Migrations = plain(files(parcels, dropsNote))
	r := w.posts(last).Releases[0]
	m, err := w.service.ReleaseMigrations(w.Context(), r)
	w.must(err)
	same(w, "since", m.Since, "2.2.0") // it still has the worker's build
	w.contains("the problem", m.Problem, "the build of", "order-service for 2.3.0 posted migrations and that for 2.2.0 posted none")
}

func TestAMigrationWithAPasswordIsNotStored(t *testing.T) {
	w := newWorld(t)
	before := w.content()
	r := w.request("1.1.0", "web")
	r.Migrations = plain(files(parcels, "-- the reports' login\nCREATE ROLE reports LOGIN\n  PASSWORD 'swordfish';\n"))
	_, _, err := w.service.RecordBuild(w.Context(), ci, r)
	refusal := w.refused(err, "credential-in-migration")
	w.contains("the refusal", refusal.Message, "0002_tracking.sql:3 holds a password", "take it out")
	if strings.Contains(refusal.Message, "swordfish") {
		t.Error("the refusal says the password")
	}
	w.unchanged(before)
}

// Builds between which nothing changed share what is stored, and people can ask for it by hand.
func TestMigrationsAreStoredOnce(t *testing.T) {
	w := newWorld(t)
	w.migrating("1.1.0", plain(files(parcels)))
	w.migrating("1.2.0", plain(files(parcels)))
	w.migrating("1.3.0", plain(files(parcels, addsTracking)))
	same(w, "sets", w.count("SELECT count(*) FROM migration_sets"), 2)
	same(w, "texts", w.count("SELECT count(*) FROM migration_texts"), 2)
	got := strings.Join(w.texts("SELECT version || ' ' || name FROM release_migrations WHERE application = 'web' ORDER BY release_number, name"), ", ")
	same(w, "by hand", got, "1.1.0 0001_parcel.sql, 1.2.0 0001_parcel.sql, 1.3.0 0001_parcel.sql, 1.3.0 0002_tracking.sql")
	again := w.request("1.3.0", "web")
	again.Migrations = plain(files(parcels, addsTracking))
	slices.Reverse(again.Migrations.Files)
	_, created, err := w.service.RecordBuild(w.Context(), ci, again)
	w.must(err)
	same(w, "the same post in another order being new", created, false)
	m, err := w.service.ReleaseMigrations(w.Context(), w.migrating("1.4.0", plain(files(parcels, addsTracking, dropsNote))))
	w.must(err)
	same(w, "since", m.Since, "1.3.0")
	same(w, "new ones", len(m.New), 1)
	same(w, "the new one's", m.New[0].File+" "+m.New[0].Verdict+" "+m.New[0].Release, "0003_note.sql breaking 1.4.0")
	same(w, "files", len(m.Files), 3)
	for _, event := range w.texts("SELECT after::text FROM audit_events WHERE action = 'build.recorded'") {
		if strings.Contains(event, "CREATE TABLE") {
			t.Errorf("the audit has a migration's text: %s", event)
		}
	}
}
