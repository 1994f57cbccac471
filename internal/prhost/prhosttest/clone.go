package prhosttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Clone is a person's working copy: everything in it is done by plain git.
type Clone struct {
	t      testing.TB
	dir    string
	remote string
}

// NewClone clones a remote whose main has a commit.
func NewClone(t testing.TB, remote string) *Clone {
	t.Helper()
	c := &Clone{t: t, dir: t.TempDir(), remote: remote}
	c.Git("clone", "--quiet", remote, ".")
	c.Git("config", "user.name", "Pat Person")
	c.Git("config", "user.email", "pat@example.test")
	return c
}

// Git runs git and returns its output; a failure fails the test.
func (c *Clone) Git(args ...string) string {
	c.t.Helper()
	out, err := c.Try(args...)
	if err != nil {
		c.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Try runs git and returns its output and error.
func (c *Clone) Try(args ...string) (string, error) {
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// Commit puts one commit of a file on a branch made from a start such as
// origin/main, and returns it. Nothing is pushed.
func (c *Clone) Commit(branch, start, name, content string) (sha string) {
	c.t.Helper()
	c.Git("fetch", "--quiet", "--prune", "origin")
	c.Git("checkout", "--quiet", "-B", branch, start)
	c.Write(name, content)
	c.Git("add", "--all")
	c.Git("commit", "--quiet", "--message", "Write "+name)
	return c.Git("rev-parse", "HEAD")
}

// Write writes a file of the working copy.
func (c *Clone) Write(name, content string) {
	c.t.Helper()
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// Push makes one commit of a file on top of main and force-pushes it as the branch.
func (c *Clone) Push(branch, name, content string) (sha string) {
	c.t.Helper()
	sha = c.Commit(branch, "origin/main", name, content)
	c.Git("push", "--quiet", "--force", "origin", branch)
	return sha
}

// MergeByHand merges a pushed branch into main with the given options of git
// merge, pushes main, and returns where it is.
func (c *Clone) MergeByHand(branch string, options ...string) (sha string) {
	c.t.Helper()
	c.Git("fetch", "--quiet", "origin")
	c.Git("checkout", "--quiet", "-B", "main", "origin/main")
	c.Git(append(append([]string{"merge", "--quiet"}, options...), "origin/"+branch)...)
	c.Git("push", "--quiet", "origin", "main")
	return c.Git("rev-parse", "HEAD")
}

// Remote is where a branch is on the remote, empty when it is not there.
func (c *Clone) Remote(branch string) (sha string) {
	c.t.Helper()
	sha, _, _ = strings.Cut(c.Git("ls-remote", "origin", "refs/heads/"+branch), "\t")
	return sha
}

// Parents of a commit of the remote.
func (c *Clone) Parents(sha string) []string {
	c.t.Helper()
	c.Git("fetch", "--quiet", "origin")
	return strings.Fields(c.Git("show", "--no-patch", "--format=%P", sha))
}
