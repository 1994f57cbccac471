package binaries

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Find looks for the machine's own PostgreSQL: on PATH, where pg_config says,
// and where Debian, Red Hat, Homebrew and Postgres.app install it, newest first.
// A major version other than 0 is taken for the only one that would do, because
// a cluster's files can be read by that version alone. ErrNone if there is none.
func Find(ctx context.Context, major int) (Programs, error) {
	for _, folder := range candidates(ctx) {
		programs, err := In(ctx, folder)
		if err == nil && (major == 0 || programs.Major == major) {
			return programs, nil
		}
		if ctx.Err() != nil {
			return Programs{}, ctx.Err()
		}
	}
	if major != 0 {
		return Programs{}, fmt.Errorf("%w: version %d is needed to read the existing data", ErrNone, major)
	}
	return Programs{}, fmt.Errorf("%w: version %d or newer is needed", ErrNone, Oldest)
}

func candidates(ctx context.Context) []string {
	var folders []string
	if path, err := exec.LookPath("postgres"); err == nil {
		// A link may be alone in its folder; the programs it belongs to are not.
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(path))
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql@*/bin",
		"/usr/local/opt/postgresql@*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		slices.SortFunc(found, func(a, b string) int { return versionIn(b) - versionIn(a) })
		folders = append(folders, found...)
	}
	return folders
}

var firstNumber = regexp.MustCompile(`\d+`)

// versionIn is the version that a folder's name carries, 0 if none.
func versionIn(folder string) int {
	n, err := strconv.Atoi(firstNumber.FindString(folder))
	if err != nil {
		return 0
	}
	return n
}
