package migration_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/migration"
)

// shape writes statements as "n:line kind", in order.
func shape(result migration.Result) []string {
	var all []string
	for _, s := range result.Statements {
		all = append(all, fmt.Sprintf("%d:%d %s", s.N, s.Line, s.Kind))
	}
	return all
}

// tooDeep is the shape of n statements that are too deep, and a SELECT.
func tooDeep(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%d:1 UNPARSED", i+1))
	}
	return append(all, fmt.Sprintf("%d:1 SELECT", n+1))
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want []string
	}{
		"nothing":                 {"-- a\n;;\n/* b; /* c; */ ; */ ;", nil},
		"no last semicolon":       {"SELECT 1;\n\nSELECT 2", []string{"1:1 SELECT", "2:3 SELECT"}},
		"byte order mark":         {"\ufeffSELECT 1", []string{"1:1 SELECT"}},
		"carriage returns":        {"SELECT 1;\r\nSELECT 2;\r\n", []string{"1:1 SELECT", "2:2 SELECT"}},
		"quotes":                  {`SELECT 'it''s;', "a"";b"; SELECT 2`, []string{"1:1 SELECT", "2:1 SELECT"}},
		"backslash is plain":      {`SELECT 'a\'; SELECT 2`, []string{"1:1 SELECT", "2:1 SELECT"}},
		"backslash after E":       {`SELECT E'a\';', e'\\'; SELECT 2`, []string{"1:1 SELECT", "2:1 SELECT"}},
		"E at the end of a name":  {`SELECT 1 AS name'a\'; SELECT 2`, []string{"1:1 UNPARSED", "2:1 SELECT"}},
		"E string goes on":        {"SELECT E'a'\n  '\\'; x'; SELECT 2", []string{"1:1 SELECT", "2:2 SELECT"}},
		"lines within strings":    {"SELECT 'a\nb', $$\n\n$$, \"c\nd\", E'e\nf' /* g\n */;\nSELECT 2", []string{"1:1 SELECT", "2:8 SELECT"}},
		"dollar quotes":           {`SELECT $a$ ; $b$ ; $$ ; $a$; SELECT $$;$$`, []string{"1:1 SELECT", "2:1 SELECT"}},
		"dollars in names":        {`SELECT a$b$ FROM c; SELECT 2`, []string{"1:1 SELECT", "2:1 SELECT"}},
		"a parameter":             {`SELECT $1; SELECT $2`, []string{"1:1 SELECT", "2:1 SELECT"}},
		"dollar of other script":  {"SELECT $é$;$é$; SELECT 2", []string{"1:1 SELECT", "2:1 SELECT"}},
		"quote never closed":      {"SELECT 1;\nSELECT 'a; SELECT 2;\nSELECT 3", []string{"1:1 SELECT", "2:2 UNPARSED"}},
		"dollar never closed":     {"SELECT 1; DO $$ a; $b$", []string{"1:1 SELECT", "2:1 UNPARSED"}},
		"E never closed":          {`SELECT E'a\`, []string{"1:1 UNPARSED"}},
		"comment never closed":    {"SELECT 1;\n/* a /* b */ SELECT 2;", []string{"1:1 SELECT", "2:2 UNPARSED"}},
		"psql":                    {"\\set a 'b\nSELECT 1;\n  \\i x; y\nSELECT 2\n\\gexec\nSELECT 3", []string{"1:1 UNPARSED", "2:2 SELECT", "3:3 UNPARSED", "4:4 SELECT", "5:5 UNPARSED", "6:6 SELECT"}},
		"placeholder":             {"DROP TABLE ${schema}.a; DROP TABLE a", []string{"1:1 UNPARSED", "2:1 DROP TABLE"}},
		"parenthesis missing":     {"CREATE TABLE a (id int; DROP TABLE parcel", []string{"1:1 UNPARSED", "2:1 DROP TABLE"}},
		"parenthesis too many":    {"CREATE TABLE a (id int)); DROP TABLE parcel", []string{"1:1 UNPARSED", "2:1 DROP TABLE"}},
		"rule with two actions":   {"CREATE RULE r AS ON INSERT TO a DO (SELECT 1; SELECT 2);\nSELECT 3", []string{"1:1 CREATE RULE", "2:2 SELECT"}},
		"atomic body":             {"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\nSELECT 1; SELECT 2; END;\nSELECT 3", []string{"1:1 CREATE FUNCTION", "2:3 SELECT"}},
		"atomic without end":      {"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC\nSELECT 1; SELECT 3", []string{"1:1 UNPARSED", "2:2 SELECT"}},
		"NUL hides nothing":       {"SELECT 1 \x00 DROP TABLE a", []string{"1:1 UNPARSED"}},
		"not UTF-8":               {"SELECT '\xff'; SELECT 2", []string{"1:1 UNPARSED", "2:1 SELECT"}},
		"too deep":                {"SELECT 1" + strings.Repeat("+1", 50_000) + "; SELECT 2", []string{"1:1 UNPARSED", "2:1 SELECT"}},
		"too deep in parentheses": {"SELECT " + strings.Repeat("f(1, ", 2000) + "1" + strings.Repeat(")", 2000) + "; SELECT 2", []string{"1:1 UNPARSED", "2:1 SELECT"}},
		"long and not deep":       {"INSERT INTO a VALUES (1 + 2)" + strings.Repeat(", (1 - 2)", 5000) + "; SELECT 2", []string{"1:1 INSERT", "2:1 SELECT"}},
		"many that are too deep":  {strings.Repeat("SELECT 1"+strings.Repeat("::int", 4000)+";", 100) + "SELECT 2", tooDeep(100)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, shape(check(t, migration.Plain, map[string]string{"1.sql": c.sql}, ""))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGooseSections(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want []string
	}{
		"only the Up":                   {"-- +goose NO TRANSACTION\nDROP TABLE a;\n-- +goose Up\nSELECT 1;\nSELECT 2;\n-- +goose Down\nDROP TABLE b;", []string{"1:4 SELECT", "2:5 SELECT"}},
		"a block":                       {"--+goose up\nSELECT 1;\n-- +goose StatementBegin\n-- a\nCREATE FUNCTION f() RETURNS int AS $$ a; $$ LANGUAGE sql;\n-- +goose StatementEnd\nSELECT 2;", []string{"1:2 SELECT", "2:5 CREATE FUNCTION", "3:7 SELECT"}},
		"several statements in a block": {"-- +goose Up\n-- +goose StatementBegin\nSELECT 1; DROP TABLE a;\n-- +goose StatementEnd\n", []string{"1:3 SELECT", "1:3 DROP TABLE"}},
		"a block with an error":         {"-- +goose Up\n-- +goose StatementBegin\nSELECT 1; ALTR;\n-- +goose StatementEnd\nSELECT 2", []string{"1:3 UNPARSED", "2:5 SELECT"}},
		"an empty block":                {"-- +goose Up\n-- +goose StatementBegin\n-- a\n-- +goose StatementEnd\nSELECT 2", []string{"1:5 SELECT"}},
		"no Up at all":                  {"DROP TABLE a;\n", []string{"1:1 UNPARSED"}},
		"an empty Up":                   {"-- +goose Up\n-- +goose Down\nDROP TABLE a;", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, shape(check(t, migration.Goose, map[string]string{"1_a.sql": c.sql}, ""))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	const goose = "-- +goose Up\nSELECT 1;"
	for name, c := range map[string]struct {
		tool  migration.Tool
		files []string
		want  []string
	}{
		"plain":          {migration.Plain, []string{"9.sql", "10.sql", "b.sql", "B.sql"}, []string{"10.sql", "9.sql", "B.sql", "b.sql"}},
		"goose":          {migration.Goose, []string{"00010_a.sql", "9_b.sql", "20240101000000_c.sql", "3_d.go"}, []string{"3_d.go", "9_b.sql", "00010_a.sql", "20240101000000_c.sql"}},
		"golang-migrate": {migration.GolangMigrate, []string{"10_a.up.sql", "9_b.up.sql", "9_b.down.sql", "099999999999999999999999_c.up.sql", "1_d.up.json"}, []string{"1_d.up.json", "9_b.up.sql", "10_a.up.sql", "099999999999999999999999_c.up.sql"}},
		"flyway": {migration.Flyway, []string{"R__b.sql", "R__a.sql", "V10__c.sql", "V2_1__d.sql", "V2.0.1__e.sql", "V2__f.sql", "x/V1__g.sql", "U2__h.sql", "B10__i.sql", "V3__j.java"},
			[]string{"x/V1__g.sql", "V2__f.sql", "V2.0.1__e.sql", "V2_1__d.sql", "V3__j.java", "V10__c.sql", "R__a.sql", "R__b.sql"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for _, file := range c.files {
				files[file] = goose
			}
			result := check(t, c.tool, files, "")
			var got []string
			for _, f := range result.Files {
				got = append(got, f.File)
				if code := !strings.HasSuffix(f.File, ".sql"); code != (f.Verdict == migration.Unknown) {
					t.Errorf("%s is %s", f.File, f.Verdict)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatWouldNotRunIsRefused: a file left out unseen would pass for harmless.
func TestWhatWouldNotRunIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool  migration.Tool
		files []string
		want  string
	}{
		"unknown tool":         {"liquibase", nil, "liquibase"},
		"goose without number": {migration.Goose, []string{"a.sql"}, "a.sql"},
		"goose number twice":   {migration.Goose, []string{"1_a.sql", "001_b.sql"}, "same number"},
		"no direction":         {migration.GolangMigrate, []string{"1_a.sql"}, "1_a.sql"},
		"pair twice":           {migration.GolangMigrate, []string{"1_a.up.sql", "1_b.up.sql"}, "same number"},
		"flyway callback":      {migration.Flyway, []string{"afterMigrate.sql"}, "afterMigrate.sql"},
		"flyway version twice": {migration.Flyway, []string{"V1__a.sql", "V1.0__b.sql"}, "same number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []migration.File
			for _, file := range c.files {
				files = append(files, migration.File{Name: file})
			}
			if _, err := migration.Check(c.tool, files, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
			if _, err := migration.Check(c.tool, nil, files); err == nil {
				t.Error("the history is accepted")
			}
		})
	}
}

func TestReadFiles(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{}
	for _, name := range []string{"1_a.up.sql", "1_a.down.sql", "2_b.go", "2_b_test.go", "README.md", "sub/V1__c.SQL", "V2__d.java", "3_e.up.psql"} {
		folder[name] = &fstest.MapFile{Data: []byte(name), ModTime: time.Unix(0, 0)}
	}
	for tool, want := range map[migration.Tool][]string{
		migration.Plain:         {"1_a.down.sql", "1_a.up.sql"},
		migration.Goose:         {"1_a.down.sql", "1_a.up.sql", "2_b.go"},
		migration.GolangMigrate: {"1_a.down.sql", "1_a.up.sql", "3_e.up.psql"},
		migration.Flyway:        {"1_a.down.sql", "1_a.up.sql", "V2__d.java", "sub/V1__c.SQL"},
	} {
		files, err := migration.ReadFiles(folder, tool)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, f.Name)
			if f.Content != f.Name {
				t.Errorf("%s holds %q", f.Name, f.Content)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", tool, got, want)
		}
	}
	if _, err := migration.ReadFiles(fstest.MapFS{}, migration.Plain); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
}

// FuzzCheck: whatever the text, it is judged without a crash, and text that ends
// in a column dropped is not harmless unless a quote swallows it.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		history, `SELECT E'\'; $a$ ; $a$ /* /* */ */ "x"";" ; \i x`, "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END",
		"ALTER TABLE a ADD b int NOT NULL, ALTER b DROP DEFAULT; ALTER TABLE a RENAME TO c; DROP TABLE c, d CASCADE",
		"DROP AGGREGATE a(*); DROP FUNCTION f; COMMENT ON LARGE OBJECT 1 IS ''; DROP CAST (int AS text); DROP OPERATOR +(int,int)",
		"ALTER EXTENSION e ADD CAST (int AS text); ALTER OPERATOR CLASS a USING b RENAME TO c; DROP TRANSFORM FOR a LANGUAGE b",
	} {
		f.Add(seed)
	}
	// The first use makes the grammar ready, which may take longer than an input may.
	if _, err := migration.Check(migration.Plain, []migration.File{{Name: "1.sql", Content: "SELECT 1"}}, nil); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		result, err := migration.Check(migration.Plain, []migration.File{{Name: "1.sql", Content: sql + "\n;ALTER TABLE fuzzed DROP COLUMN harm"}}, nil)
		if err != nil {
			t.Fatal(errors.Join(errors.New(sql), err))
		}
		if result.Verdict == migration.Compatible {
			made := slices.ContainsFunc(result.Statements, func(s migration.Statement) bool { return s.Reason != "drop-column" })
			if !made || !strings.Contains(sql, "fuzzed") {
				t.Fatalf("%q is compatible: %+v", sql, result.Statements)
			}
		}
	})
}
