// Package binaries finds the PostgreSQL server's programs on this machine, or
// fetches them into a cache folder, without root and without a package manager.
package binaries

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// Oldest is the oldest major version that Sluice runs on.
const Oldest = 15

// ErrNone means that no PostgreSQL server of a version that would do was found.
var ErrNone = errors.New("no PostgreSQL server found")

// Programs is a folder that holds initdb and postgres of one version.
type Programs struct {
	Folder string
	Major  int // 15 for 15.19
}

// Path is the absolute path of one program.
func (p Programs) Path(name string) string { return filepath.Join(p.Folder, name) }

// In reads what a folder holds. It is an error if initdb or postgres is not
// there, cannot be run, or is older than Oldest.
func In(ctx context.Context, folder string) (Programs, error) {
	for _, name := range []string{"initdb", "postgres"} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			return Programs{}, fmt.Errorf("looking for PostgreSQL in %s: %w", folder, err)
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return Programs{}, fmt.Errorf("looking for PostgreSQL in %s: %s is not a program", folder, name)
		}
	}
	out, err := exec.CommandContext(ctx, filepath.Join(folder, "postgres"), "--version").Output()
	if err != nil {
		return Programs{}, fmt.Errorf("asking the version of %s: %w", filepath.Join(folder, "postgres"), err)
	}
	major, err := majorOf(string(out))
	if err != nil {
		return Programs{}, err
	}
	if major < Oldest {
		return Programs{}, fmt.Errorf("PostgreSQL in %s is version %d, %d or newer is needed", folder, major, Oldest)
	}
	return Programs{Folder: folder, Major: major}, nil
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// majorOf reads "postgres (PostgreSQL) 15.19 (Debian 15.19-0+deb12u1)".
func majorOf(line string) (int, error) {
	match := versionLine.FindStringSubmatch(line)
	if match == nil {
		return 0, fmt.Errorf("not a PostgreSQL version: %q", line)
	}
	return strconv.Atoi(match[1])
}
