package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicehq/sluice/internal/promotion"
)

// patience is how long git may take to clean up after it was told to stop.
const patience = 10 * time.Second

var errNoGit = errors.New("git is not installed on this server: install the package git (2.30 or newer) and make sure it is on PATH")

// bare is a bare repository, worked on by the machine's git.
type bare struct {
	dir, home string
}

// command prepares git with nothing of the machine's or a user's
// configuration. A cancelled one is asked to stop, not killed, so that it
// removes its lock files.
func (b bare) command(ctx context.Context, args ...string) *exec.Cmd {
	settings := []string{
		"-c", "safe.directory=" + b.dir, // the folder may be a volume of another user
		"-c", "core.hooksPath=" + os.DevNull,
		"-c", "core.quotePath=false",
		"-c", "receive.fsckObjects=true",
	}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Dir = b.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "LC_ALL=C",
		"GIT_DIR=" + b.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd
}

// run returns what git prints, without the last line's end.
func (b bare) run(ctx context.Context, args ...string) (string, error) {
	return output(b.command(ctx, args...), nil)
}

func output(cmd *exec.Cmd, stdin io.Reader) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := run(cmd); err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// run runs a prepared command; its error names the command.
func run(cmd *exec.Cmd) error {
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return errNoGit
	}
	if err != nil {
		return fmt.Errorf("git %s: %w", subcommand(cmd.Args[1:]), err)
	}
	return nil
}

// exitCode is the code that a failed git ended with, zero for any other error.
func exitCode(err error) int {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// subcommand skips git's own -c options.
func subcommand(args []string) string {
	for len(args) > 1 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// branches are all branches as they are at this moment, by name.
func (b bare) branches(ctx context.Context) (map[string]string, error) {
	out, err := b.run(ctx, "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/")
	if err != nil {
		return nil, fmt.Errorf("read the branches: %w", err)
	}
	branches := map[string]string{}
	for line := range strings.Lines(out) {
		sha, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		branches[name] = sha
	}
	if branches[MainBranch] == "" {
		return nil, fmt.Errorf("the repository has no branch %s", MainBranch)
	}
	return branches, nil
}

// holds tells whether there is such a commit, reachable or not.
func (b bare) holds(ctx context.Context, sha string) bool {
	if !plumbing.IsHash(sha) {
		return false
	}
	_, err := b.run(ctx, "cat-file", "-e", sha+"^{commit}")
	return err == nil
}

// contains tells whether ancestor is descendant or one of its ancestors.
func (b bare) contains(ctx context.Context, descendant, ancestor string) (bool, error) {
	_, err := b.run(ctx, "merge-base", "--is-ancestor", ancestor, descendant)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// mergeOf is the first commit of main's first-parent history that holds head.
// It is looked for after since, a commit that does not hold it.
func (b bare) mergeOf(ctx context.Context, since, main, head string) (string, error) {
	below, err := b.run(ctx, "rev-list", "--ancestry-path", main, "^"+head)
	if err != nil {
		return "", err
	}
	holds := map[string]bool{head: true}
	for _, sha := range strings.Fields(below) {
		holds[sha] = true
	}
	line, err := b.run(ctx, "rev-list", "--first-parent", "--reverse", main, "^"+since)
	if err != nil {
		return "", err
	}
	for _, sha := range strings.Fields(line) {
		if holds[sha] {
			return sha, nil
		}
	}
	return "", fmt.Errorf("no commit of main's first-parent history after %s holds %s", since, head)
}

// author is the name in a commit's author line.
func (b bare) author(ctx context.Context, commit string) (string, error) {
	return b.run(ctx, "show", "--no-patch", "--format=%an", commit)
}

// commit writes a commit of a tree without moving any ref.
func (b bare) commit(ctx context.Context, tree, message string, parents []string, author, committer promotion.Signature) (string, error) {
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	cmd := b.command(ctx, args...)
	cmd.Env = append(cmd.Env,
		"GIT_AUTHOR_NAME="+author.Name, "GIT_AUTHOR_EMAIL="+author.Email, "GIT_AUTHOR_DATE="+stamp(author.When),
		"GIT_COMMITTER_NAME="+committer.Name, "GIT_COMMITTER_EMAIL="+committer.Email, "GIT_COMMITTER_DATE="+stamp(committer.When))
	return output(cmd, strings.NewReader(message))
}

// moveMain moves main from old to new if the branch still is at head, in one
// transaction that holds the locks of both refs.
func (b bare) moveMain(ctx context.Context, old, new, branch, head string) error {
	commands := fmt.Sprintf("verify refs/heads/%s %s\nupdate refs/heads/%s %s %s\n", branch, head, MainBranch, new, old)
	_, err := output(b.command(ctx, "update-ref", "--stdin"), strings.NewReader(commands))
	return err
}

// stamp is git's internal date format: seconds and zone.
func stamp(t time.Time) string { return fmt.Sprintf("@%d %s", t.Unix(), t.Format("-0700")) }
