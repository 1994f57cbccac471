package fakegithub

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// bare is a bare Git repository. Its methods fail the test when git fails unexpectedly.
type bare struct {
	t   testing.TB
	dir string
}

func newBare(t testing.TB) bare {
	t.Helper()
	b := bare{t: t, dir: t.TempDir()}
	b.must("init", "--quiet", "--bare", "--initial-branch="+Main)
	blob := b.input("# Config\n", "hash-object", "-w", "--stdin")
	tree := b.input("100644 blob "+blob+"\tREADME.md\n", "mktree")
	b.must("update-ref", "refs/heads/"+Main, b.must("commit-tree", tree, "-m", "First"))
	return b
}

func (b bare) run(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = b.dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME="+Bot, "GIT_AUTHOR_EMAIL=bot@example.test", "GIT_COMMITTER_NAME=GitHub", "GIT_COMMITTER_EMAIL=noreply@example.test")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (b bare) input(stdin string, args ...string) string {
	out, err := b.run(stdin, args...)
	if err != nil {
		b.t.Errorf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (b bare) must(args ...string) string { return b.input("", args...) }

func (b bare) branch(name string) string {
	sha, _ := b.run("", "rev-parse", "--verify", "--quiet", "refs/heads/"+name)
	return sha
}

func (b bare) has(sha string) bool {
	_, err := b.run("", "cat-file", "-e", sha+"^{commit}")
	return err == nil
}

func (b bare) contains(descendant, ancestor string) bool {
	_, err := b.run("", "merge-base", "--is-ancestor", ancestor, descendant)
	return err == nil
}

// broughtBy is the first commit of main's first-parent history that contains sha.
func (b bare) broughtBy(sha string) string {
	for _, c := range strings.Fields(b.must("rev-list", "--first-parent", "--reverse", Main)) {
		if b.contains(c, sha) {
			return c
		}
	}
	return ""
}

// mergedTree is the tree of a merge into a base branch, empty when it conflicts.
func (b bare) mergedTree(base, head string) string {
	tree, err := b.run("", "merge-tree", "--write-tree", base, head)
	if err != nil {
		return ""
	}
	return tree
}

// merge moves a base branch by one commit. A rebase is right for pull requests of one commit.
func (b bare) merge(base, head, method, message string) (sha string) {
	tip := b.branch(base)
	parents := []string{"-p", tip}
	switch method {
	case "merge":
		parents = append(parents, "-p", head)
	case "rebase":
		message = b.must("show", "--no-patch", "--format=%B", head)
	}
	sha = b.must(slices.Concat([]string{"commit-tree", b.mergedTree(base, head), "-m", message}, parents)...)
	b.must("update-ref", "refs/heads/"+base, sha, tip)
	return sha
}
