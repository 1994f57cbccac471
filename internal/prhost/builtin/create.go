package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/prhost/builtin/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

var repositoryName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)

// Create makes a repository whose main holds one commit of these files, by
// path. One that exists is left alone. Killed anywhere, it can be repeated.
func (h *Host) Create(ctx context.Context, name string, files map[string][]byte, author promotion.Signature) error {
	if !repositoryName.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".git") {
		return &promotion.Error{Kind: promotion.Invalid, Code: "repository-name", Field: "name",
			Message: fmt.Sprintf("%q cannot name a repository: use lower-case letters, digits, '.', '_' and '-', and begin and end with a letter or digit", name)}
	}
	r := h.repository(name)
	_, err := os.Stat(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = r.create(ctx, files, author)
	}
	if err != nil {
		return fmt.Errorf("create repository %s: %w", name, err)
	}
	if err := h.queries.AddRepository(ctx, dbsqlc.AddRepositoryParams{Name: name, CreatedAt: h.Clock()}); err != nil {
		return fmt.Errorf("create repository %s: %w", name, err)
	}
	return nil
}

// create makes the repository beside its place and moves it there whole.
func (b bare) create(ctx context.Context, files map[string][]byte, author promotion.Signature) error {
	first, err := firstCommit(files, author)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.home, ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left has no use and harms nobody
	fresh := bare{dir: dir, home: b.home}
	if _, err := fresh.run(ctx, "init", "--quiet", "--bare", "--initial-branch="+MainBranch, dir); err != nil {
		return err
	}
	// What a pull request once proposed stays readable after its branch is gone.
	if _, err := fresh.run(ctx, "config", "gc.pruneExpire", "never"); err != nil {
		return err
	}
	if _, err := output(fresh.command(ctx, "fast-import", "--quiet", "--done"), first); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		return err
	}
	err = os.Rename(dir, b.dir)
	if errors.Is(err, fs.ErrExist) {
		return nil // another server was faster
	}
	return err
}

// firstCommit is git fast-import's input for one commit on main.
func firstCommit(files map[string][]byte, author promotion.Signature) (*bytes.Buffer, error) {
	if strings.ContainsAny(author.Name+author.Email, "<>\n") {
		return nil, fmt.Errorf("author %q <%q>: a name cannot hold < or > or a line's end", author.Name, author.Email)
	}
	const message = "First commit"
	var in bytes.Buffer
	who := strings.TrimSpace(author.Name + " <" + author.Email + ">")
	fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter %s %d %s\ndata %d\n%s\n",
		MainBranch, who, author.When.Unix(), author.When.Format("-0700"), len(message), message)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !fs.ValidPath(name) || name == "." || slices.Contains(strings.Split(name, "/"), ".git") {
			return nil, fmt.Errorf("%q is not a path inside a repository: use a relative one such as %s", name, path.Join("apps", filepath.Base(name)))
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name)
		fmt.Fprintf(&in, "M 100644 inline \"%s\"\ndata %d\n%s\n", quoted, len(files[name]), files[name])
	}
	in.WriteString("done\n")
	return &in, nil
}
