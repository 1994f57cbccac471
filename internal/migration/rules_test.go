package migration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/migration"
)

// history is the old schema of TestRules.
const history = `
CREATE TABLE parcel (id bigserial PRIMARY KEY, code varchar(20) NOT NULL, label char(8), weight integer NOT NULL DEFAULT 0,
    price numeric(10,2), note text, tags text[], at timestamptz);
CREATE UNIQUE INDEX parcel_code_uidx ON parcel (code);
CREATE INDEX ON parcel (weight);
CREATE TABLE gone (id int);
DROP TABLE gone;
ALTER TABLE parcel ALTER COLUMN note SET NOT NULL;
`

// rule is a file and the reasons of its actions. want "x?" means that reversible
// is unknown where the code alone says yes.
var ruleTests = map[string][]struct{ sql, want string }{
	"create table": {
		{`CREATE TABLE IF NOT EXISTS a (id int); ALTER TABLE a ADD b int NOT NULL`, "create-table? add-not-null-column-no-default"},
		{`CREATE TEMP TABLE parcel (id int); INSERT INTO parcel VALUES (1); DROP TABLE parcel; DROP TABLE parcel`, "create-temp-table own-object own-object drop-table"},
		{`CREATE TEMP TABLE parcel (id int); DROP TABLE public.parcel`, "create-temp-table drop-table"},
		{`BEGIN; CREATE TEMP TABLE parcel (id int) ON COMMIT DROP; TRUNCATE parcel; COMMIT; TRUNCATE parcel`, "transaction create-temp-table own-object transaction truncate"},
		{`BEGIN; CREATE TEMP TABLE parcel ON COMMIT DROP AS SELECT 1; ROLLBACK; TRUNCATE parcel`, "transaction create-temp-table transaction truncate"},
		{`CREATE TABLE IF NOT EXISTS depot (city varchar(8)); ALTER TABLE depot ALTER city TYPE text`, "create-table? type-change-unknown-origin"},
		{`CREATE TABLE a (p bigint REFERENCES parcel ON DELETE SET NULL)`, "create-table"},
		{`CREATE TABLE a (p bigint, FOREIGN KEY (p) REFERENCES parcel ON DELETE RESTRICT)`, "references-existing-table"},
		{`CREATE TABLE a (id int PRIMARY KEY, up int REFERENCES a)`, "create-table"},
		{`CREATE TABLE IF NOT EXISTS a (id int PRIMARY KEY); CREATE TABLE b (a int REFERENCES a)`, "create-table? references-existing-table"},
		{`SELECT id INTO a FROM parcel UNION SELECT 1; DROP TABLE a`, "create-table own-object"},
		{`CREATE TABLE a AS WITH d AS (DELETE FROM parcel RETURNING *) SELECT * FROM d`, "delete-all-rows"},
		{`CREATE TABLE a AS EXECUTE plan`, "opaque-call"},
		{`CREATE FOREIGN TABLE a (id int) SERVER s; DROP FOREIGN TABLE a`, "unclassified own-object"},
		{`CREATE TABLE a (id serial); ALTER SEQUENCE a_id_seq RESTART 5; DROP SEQUENCE a_id_seq`, "create-table own-object own-object"},
	},
	"add column": {
		{`ALTER TABLE parcel ADD a int NOT NULL DEFAULT NULL`, "add-not-null-column-no-default"},
		{`ALTER TABLE parcel ADD a int NOT NULL DEFAULT NULL::int`, "add-not-null-column-no-default"},
		{`ALTER TABLE parcel ADD a bigserial`, "add-not-null-column-with-default"},
		{`ALTER TABLE parcel ADD a int GENERATED ALWAYS AS IDENTITY`, "add-identity-column"},
		{`ALTER TABLE parcel ADD a int NOT NULL GENERATED ALWAYS AS (weight) STORED`, "add-generated-column-not-null"},
		{`ALTER TABLE parcel ADD a int CHECK (a > 0)`, "add-check-constraint"},
		{`ALTER TABLE parcel ADD a int NOT NULL CHECK (a > 0)`, "add-not-null-column-no-default"},
		{`ALTER TABLE parcel ADD a bigint REFERENCES parcel ON DELETE CASCADE`, "add-nullable-column"},
		{`ALTER TABLE parcel ADD a bigint REFERENCES depot`, "references-existing-table"},
		{`CREATE TABLE b (id int PRIMARY KEY); ALTER TABLE parcel ADD a int REFERENCES b; TRUNCATE b CASCADE; TRUNCATE b`, "create-table add-nullable-column truncate own-object"},
		{`ALTER TABLE parcel ADD a text UNIQUE DEFAULT 'x'`, "add-unique-column-same-value"},
		{`ALTER TABLE parcel ADD a text UNIQUE`, "add-nullable-column"},
		{`ALTER TABLE parcel ADD a text UNIQUE NULLS NOT DISTINCT`, "add-unique-column-same-value"},
		{`ALTER TABLE parcel ADD a uuid UNIQUE DEFAULT gen_random_uuid()`, "add-nullable-column"},
		{`ALTER TABLE parcel ADD a timestamptz UNIQUE DEFAULT CURRENT_TIMESTAMP`, "add-nullable-column"},
		{`ALTER TABLE parcel ADD a date UNIQUE DEFAULT CURRENT_DATE`, "add-unique-column-same-value"},
		{`ALTER TABLE parcel ADD a int PRIMARY KEY`, "add-not-null-column-no-default"},
		{`ALTER TABLE parcel ADD IF NOT EXISTS a varchar(8); ALTER TABLE parcel ALTER a TYPE text`, "add-nullable-column? type-change-unknown-origin"},
		{`ALTER TABLE parcel ADD IF NOT EXISTS a int; UPDATE parcel SET a = 1`, "add-nullable-column? update-data"},
		{`ALTER TABLE parcel ADD IF NOT EXISTS a int NOT NULL; ALTER TABLE parcel ALTER a SET DEFAULT 1`, "add-not-null-column-no-default? set-default"},
	},
	"how the set leaves a new column": {
		{`ALTER TABLE parcel ADD a int NOT NULL; ALTER TABLE parcel ALTER a SET DEFAULT 1`, "add-not-null-column-with-default own-object"},
		{`ALTER TABLE parcel ADD a int NOT NULL; ALTER TABLE parcel ALTER a DROP NOT NULL`, "add-nullable-column own-object"},
		{`ALTER TABLE parcel ADD a int NOT NULL, DROP a`, "add-not-null-column-with-default own-object"},
		{`ALTER TABLE parcel ADD a int; ALTER TABLE parcel ALTER a SET NOT NULL`, "add-nullable-column add-not-null-column-no-default"},
		{`ALTER TABLE parcel ADD a int DEFAULT 1, ALTER a SET NOT NULL, ALTER a DROP DEFAULT, ALTER a SET DEFAULT 2`, "add-nullable-column own-object own-object own-object"},
		{`ALTER TABLE parcel ADD a int DEFAULT 1, ALTER a DROP DEFAULT, ALTER a SET NOT NULL, ALTER a TYPE bigint`, "add-nullable-column own-object add-not-null-column-no-default own-object"},
		{`ALTER TABLE parcel ADD a int NOT NULL; ALTER TABLE parcel RENAME a TO b; ALTER TABLE parcel RENAME TO p; ALTER TABLE p ALTER b SET DEFAULT 1`,
			"add-not-null-column-with-default own-object rename-table own-object"},
		{`ALTER TABLE parcel ADD a int; ALTER TABLE parcel ADD PRIMARY KEY (a)`, "add-nullable-column add-not-null-column-no-default"},
		{`ALTER TABLE parcel ADD a int DEFAULT 1; ALTER TABLE parcel ADD UNIQUE (a)`, "add-nullable-column add-unique-column-same-value"},
		{`ALTER TABLE parcel ADD a int; ALTER TABLE parcel ADD UNIQUE (a); ALTER TABLE parcel ADD UNIQUE (a, code)`, "add-nullable-column own-object add-unique-constraint"},
		{`ALTER TABLE parcel ADD a int; ALTER TABLE parcel ADD FOREIGN KEY (a) REFERENCES depot; ALTER TABLE parcel ADD FOREIGN KEY (a) REFERENCES depot ON DELETE CASCADE`,
			"add-nullable-column references-existing-table own-object"},
		{`ALTER TABLE parcel ADD a int; CREATE UNIQUE INDEX ON parcel (a); COMMENT ON COLUMN parcel.a IS 'x'`, "add-nullable-column create-unique-index own-object"},
		{`ALTER TABLE parcel ADD a int, ALTER a ADD GENERATED ALWAYS AS IDENTITY`, "add-nullable-column own-object"},
	},
	"existing columns": {
		{`ALTER TABLE parcel ALTER weight DROP DEFAULT, ALTER price DROP DEFAULT, ALTER note SET DEFAULT NULL`, "drop-default-not-null drop-default drop-default-not-null"},
		{`ALTER TABLE depot ALTER city DROP DEFAULT`, "drop-default"},
		{`ALTER TABLE depot ALTER city SET NOT NULL, ALTER city DROP DEFAULT`, "set-not-null drop-default-not-null"},
		{`ALTER TABLE parcel ALTER weight ADD GENERATED BY DEFAULT AS IDENTITY, ALTER weight SET GENERATED ALWAYS, ALTER weight DROP IDENTITY`,
			"add-identity-by-default set-identity-always drop-identity"},
		{`ALTER TABLE parcel ALTER weight SET GENERATED BY DEFAULT`, "unclassified"},
		{`ALTER TABLE parcel ALTER weight DROP EXPRESSION`, "drop-generated-expression"},
		{`ALTER TABLE parcel ALTER note SET STATISTICS 500, ALTER note SET STORAGE external, SET (fillfactor = 70), SET TABLESPACE fast, CLUSTER ON i`,
			"storage-option storage-option storage-option storage-option storage-option"},
		{`ALTER TABLE parcel SET LOGGED`, "unclassified"},
		{`ALTER VIEW v SET (security_invoker = true)`, "unclassified"},
	},
	"types of columns": {
		{`ALTER TABLE parcel ALTER code TYPE varchar(21)`, "type-widening"},
		{`ALTER TABLE parcel ALTER code TYPE varchar`, "type-widening"},
		{`ALTER TABLE parcel ALTER code TYPE text USING code::text`, "type-widening"},
		{`ALTER TABLE parcel ALTER code TYPE text USING upper(code)`, "type-change"},
		{`ALTER TABLE parcel ALTER code TYPE varchar(10)`, "type-narrowing"},
		{`ALTER TABLE parcel ALTER code TYPE varchar(10) USING code::varchar(10)`, "type-change"},
		{`ALTER TABLE parcel ALTER note TYPE varchar(10)`, "type-narrowing"},
		{`ALTER TABLE parcel ALTER label TYPE varchar(8)`, "type-widening"},
		{`ALTER TABLE parcel ALTER label TYPE char(10)`, "type-change"},
		{`ALTER TABLE parcel ALTER weight TYPE int8`, "type-widening-number"},
		{`ALTER TABLE parcel ALTER weight TYPE smallint`, "type-change"},
		{`ALTER TABLE parcel ALTER weight TYPE text`, "type-change"},
		{`ALTER TABLE parcel ALTER price TYPE numeric(12,2)`, "type-widening"},
		{`ALTER TABLE parcel ALTER price TYPE numeric(12,4)`, "type-widening-number"},
		{`ALTER TABLE parcel ALTER price TYPE numeric`, "type-widening-number"},
		{`ALTER TABLE parcel ALTER price TYPE numeric(8,2)`, "type-change"},
		{`ALTER TABLE parcel ALTER tags TYPE text`, "type-change"},
		{`ALTER TABLE parcel ALTER tags TYPE varchar[]`, "type-change"},
		{`ALTER TABLE parcel ALTER at TYPE timestamp`, "type-change"},
		{`ALTER TABLE parcel ALTER id TYPE int`, "type-change"},
		{`ALTER TABLE parcel ALTER unheard TYPE int`, "type-change-unknown-origin"},
		{`ALTER TABLE parcel RENAME weight TO grams; ALTER TABLE parcel ALTER grams TYPE bigint`, "rename-column type-widening-number"},
		{`ALTER TABLE parcel ALTER code TYPE varchar(30); ALTER TABLE parcel ALTER code TYPE varchar(25)`, "type-widening type-narrowing"},
	},
	"constraints": {
		{`ALTER TABLE parcel ADD CONSTRAINT c CHECK (weight > 0) NOT VALID; ALTER TABLE parcel VALIDATE CONSTRAINT c; ALTER TABLE parcel DROP CONSTRAINT c`,
			"add-check-constraint validate-constraint own-object"},
		{`ALTER TABLE parcel ADD UNIQUE (code); ALTER TABLE parcel DROP CONSTRAINT parcel_code_key`, "add-unique-constraint own-object"},
		{`ALTER TABLE parcel ADD CONSTRAINT u UNIQUE USING INDEX parcel_code_uidx`, "add-unique-constraint"},
		{`ALTER TABLE parcel RENAME CONSTRAINT a TO b; ALTER INDEX parcel_code_uidx RENAME TO x; DROP INDEX x`, "rename-constraint rename-constraint drop-unique-index"},
		{`CREATE TABLE a (id int PRIMARY KEY); ALTER TABLE parcel ADD FOREIGN KEY (weight) REFERENCES a; ALTER TABLE a ADD FOREIGN KEY (id) REFERENCES parcel`,
			"create-table add-foreign-key references-existing-table"},
		{`CREATE TABLE a (id int); ALTER TABLE a ADD FOREIGN KEY (id) REFERENCES parcel ON DELETE CASCADE`, "create-table own-object"},
		{`CREATE TABLE a (id int); ALTER TABLE a ADD c bigint REFERENCES parcel`, "create-table references-existing-table"},
		{`ALTER DOMAIN d ADD CHECK (VALUE > 0); ALTER DOMAIN d DROP CONSTRAINT c; ALTER DOMAIN d RENAME CONSTRAINT c TO e; ALTER DOMAIN d SET NOT NULL`,
			"add-check-constraint drop-constraint rename-constraint unclassified"},
		{`ALTER TABLE parcel ADD EXCLUDE USING gist (at WITH =)`, "add-exclusion-constraint"},
	},
	"partitions": {
		{`CREATE TABLE p (id int); ALTER TABLE scan ATTACH PARTITION p DEFAULT; ALTER TABLE scan DETACH PARTITION p`, "create-table attach-new-partition own-object"},
		{`ALTER TABLE scan ATTACH PARTITION old DEFAULT`, "attach-partition"},
		{`CREATE TABLE s (id int) PARTITION BY LIST (id); ALTER TABLE s ATTACH PARTITION old DEFAULT`, "create-table attach-partition"},
		{`CREATE TABLE s (id int) PARTITION BY LIST (id); CREATE TABLE p PARTITION OF s DEFAULT; INSERT INTO p VALUES (1)`, "create-table create-partition own-object"},
		{`CREATE TABLE p PARTITION OF scan DEFAULT; INSERT INTO p VALUES (1); TRUNCATE p`, "create-partition insert-data truncate"},
		{`CREATE TABLE p () INHERITS (parcel); DELETE FROM p`, "create-table delete-all-rows"},
		{`ALTER INDEX i ATTACH PARTITION k`, "unclassified"},
	},
	"indexes": {
		{`DROP INDEX parcel_code_uidx, parcel_weight_idx, unheard`, "drop-unique-index drop-index drop-index-unknown-kind"},
		{`CREATE INDEX ON parcel (note, lower(code)); DROP INDEX parcel_note_expr_idx`, "create-index own-object"},
		{`CREATE INDEX IF NOT EXISTS i ON parcel (note); DROP INDEX i`, "create-index? drop-index-unknown-kind"},
		{`CREATE MATERIALIZED VIEW m AS SELECT 1; CREATE UNIQUE INDEX ON m (x)`, "create-view own-object"},
	},
	"views": {
		{`CREATE VIEW v AS SELECT 1; CREATE OR REPLACE VIEW v AS SELECT 2; DROP VIEW v`, "create-view own-object own-object"},
		{`DROP VIEW v; CREATE VIEW v AS SELECT 1; DROP VIEW v`, "recreated-later replace-view drop-view"},
		{`DROP MATERIALIZED VIEW v; CREATE MATERIALIZED VIEW v AS SELECT 1`, "recreated-later replace-view"},
		{`CREATE VIEW v AS SELECT * FROM parcel; DELETE FROM v; UPDATE v SET note = ''`, "create-view delete-all-rows update-data"},
		{`REFRESH MATERIALIZED VIEW v`, "refresh-view"},
		{`DROP TABLE parcel; CREATE VIEW parcel AS SELECT 1`, "drop-table replace-view"},
	},
	"functions": {
		{`CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; DROP FUNCTION f(integer)`, "create-function own-object"},
		{`CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT 1'; DROP FUNCTION f(text)`, "create-function drop-function"},
		{`CREATE FUNCTION f(a int, OUT b int) LANGUAGE sql AS 'SELECT 1'; CREATE OR REPLACE FUNCTION f(a int, OUT b int) LANGUAGE sql AS 'SELECT 2'; ALTER FUNCTION f STABLE; DROP FUNCTION f`,
			"create-function own-object own-object own-object"},
		{`DROP FUNCTION f(int); CREATE FUNCTION f(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1'`, "recreated-later replace-function"},
		{`DROP FUNCTION f(int) CASCADE; DROP PROCEDURE p; DROP AGGREGATE a(int)`, "drop-cascade drop-function drop-function"},
		{`CREATE PROCEDURE p() LANGUAGE sql AS 'SELECT 1'; ALTER PROCEDURE p RENAME TO q; DROP PROCEDURE q`, "create-function own-object own-object"},
		{`ALTER FUNCTION f STABLE; ALTER FUNCTION f RENAME TO g; ALTER FUNCTION f OWNER TO x; ALTER FUNCTION f SET SCHEMA s`,
			"unclassified rename-object change-owner set-schema"},
		{`CREATE FUNCTION f() RETURNS int BEGIN ATOMIC DELETE FROM parcel; SELECT 1; END; DROP TABLE parcel`, "create-function drop-table"},
		{`CREATE AGGREGATE g(int) (SFUNC = int4pl, STYPE = int)`, "unclassified"},
	},
	"types, sequences, schemas, extensions": {
		{`CREATE TYPE t AS ENUM ('a'); ALTER TYPE t ADD VALUE 'b'; ALTER TYPE t RENAME TO u; DROP TYPE u`, "create-type own-object own-object own-object"},
		{`CREATE TYPE c AS (a int); ALTER TYPE c ADD ATTRIBUTE b int; CREATE TYPE r AS RANGE (subtype = int); CREATE DOMAIN d AS int; ALTER DOMAIN d SET NOT NULL; CREATE TYPE shell`,
			"create-type own-object create-type create-type own-object create-type"},
		{`DROP TYPE t; DROP DOMAIN d CASCADE; ALTER TYPE t RENAME TO u; ALTER TYPE t RENAME VALUE 'a' TO 'b'; ALTER TYPE t ADD ATTRIBUTE b int`,
			"drop-type drop-cascade rename-object enum-rename-value unclassified"},
		{`CREATE SEQUENCE s; ALTER SEQUENCE s RESTART; DROP SEQUENCE s; DROP SEQUENCE s; ALTER SEQUENCE q RENAME TO z`,
			"create-sequence own-object own-object drop-sequence rename-object"},
		{`CREATE SCHEMA a; CREATE TABLE a.t (id int); DROP SCHEMA a CASCADE; DROP SCHEMA b; ALTER SCHEMA b RENAME TO c`, "create-schema create-table own-object drop-schema rename-object"},
		{`CREATE SCHEMA AUTHORIZATION joe; DROP SCHEMA joe; CREATE SCHEMA x CREATE TABLE t (id int)`, "create-schema own-object unclassified"},
		{`CREATE EXTENSION IF NOT EXISTS e; ALTER EXTENSION e UPDATE; DROP EXTENSION e; DROP EXTENSION f CASCADE`, "create-extension? alter-extension drop-extension drop-cascade"},
		{`CREATE EXTENSION e; ALTER EXTENSION e SET SCHEMA x; ALTER EXTENSION f ADD TABLE parcel; DROP EXTENSION e`, "create-extension own-object alter-extension own-object"},
	},
	"rows": {
		{`INSERT INTO parcel (code) VALUES ('a') ON CONFLICT DO NOTHING; INSERT INTO parcel (code) VALUES ('a') ON CONFLICT (code) DO UPDATE SET note = 'x'`, "insert-data upsert-data"},
		{`MERGE INTO parcel USING x ON true WHEN MATCHED THEN DELETE`, "upsert-data"},
		{`DELETE FROM parcel USING x WHERE x.id = parcel.id; DELETE FROM parcel USING x; DELETE FROM parcel`, "delete-data delete-data delete-all-rows"},
		{`WITH d AS (DELETE FROM parcel RETURNING id) SELECT id FROM d`, "delete-all-rows"},
		{`CREATE TABLE a (id int); WITH u AS (UPDATE parcel SET note = '' RETURNING id) INSERT INTO a SELECT id FROM u`, "create-table update-data"},
		{`CREATE TABLE a (id int); TRUNCATE a; TRUNCATE a, parcel; UPDATE a SET id = 1; MERGE INTO a USING x ON true WHEN MATCHED THEN DELETE; COPY a FROM '/x'`,
			"create-table own-object truncate own-object own-object own-object"},
		{`COPY parcel FROM '/x'; COPY (DELETE FROM parcel RETURNING *) TO '/x'`, "unclassified delete-all-rows"},
		{`ALTER TABLE parcel ADD a int, ADD b int; UPDATE parcel SET (a, b) = (1, 2); UPDATE parcel SET a = 1, note = ''`, "add-nullable-column add-nullable-column backfill-new-column update-data"},
	},
	"queries": {
		{`SELECT 1; VALUES (1); TABLE parcel; SELECT coalesce(note, 'x') FROM parcel`, "no-effect no-effect no-effect no-effect"},
		{`SELECT pg_catalog.set_config('search_path', '', false); SELECT setval('s', 1); SELECT set_config('a', f(), true); CALL p(); EXECUTE q`,
			"session-setting opaque-call opaque-call opaque-call opaque-call"},
		{`EXPLAIN ANALYZE DELETE FROM parcel; PREPARE q AS SELECT 1; SHOW work_mem`, "delete-all-rows unclassified unclassified"},
	},
	"names": {
		{`ALTER TABLE parcel RENAME TO x; CREATE TABLE parcel (id int); DROP TABLE parcel; DROP TABLE x`, "rename-table create-table own-object drop-table"},
		{`ALTER TABLE parcel RENAME TO a; ALTER TABLE a RENAME TO b; CREATE VIEW parcel AS SELECT 1`, "rename-with-compat-view rename-with-compat-view create-view"},
		{`ALTER VIEW v RENAME TO w; ALTER TABLE parcel SET SCHEMA s; ALTER TABLE s.parcel ADD a int NOT NULL`, "rename-table set-schema add-not-null-column-no-default"},
		{`CREATE TABLE a (id int); ALTER TABLE a RENAME TO b; ALTER TABLE b RENAME id TO c; ALTER TABLE b SET SCHEMA s; DROP TABLE s.b`, "create-table own-object own-object own-object own-object"},
		{`ALTER VIEW v RENAME COLUMN a TO b; ALTER TYPE t RENAME ATTRIBUTE a TO b`, "rename-column unclassified"},
		{`CREATE TABLE "A" (id int); DROP TABLE A`, "create-table drop-table"},
	},
	"triggers, rules, policies": {
		{`CREATE TRIGGER t BEFORE INSERT ON parcel EXECUTE FUNCTION f(); ALTER TABLE parcel DISABLE TRIGGER t; ALTER TRIGGER t ON parcel RENAME TO u; DROP TRIGGER u ON parcel`,
			"create-trigger own-object own-object own-object"},
		{`CREATE OR REPLACE TRIGGER t BEFORE INSERT ON parcel EXECUTE FUNCTION f(); DROP TRIGGER t ON parcel; ALTER TABLE parcel DISABLE TRIGGER ALL, ENABLE TRIGGER x`,
			"create-trigger? drop-trigger toggle-trigger toggle-trigger"},
		{`CREATE TABLE a (id int); CREATE TRIGGER t BEFORE INSERT ON a EXECUTE FUNCTION f(); DROP TRIGGER t ON a`, "create-table own-object own-object"},
		{`CREATE RULE r AS ON INSERT TO parcel DO ALSO (DELETE FROM x; DELETE FROM y); DROP RULE r ON parcel; DROP RULE s ON parcel`, "create-rule own-object unclassified"},
		{`CREATE POLICY p ON parcel; ALTER POLICY p ON parcel USING (true); DROP POLICY p ON parcel; ALTER POLICY q ON parcel RENAME TO z; DROP POLICY z ON parcel`,
			"create-policy own-object own-object drop-policy drop-policy"},
		{`ALTER TABLE parcel ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY`,
			"enable-rls force-rls-no-policy disable-rls disable-rls"},
		{`ALTER TABLE parcel FORCE ROW LEVEL SECURITY; CREATE POLICY p ON parcel`, "force-rls create-policy"},
	},
	"rights and settings": {
		{`CREATE ROLE r; GRANT r TO x; ALTER ROLE r LOGIN; DROP ROLE r, s; ALTER ROLE x SET a = 1; REVOKE r FROM x; ALTER ROLE x RENAME TO y`,
			"create-role grant own-object own-object unclassified server-setting revoke server-setting"},
		{`CREATE TABLE a (id int); GRANT SELECT ON a, parcel TO x; REVOKE ALL ON a FROM x; ALTER TABLE a OWNER TO x; ALTER TABLE parcel OWNER TO x`,
			"create-table grant own-object own-object change-owner"},
		{`CREATE SCHEMA s; GRANT USAGE ON SCHEMA s TO x; GRANT SELECT ON ALL TABLES IN SCHEMA s TO x; GRANT SELECT ON ALL TABLES IN SCHEMA public TO x`, "create-schema own-object own-object grant"},
		{`ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM x; ALTER SYSTEM SET a = 1; ALTER DATABASE d SET a = 1; ALTER DATABASE d RENAME TO e`,
			"default-privileges server-setting server-setting unclassified"},
		{`START TRANSACTION; SAVEPOINT s; ROLLBACK TO s; RELEASE s; LOCK TABLE parcel; SET CONSTRAINTS ALL DEFERRED; END; VACUUM; REINDEX TABLE parcel; CLUSTER`,
			"transaction transaction transaction transaction session-setting session-setting transaction maintenance maintenance maintenance"},
		{`CREATE TABLE a (id int); ANALYZE a; LOCK TABLE a; ANALYZE a, parcel`, "create-table own-object own-object maintenance"},
		{`CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TYPE t AS ENUM (); GRANT EXECUTE ON FUNCTION f() TO x; COMMENT ON FUNCTION f() IS ''; COMMENT ON TYPE t IS ''; COMMENT ON TRIGGER g ON parcel IS ''; ALTER TYPE t OWNER TO x; COMMENT ON DATABASE d IS ''`,
			"create-function create-type own-object own-object own-object comment own-object comment"},
		{`DO 'BEGIN END'; CREATE STATISTICS s ON a, b FROM parcel; CREATE CAST (int AS text) WITH INOUT; CHECKPOINT`, "do-block unclassified unclassified unclassified"},
	},
}

func check(t *testing.T, tool migration.Tool, files map[string]string, before string) migration.Result {
	t.Helper()
	var all []migration.File
	for name, content := range files {
		all = append(all, migration.File{Name: name, Content: content})
	}
	var earlier []migration.File
	if before != "" {
		earlier = []migration.File{{Name: "0_before.sql", Content: before}}
	}
	result, err := migration.Check(tool, all, earlier)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func reasons(result migration.Result) []string {
	var all []string
	for _, s := range result.Statements {
		all = append(all, s.Reason)
	}
	return all
}

func TestRules(t *testing.T) {
	t.Parallel()
	for family, files := range ruleTests {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			for _, c := range files {
				result := check(t, migration.Plain, map[string]string{"1.sql": c.sql}, history)
				var want []string
				for _, word := range strings.Fields(c.want) {
					reason, tentative := strings.CutSuffix(word, "?")
					if i := len(want); tentative && i < len(result.Statements) && result.Statements[i].Reversible != migration.ReversibleUnknown {
						t.Errorf("%s\naction %d is reversible: %s", c.sql, i, result.Statements[i].Reversible)
					}
					want = append(want, reason)
				}
				if diff := cmp.Diff(want, reasons(result)); diff != "" {
					t.Errorf("%s\n(-want +got):\n%s", c.sql, diff)
				}
				for _, s := range result.Statements {
					if s.Kind == "" || strings.ToUpper(s.Kind) != s.Kind {
						t.Errorf("%s: odd kind %q", c.sql, s.Kind)
					}
				}
			}
		})
	}
}

// TestOwnAcrossFiles: what one file of the set makes, another may drop.
func TestOwnAcrossFiles(t *testing.T) {
	t.Parallel()
	result := check(t, migration.Plain, map[string]string{
		"2.sql": `ALTER TABLE parcel ALTER a SET NOT NULL; DROP TABLE b`,
		"1.sql": `CREATE TABLE b (id int); ALTER TABLE parcel ADD a int DEFAULT 0`,
		"3.sql": `ALTER TABLE parcel ALTER a DROP DEFAULT`,
	}, "")
	want := []string{"create-table", "add-nullable-column", "own-object", "own-object", "add-not-null-column-no-default"}
	if diff := cmp.Diff(want, reasons(result)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	files := []migration.FileResult{
		{File: "1.sql", Verdict: migration.Compatible, Reversible: migration.ReversibleYes},
		{File: "2.sql", Verdict: migration.Compatible, Reversible: migration.ReversibleYes},
		{File: "3.sql", Verdict: migration.Breaking, Reversible: migration.ReversibleYes},
	}
	if diff := cmp.Diff(files, result.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestTemporaryTablesEndWithTheirFile: the next one may have another session, and
// there the name is that of the old table.
func TestTemporaryTablesEndWithTheirFile(t *testing.T) {
	t.Parallel()
	result := check(t, migration.Plain, map[string]string{"1.sql": `CREATE TEMP TABLE parcel (id int)`, "2.sql": `DROP TABLE parcel`}, "")
	if diff := cmp.Diff([]string{"create-temp-table", "drop-table"}, reasons(result)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNoFileIsCompatible: nothing lies between the versions.
func TestNoFileIsCompatible(t *testing.T) {
	t.Parallel()
	result, err := migration.Check(migration.Goose, nil, nil)
	if err != nil || result.Verdict != migration.Compatible || result.Reversible != migration.ReversibleYes || result.Statements == nil {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	sql := `ALTER VIEW v RENAME COLUMN a TO b; ALTER TABLE t RENAME CONSTRAINT a TO b; ALTER TRIGGER t ON x RENAME TO u; ALTER MATERIALIZED VIEW m RENAME TO n;
	DROP TEXT SEARCH PARSER p; CREATE AGGREGATE g(int) (SFUNC = f, STYPE = int); ABORT; REVOKE a FROM b; CREATE USER MAPPING FOR x SERVER s; CHECKPOINT;
	SELECT 1 INTO a; DEALLOCATE ALL; TRUNCATE t; RESET ALL; ALTER TYPE t RENAME ATTRIBUTE a TO b; CREATE PROCEDURE p() LANGUAGE sql AS ''; CREATE USER u; REASSIGN OWNED BY a TO b`
	want := []string{"ALTER VIEW", "ALTER TABLE", "ALTER TRIGGER", "ALTER MATERIALIZED VIEW", "DROP TEXT SEARCH PARSER", "CREATE AGGREGATE", "ROLLBACK",
		"REVOKE ROLE", "CREATE USER MAPPING", "CHECKPOINT", "SELECT INTO", "DEALLOCATE ALL", "TRUNCATE TABLE", "RESET", "ALTER TYPE", "CREATE PROCEDURE", "CREATE ROLE", "REASSIGN OWNED"}
	var got []string
	for _, s := range check(t, migration.Plain, map[string]string{"1.sql": sql}, "").Statements {
		got = append(got, s.Kind)
	}
	if !slices.Equal(want, got) {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
}
