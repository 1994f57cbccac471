package migration_test

import (
	"testing"

	"github.com/sluicehq/sluice/internal/migration"
)

// TestWayBack: what a Down is worth for the reversibility of its set.
func TestWayBack(t *testing.T) {
	t.Parallel()
	const yes, unknown, no = migration.ReversibleYes, migration.ReversibleUnknown, migration.ReversibleNo
	for name, c := range map[string]struct {
		up, down string
		want     migration.Reversible
	}{
		"drops what IF NOT EXISTS made":       {`CREATE TABLE IF NOT EXISTS a (id int)`, `DROP TABLE IF EXISTS a`, yes},
		"IF NOT EXISTS and no Down":           {`CREATE TABLE IF NOT EXISTS a (id int)`, ``, unknown},
		"drops a table it knows by name only": {`ALTER TABLE parcel ADD a int`, `DROP TABLE parcel`, no},
		"drops an old column":                 {`ALTER TABLE parcel ADD a int`, `ALTER TABLE parcel DROP a, DROP b`, no},
		"drops its column IF NOT EXISTS":      {`ALTER TABLE parcel ADD IF NOT EXISTS a int`, `ALTER TABLE parcel DROP IF EXISTS a`, yes},
		"drops under the new name":            {`CREATE TABLE a (id int); ALTER TABLE a RENAME TO b`, `DROP TABLE b`, yes},
		"renames back and drops its column":   {`ALTER TABLE parcel RENAME TO p; ALTER TABLE p ADD a int`, `ALTER TABLE p RENAME TO parcel; ALTER TABLE parcel DROP a`, yes},
		"drops a function it replaced":        {`CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS ''`, `DROP FUNCTION f`, no},
		"makes the old function again":        {`CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS ''`, `DROP FUNCTION f(); CREATE FUNCTION f() RETURNS int LANGUAGE sql AS ''`, yes},
		"makes the old view again":            {`DROP VIEW v; CREATE VIEW v AS SELECT 1`, `DROP VIEW v; CREATE VIEW v AS SELECT 2`, yes},
		"only drops the view":                 {`DROP VIEW v; CREATE VIEW v AS SELECT 1`, `DROP VIEW v`, no},
		"swaps constraints":                   {`ALTER TABLE parcel ADD CONSTRAINT c CHECK (a > 0)`, `ALTER TABLE parcel DROP CONSTRAINT c`, yes},
		"unnamed constraint":                  {`ALTER TABLE parcel ADD UNIQUE (a)`, `ALTER TABLE parcel DROP CONSTRAINT parcel_a_key`, yes},
		"drops an old constraint":             {`ALTER TABLE parcel ADD a int`, `ALTER TABLE parcel DROP CONSTRAINT c`, no},
		"drops its own helper":                {`ALTER TABLE parcel ADD a int`, `CREATE TEMP TABLE h (id int); DROP TABLE h; ALTER TABLE parcel DROP a`, yes},
		"takes its rows out":                  {`INSERT INTO parcel (id) VALUES (1)`, `DELETE FROM parcel WHERE id = 1`, yes},
		"takes all rows out":                  {`INSERT INTO parcel (id) VALUES (1)`, `DELETE FROM parcel`, no},
		"empties the table it inserted into":  {`INSERT INTO parcel (id) VALUES (1)`, `TRUNCATE parcel`, no},
		"deletes from another table":          {`INSERT INTO parcel (id) VALUES (1)`, `DELETE FROM depot WHERE id = 1`, no},
		"deletes what the Down inserted":      {`ALTER TABLE parcel ADD a int`, `INSERT INTO parcel (id) VALUES (1); DELETE FROM parcel WHERE id = 1`, no},
		"hidden in WITH":                      {`ALTER TABLE parcel ADD a int`, `WITH d AS (DELETE FROM parcel RETURNING id) SELECT id FROM d`, no},
		"lifts no other unknown":              {`ALTER TABLE parcel ALTER a DROP NOT NULL`, `ALTER TABLE parcel ALTER a SET NOT NULL`, unknown},
		"says nothing":                        {`ALTER TABLE parcel ALTER a SET DEFAULT 1`, `BEGIN; SET a = 1; SELECT 1; COMMIT`, unknown},
		"cannot be read":                      {`ALTER TABLE parcel ALTER a SET DEFAULT 1`, `ALTER TABLE parcel ALTER a SET DEFAULT 0; ALTR`, unknown},
		"gives the default":                   {`ALTER TABLE parcel ALTER a SET DEFAULT 1`, `ALTER TABLE parcel ALTER a SET DEFAULT 0`, yes},
		"changes an old policy":               {`CREATE POLICY p ON parcel`, `DROP POLICY p ON parcel; ALTER POLICY q ON parcel USING (true)`, yes},
		"drops an old trigger":                {`CREATE TRIGGER a BEFORE INSERT ON parcel EXECUTE FUNCTION f()`, `DROP TRIGGER b ON parcel`, no},
		"own sequence, type, schema":          {`CREATE SCHEMA IF NOT EXISTS s; CREATE SEQUENCE q; CREATE TYPE t AS ENUM ()`, `DROP TYPE t; DROP SEQUENCE q; DROP SCHEMA s CASCADE`, yes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"1_a.up.sql": c.up, "1_a.down.sql": c.down}
			if got := check(t, migration.GolangMigrate, files, "").Reversible; got != c.want {
				t.Errorf("reversible is %s, want %s", got, c.want)
			}
		})
	}
}

// TestDownKnowsTheHistory: IF NOT EXISTS made nothing where the history has it.
func TestDownKnowsTheHistory(t *testing.T) {
	t.Parallel()
	files := []migration.File{
		{Name: "2_a.up.sql", Content: `CREATE TABLE IF NOT EXISTS parcel (id int); ALTER TABLE parcel ADD IF NOT EXISTS a int`},
		{Name: "2_a.down.sql", Content: `DROP TABLE parcel`},
		{Name: "3_b.up.sql", Content: `ALTER TABLE parcel ADD IF NOT EXISTS a int`},
		{Name: "3_b.down.sql", Content: `ALTER TABLE parcel DROP a`},
	}
	before := []migration.File{{Name: "1_c.up.sql", Content: `CREATE TABLE parcel (id int, a int)`}}
	result, err := migration.Check(migration.GolangMigrate, files, before)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Files {
		if f.Reversible != migration.ReversibleNo {
			t.Errorf("%s is reversible: %s", f.File, f.Reversible)
		}
	}
}

// TestDownCountsForItsOwnFile: a Down knows nothing of what another file made.
func TestDownCountsForItsOwnFile(t *testing.T) {
	t.Parallel()
	result := check(t, migration.Goose, map[string]string{
		"1_a.sql": "-- +goose Up\nCREATE TABLE a (id int);\n",
		"2_b.sql": "-- +goose Up\nCREATE TABLE b (id int);\n-- +goose Down\nDROP TABLE b; DROP TABLE a;\n",
	}, "")
	if result.Reversible != migration.ReversibleNo || result.Files[0].Reversible != migration.ReversibleYes {
		t.Errorf("got %+v", result)
	}
}
