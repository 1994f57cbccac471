// Package builtin is the pull request host of small installations and of the
// demo: bare Git repositories served over smart HTTP, with their pull
// requests, comments and statuses in Postgres. Git holds what happened to
// branches; the rows follow it at every look, so that a push, a merge by hand
// or a crash in the middle of a merge all end in the right state.
package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

// MainBranch is the base branch of every repository of this host.
const MainBranch = "main"

// Options say how a Host works. Pool, Dir and BaseURL are required.
type Options struct {
	Pool *pgxpool.Pool
	// Dir is the folder of the bare repositories; servers that share it must
	// share the database.
	Dir string
	// BaseURL is where people reach Sluice. The handler is served below /git
	// of it, and so are the pages of pull requests.
	BaseURL string
	// Clock is time.Now when nil.
	Clock func() time.Time
	// Pushed is told of refs that moved by a push or a merge. It may be
	// called twice for a change and, after a crash, not at all: look now.
	Pushed func(ctx context.Context, repository string, refs []RefChange)
	// Authenticate tells who pushes. An error of kind Unauthenticated is a
	// wrong name or password. Nil: only the service token may push.
	Authenticate func(ctx context.Context, username, password string) (promotion.Actor, error)
	// ServiceToken is the password with which the user sluice may push
	// branches other than main. Empty: nobody may as sluice.
	ServiceToken string
	// RequiredStatus is the context of a commit status that must be success
	// on the head before a merge. Sluice sets its own before it merges.
	RequiredStatus string
	// Protected refuses direct pushes to main: only merges move it.
	Protected bool
	// Log gets what no caller can be told; slog.Default when nil.
	Log *slog.Logger
}

// RefChange is a ref that moved. Old or New is empty for one that was made or removed.
type RefChange struct {
	Ref, Old, New string
}

// Host holds the repositories of a folder. It is safe for concurrent use, also
// by several servers on the same folder and database.
type Host struct {
	Options
	queries *dbsqlc.Queries
}

// Open prepares the folder of the repositories.
func Open(_ context.Context, o Options) (*Host, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errNoGit
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of the built-in repositories: %w", err)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder of the built-in repositories: %w", err)
	}
	o.Dir = dir
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Pushed == nil {
		o.Pushed = func(context.Context, string, []RefChange) {}
	}
	if o.Authenticate == nil {
		o.Authenticate = func(context.Context, string, string) (promotion.Actor, error) {
			return promotion.Actor{}, errors.New("only the service pushes to this host")
		}
	}
	return &Host{Options: o, queries: dbsqlc.New(o.Pool)}, nil
}

// Repository is the port to one repository. One that was never created
// answers every call with ErrNotFound.
func (h *Host) Repository(name string) promotion.PullRequestHost { return h.repository(name) }

// CloneURL is where a repository is cloned from and pushed to.
func (h *Host) CloneURL(name string) string { return h.BaseURL + "/git/" + name + ".git" }

func (h *Host) pullRequestURL(repository string, number int32) string {
	return fmt.Sprintf("%s/git/%s/pulls/%d", h.BaseURL, repository, number)
}

func (h *Host) repository(name string) *repository {
	return &repository{Host: h, name: name, bare: bare{dir: filepath.Join(h.Dir, name+".git"), home: h.Dir}}
}
