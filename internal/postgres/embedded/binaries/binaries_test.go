package binaries_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/postgres/embedded/binaries"
)

// The tests here write programs and run them at once, so they do not run in parallel: a program
// that another test starts meanwhile would hold the file that is being written, and
// the system refuses to run a file that is open for writing.

// server writes a stand-in for a PostgreSQL server that only tells its version.
func server(t *testing.T, folder, version string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.WriteFile(filepath.Join(folder, name), script(version), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func script(version string) []byte {
	return []byte("#!/bin/sh\necho '" + version + "'\n")
}

func TestIn(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		major   int
		wrong   string
	}{
		"debian":     {"postgres (PostgreSQL) 15.19 (Debian 15.19-0+deb12u1)", 15, ""},
		"plain":      {"postgres (PostgreSQL) 18.4", 18, ""},
		"beta":       {"postgres (PostgreSQL) 19beta1", 19, ""},
		"too old":    {"postgres (PostgreSQL) 14.20", 0, "version 14, 15 or newer is needed"},
		"not at all": {"postgres.app 2", 0, "not a PostgreSQL version"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			server(t, folder, test.version)
			programs, err := binaries.In(context.Background(), folder)
			if test.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("%v, want an error that says %q", err, test.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if programs.Major != test.major || programs.Path("initdb") != filepath.Join(folder, "initdb") {
				t.Errorf("%+v", programs)
			}
		})
	}
}

func TestInWithoutInitdb(t *testing.T) {
	folder := t.TempDir()
	server(t, folder, "postgres (PostgreSQL) 18.4")
	if err := os.Remove(filepath.Join(folder, "initdb")); err != nil {
		t.Fatal(err)
	}
	if _, err := binaries.In(context.Background(), folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist: a client's package has no initdb", err)
	}
}

func TestFind(t *testing.T) {
	real, path := t.TempDir(), t.TempDir()
	server(t, real, "postgres (PostgreSQL) 99.1")
	// On PATH there is a link to the one program only, as some distributions make it.
	if err := os.Symlink(filepath.Join(real, "postgres"), filepath.Join(path, "postgres")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))

	found, err := binaries.Find(context.Background(), 0)
	if err != nil || found.Folder != real || found.Major != 99 {
		t.Errorf("found %+v, %v; want version 99 in %s", found, err, real)
	}
	if found, err := binaries.Find(context.Background(), 98); !errors.Is(err, binaries.ErrNone) {
		t.Errorf("found %+v, %v; want ErrNone: only version 98 can read the data", found, err)
	}
}

func TestFindByPgConfig(t *testing.T) {
	bin, path := t.TempDir(), t.TempDir()
	server(t, bin, "postgres (PostgreSQL) 97.1")
	if err := os.WriteFile(filepath.Join(path, "pg_config"), script(bin), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	found, err := binaries.Find(context.Background(), 97)
	if err != nil || found.Folder != bin {
		t.Errorf("found %+v, %v; want version 97 in %s", found, err, bin)
	}
}
