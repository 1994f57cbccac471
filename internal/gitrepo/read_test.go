package gitrepo_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	first := fetch(t, m)
	second := r.commit("second", map[string]string{"apps/web/base/service.yaml": "kind: Service\n", "README.md": "changed"})
	r.run(r.worktree, "checkout", "--quiet", "-b", "side", first)
	r.write("side.txt", "side")
	r.run(r.worktree, "add", "-A")
	r.run(r.worktree, "commit", "--quiet", "-m", "on the side")
	side := r.run(r.worktree, "rev-parse", "HEAD")
	r.run(r.worktree, "checkout", "--quiet", "-")
	r.run(r.worktree, "merge", "--quiet", "--no-ff", "-m", "merge the side", "side")
	r.run(r.worktree, "push", "--quiet", "origin", "HEAD:main")
	head := fetch(t, m)
	commits, err := m.Commits(ctx, first, head, 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(commits) != 2 || commits[0].SHA != second || commits[1].SHA != head {
		t.Fatalf("first-parent history after the first commit: %+v", commits)
	}
	if got := strings.Join(commits[0].Changed, " "); got != "README.md apps/web/base/service.yaml" {
		t.Errorf("the second commit changed %q", got)
	}
	if commits[0].Author != "Ada <ada@example.com>" || commits[0].Message != "second" || commits[0].Parent != first {
		t.Errorf("described as %+v", commits[0])
	}
	if got := strings.Join(commits[1].Changed, " "); got != "side.txt" {
		t.Errorf("the merge changed %q", got)
	}
	for name, tt := range map[string]struct {
		after, until string
		limit        int
		want         []string
	}{
		"the newest":                   {"", head, 1, []string{head}},
		"all":                          {"", head, 9, []string{first, second, head}},
		"nothing new":                  {head, head, 9, nil},
		"after a commit off the line":  {side, head, 9, []string{second, head}},
		"backwards, as after a revert": {head, second, 9, nil},
		"limit only without after":     {first, head, 1, []string{second, head}},
	} {
		got, err := m.Commits(ctx, tt.after, tt.until, tt.limit)
		if err != nil || strings.Join(shas(got), " ") != strings.Join(tt.want, " ") {
			t.Errorf("%s: %v, %v; want %v", name, shas(got), err, tt.want)
		}
	}
	for _, tt := range []struct {
		descendant, ancestor string
		want                 bool
	}{{head, first, true}, {head, side, true}, {head, head, true}, {first, head, false}, {second, side, false}} {
		if got, err := m.Contains(ctx, tt.descendant, tt.ancestor); err != nil || got != tt.want {
			t.Errorf("Contains(%.7s, %.7s) = %v, %v", tt.descendant, tt.ancestor, got, err)
		}
	}
	for _, unknown := range []string{strings.Repeat("a", 40), "", "main"} {
		if _, err := m.Contains(ctx, head, unknown); !errors.Is(err, promotion.ErrNotFound) {
			t.Errorf("Contains(head, %q): %v, want ErrNotFound", unknown, err)
		}
		if _, err := m.Tree(ctx, unknown); !errors.Is(err, promotion.ErrNotFound) {
			t.Errorf("Tree(%q): %v, want ErrNotFound", unknown, err)
		}
	}
	if fetch(t, m) != head {
		t.Error("asking for unknown commits changed the mirror")
	}
}

func shas(commits []promotion.Commit) []string {
	var all []string
	for _, c := range commits {
		all = append(all, c.SHA)
	}
	return all
}

func TestMerged(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	head := propose(t, m, proposal(fetch(t, m), branch, "digest: new"))
	r.commit("elsewhere", map[string]string{"apps/web/base/deployment.yaml": "kind: Deployment # changed\n"})
	merged, _, err := m.Merged(ctx, fetch(t, m), head)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		prod:                            "digest: new",
		"apps/web/base/deployment.yaml": "kind: Deployment # changed\n",
		"README.md":                     "the shop",
	} {
		if got, err := fs.ReadFile(merged, name); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
		if info, err := fs.Stat(merged, name); err != nil || info.Size() != int64(len(want)) {
			t.Errorf("%s: %v, %v; want %d bytes", name, info, err, len(want))
		}
	}
	r.commit("same file", map[string]string{prod: "digest: by hand"})
	if _, _, err := m.Merged(ctx, fetch(t, m), head); !errors.Is(err, promotion.ErrConflict) || !strings.Contains(err.Error(), prod) {
		t.Errorf("both changed one file: %v, want ErrConflict that names it", err)
	}
	r.run(r.worktree, "checkout", "--quiet", "--orphan", "other")
	r.commit("unrelated", nil)
	if _, _, err := m.Merged(ctx, fetch(t, m), head); !errors.Is(err, promotion.ErrConflict) {
		t.Errorf("no common history: %v, want ErrConflict", err)
	}
}

func TestBranchesOfOthersAreUnknownNotAbsent(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.run(r.worktree, "push", "--quiet", "origin", "HEAD:feature")
	m := r.mirror()
	if got, err := m.Branch(context.Background(), "feature"); err == nil {
		t.Errorf("Branch(feature) = %q without an error", got)
	}
	if got, err := m.Branch(context.Background(), "main"); err != nil || got != fetch(t, m) {
		t.Errorf("Branch(main) = %q, %v", got, err)
	}
}
