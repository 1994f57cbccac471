package migration_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/migration"
)

func TestSince(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tool           migration.Tool
		names, version string
		after, before  string // empty both: refused
	}{
		{migration.Goose, "00009_a.sql 00010_b.sql 00011_c.sql", "10", "00011_c.sql", "00009_a.sql 00010_b.sql"},
		{migration.Goose, "00009_a.sql 00010_b.sql 00011_c.sql", "00009", "00010_b.sql 00011_c.sql", "00009_a.sql"},
		{migration.Goose, "00009_a.sql 00010_b.sql", "00010_b", "", "00009_a.sql 00010_b.sql"},
		{migration.Goose, "00009_a.sql 00010_b.sql", "100", "", ""},
		{migration.Goose, "00009_a.sql 00010_b.sql", "latest", "", ""},
		{migration.GolangMigrate, "1_a.up.sql 1_a.down.sql 2_b.up.sql 2_b.down.sql", "1", "2_b.up.sql 2_b.down.sql", "1_a.up.sql 1_a.down.sql"},
		{migration.Flyway, "V1.9__a.sql V1.10__b.sql R__v.sql U1.10__b.sql", "1.9", "V1.10__b.sql R__v.sql U1.10__b.sql", "V1.9__a.sql"},
		{migration.Flyway, "V1.9__a.sql V1.10__b.sql", "1.9.0", "V1.10__b.sql", "V1.9__a.sql"},
		{migration.Flyway, "V1__a.sql R__v.sql", "R__v.sql", "", ""},
		{migration.Plain, "a.sql bb.sql c.sql", "bb.sql", "c.sql", "a.sql bb.sql"},
		{migration.Plain, "a.sql bb.sql c.sql", "b", "", ""},
	} {
		var files []migration.File
		for _, name := range strings.Fields(test.names) {
			files = append(files, migration.File{Name: name})
		}
		after, before, err := migration.Since(test.tool, files, test.version)
		if refused := test.after+test.before == ""; refused != (err != nil) {
			t.Errorf("%s since %s: %v", test.names, test.version, err)
		}
		if names(after) != test.after || names(before) != test.before {
			t.Errorf("%s since %s: after %q, before %q", test.names, test.version, names(after), names(before))
		}
	}
}

func names(files []migration.File) string {
	var all []string
	for _, f := range files {
		all = append(all, f.Name)
	}
	return strings.Join(all, " ")
}
