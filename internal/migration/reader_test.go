package migration_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/migration"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestPasswordsAreFound(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{
		"CREATE ROLE app LOGIN PASSWORD 'swordfish'":                                                            1,
		"SELECT 1;\nALTER USER app\n  WITH ENCRYPTED PASSWORD E'swordfish';":                                    3,
		"create user app password $$swordfish$$;":                                                               1,
		"-- CREATE ROLE app PASSWORD 'swordfish'":                                                               1,
		"DO $$ BEGIN EXECUTE 'CREATE ROLE app PASSWORD ''swordfish'''; END $$;":                                 1,
		"CREATE USER MAPPING FOR app SERVER s OPTIONS (user 'app', password 'swordfish');":                      1,
		"CREATE SUBSCRIPTION s CONNECTION 'host=db user=app password=swordfish' PUBLICATION p;":                 1,
		"SELECT dblink_connect('password=swordfish dbname=shop');":                                              1,
		"-- copied with psql postgres://app:swordfish@db/shop\nSELECT 1;":                                       1,
		"CREATE ROLE a PASSWORD NULL; CREATE ROLE app PASSWORD '${password}'; CREATE ROLE b PASSWORD ''":        0,
		"CREATE ROLE app PASSWORD :'password'":                                                                  0,
		"ALTER TABLE users ADD COLUMN password text; COMMENT ON COLUMN users.password IS 'hashed'":              0,
		"UPDATE users SET note = 'a', password = crypt(password, gen_salt('bf')) WHERE name = 'b'":              0,
		"SELECT 'https://example.test/a:b@c', 'see https://example.test for the password'; SELECT password 'x'": 0,
	} {
		err := migration.Credential([]migration.File{{Name: "0001.sql", Content: "SELECT 1"}, {Name: "0002.sql", Content: text}})
		switch {
		case line == 0 && err != nil:
			t.Errorf("%s: refused: %v", text, err)
		case line > 0 && (err == nil || !strings.HasPrefix(err.Error(), "0002.sql:"+string(rune('0'+line))+" ")):
			t.Errorf("%s: got %v, want line %d", text, err, line)
		case err != nil && strings.Contains(err.Error(), "swordfish"):
			t.Errorf("%s: the error says the password: %v", text, err)
		}
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	t.Parallel()
	for _, reason := range migration.Reasons() {
		if words := migration.Explain(reason); words == reason || words == "" {
			t.Errorf("%s has no words", reason)
		}
	}
}

func TestWhenFilesRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tool, name string
		want       promotion.MigrationRuns
	}{
		{"plain", "a.sql", promotion.RunsOnce},
		{"goose", "00001_a.sql", promotion.RunsOnce},
		{"golang-migrate", "1_a.up.sql", promotion.RunsOnce},
		{"golang-migrate", "1_a.down.sql", promotion.RunsNotForward},
		{"flyway", "sub/V1__a.sql", promotion.RunsOnce},
		{"flyway", "U1__a.sql", promotion.RunsNotForward},
		{"flyway", "B1__a.sql", promotion.RunsNotForward},
		{"flyway", "R__a.sql", promotion.RunsOnChange},
	} {
		if got := (migration.Reader{}).Runs(test.tool, test.name); got != test.want {
			t.Errorf("%s runs %s %s, want %s", test.tool, test.name, got, test.want)
		}
	}
}
