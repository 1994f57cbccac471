package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/promotion"
)

// remote is a bare repository served by git's own HTTP backend.
type remote struct {
	t        testing.TB
	bare     string
	url      string
	worktree string
}

func newRemote(t testing.TB, files map[string]string) *remote {
	t.Helper()
	dir := t.TempDir()
	r := &remote{t: t, bare: filepath.Join(dir, "config.git"), worktree: filepath.Join(dir, "work")}
	r.run(dir, "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.run(r.bare, "config", "http.receivepack", "true")
	backend := filepath.Join(strings.TrimSpace(r.run(dir, "--exec-path")), "git-http-backend")
	server := httptest.NewServer(&cgi.Handler{Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1"}})
	t.Cleanup(server.Close)
	r.url = server.URL + "/config.git"
	if files != nil {
		r.run(dir, "clone", "--quiet", r.bare, r.worktree)
		r.commit("first", files)
	}
	return r
}

func (r *remote) run(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// commit writes files in a person's clone and pushes main.
func (r *remote) commit(message string, files map[string]string) string {
	r.t.Helper()
	for name, content := range files {
		file := filepath.Join(r.worktree, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	r.run(r.worktree, "add", "-A")
	r.run(r.worktree, "commit", "--quiet", "--allow-empty", "-m", message)
	r.run(r.worktree, "push", "--quiet", "origin", "HEAD:main")
	return strings.TrimSpace(r.run(r.worktree, "rev-parse", "HEAD"))
}

func (r *remote) mirror() *gitrepo.Mirror {
	r.t.Helper()
	m, err := gitrepo.Open(context.Background(), gitrepo.Options{Name: "config", URL: r.url, BaseBranch: "main", Dir: filepath.Join(r.t.TempDir(), "mirror")})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

func proposal(base, branch, content string) promotion.Proposal {
	return promotion.Proposal{Branch: branch, Base: base, Message: "web: 1.1.0 to prod\n\nSluice-Promotion: 7\n",
		Files:  map[string][]byte{"apps/web/overlays/prod/kustomization.yaml": []byte(content)},
		Author: promotion.Signature{Name: "Sluice", Email: "sluice@localhost", When: time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)}}
}

var example = map[string]string{
	"apps/web/overlays/prod/kustomization.yaml": "digest: old # keep\r\n",
	"apps/web/base/deployment.yaml":             "kind: Deployment\n",
	"README.md":                                 "the shop",
}

func TestProposeChangesOneFileAndNothingElse(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	base, err := m.Fetch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := proposal(base, "sluice/web/prod/7", "digest: new # keep\r\n")
	head, err := m.Propose(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := m.Propose(ctx, p); err != nil || again != head {
		t.Errorf("the same proposal again: %s, %v; want %s", again, err, head)
	}
	r.run(r.bare, "fsck", "--strict")
	if got := strings.TrimSpace(r.run(r.bare, "rev-parse", "refs/heads/sluice/web/prod/7")); got != head {
		t.Errorf("the branch is at %s, want %s", got, head)
	}
	if got := r.run(r.bare, "diff", "--raw", "--abbrev=4", base, head); strings.Count(got, "\n") != 1 || !strings.Contains(got, "M\tapps/web/overlays/prod/kustomization.yaml") {
		t.Errorf("the commit changes:\n%s", got)
	}
	if got := r.run(r.bare, "cat-file", "-p", head+":apps/web/overlays/prod/kustomization.yaml"); got != "digest: new # keep\r\n" {
		t.Errorf("the file is %q", got)
	}
	if got, err := m.Branch(ctx, p.Branch); err != nil || got != head {
		t.Errorf("Branch() = %s, %v", got, err)
	}
}

func TestAStaleProposalNeverForces(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	base, _ := m.Fetch(ctx)
	first, err := m.Propose(ctx, proposal(base, "sluice/web/prod/7", "one"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Propose(ctx, proposal(base, "sluice/web/prod/7", "two")); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("creating a branch that exists: %v, want ErrRefMoved", err)
	}
	onTop := proposal(base, "sluice/web/prod/7", "two")
	onTop.Expected = first
	if _, err := m.Propose(ctx, onTop); err != nil {
		t.Errorf("with the right expected commit: %v", err)
	}
	if err := m.DeleteBranch(ctx, "sluice/web/prod/7", first); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("deleting with a stale commit: %v, want ErrRefMoved", err)
	}
}

func TestOfEightRacersOneWins(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	ctx := context.Background()
	mirrors := make([]*gitrepo.Mirror, 8)
	for i := range mirrors {
		mirrors[i] = r.mirror()
	}
	base, _ := mirrors[0].Fetch(ctx)
	var wins, moved int
	var mu sync.Mutex
	var group sync.WaitGroup
	for i, m := range mirrors {
		group.Go(func() {
			_, err := m.Propose(ctx, proposal(base, "sluice/web/prod/7", fmt.Sprint("racer ", i)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				wins++
			case errors.Is(err, promotion.ErrRefMoved):
				moved++
			default:
				t.Errorf("racer %d: %v", i, err)
			}
		})
	}
	group.Wait()
	if wins != 1 || moved != 7 {
		t.Errorf("%d won and %d saw that the ref moved, want 1 and 7", wins, moved)
	}
}

func TestDeletedBranchIsGoneForEveryMirror(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	one, two, ctx := r.mirror(), r.mirror(), context.Background()
	base, _ := one.Fetch(ctx)
	head, err := one.Propose(ctx, proposal(base, "sluice/web/prod/7", "new"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Fetch(ctx); err != nil {
		t.Fatal(err)
	}
	if got, _ := two.Branch(ctx, "sluice/web/prod/7"); got != head {
		t.Errorf("the other mirror sees the branch at %q, want %s", got, head)
	}
	for range 2 { // the second time it is gone already
		if err := one.DeleteBranch(ctx, "sluice/web/prod/7", head); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := two.Fetch(ctx); err != nil {
		t.Fatal(err)
	}
	if got, _ := two.Branch(ctx, "sluice/web/prod/7"); got != "" {
		t.Errorf("the other mirror still sees the branch at %s", got)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	first, _ := m.Fetch(ctx)
	second := r.commit("second", map[string]string{"apps/web/base/service.yaml": "kind: Service\n", "README.md": "changed"})
	r.run(r.worktree, "checkout", "--quiet", "-b", "side", first)
	if err := os.WriteFile(filepath.Join(r.worktree, "side.txt"), []byte("side"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.run(r.worktree, "add", "-A")
	r.run(r.worktree, "commit", "--quiet", "-m", "on the side")
	side := strings.TrimSpace(r.run(r.worktree, "rev-parse", "HEAD"))
	r.run(r.worktree, "checkout", "--quiet", "-")
	r.run(r.worktree, "merge", "--quiet", "--no-ff", "-m", "merge the side", "side")
	r.run(r.worktree, "push", "--quiet", "origin", "HEAD:main")
	head, err := m.Fetch(ctx)
	if err != nil {
		t.Fatal(err)
	}
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
	newest, err := m.Commits(ctx, "", head, 1)
	if err != nil || len(newest) != 1 || newest[0].SHA != head {
		t.Errorf("the newest one: %+v, %v", newest, err)
	}
	for _, tt := range []struct {
		descendant, ancestor string
		want                 bool
	}{{head, first, true}, {head, side, true}, {head, head, true}, {first, head, false}, {second, side, false}} {
		if got, err := m.Contains(ctx, tt.descendant, tt.ancestor); err != nil || got != tt.want {
			t.Errorf("Contains(%.7s, %.7s) = %v, %v", tt.descendant, tt.ancestor, got, err)
		}
	}
	if _, err := m.Contains(ctx, head, strings.Repeat("a", 40)); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("an unknown commit: %v, want ErrNotFound", err)
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	base, _ := m.Fetch(ctx)
	head, err := m.Propose(ctx, proposal(base, "sluice/web/prod/7", "digest: new"))
	if err != nil {
		t.Fatal(err)
	}
	r.commit("elsewhere", map[string]string{"apps/web/base/deployment.yaml": "kind: Deployment # changed\n"})
	main, _ := m.Fetch(ctx)
	merged, err := m.Merged(ctx, main, head)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"apps/web/overlays/prod/kustomization.yaml": "digest: new",
		"apps/web/base/deployment.yaml":             "kind: Deployment # changed\n",
		"README.md":                                 "the shop",
	} {
		if got, err := fs.ReadFile(merged, name); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
	r.commit("same file", map[string]string{"apps/web/overlays/prod/kustomization.yaml": "digest: by hand"})
	main, _ = m.Fetch(ctx)
	if _, err := m.Merged(ctx, main, head); !errors.Is(err, promotion.ErrConflict) || !strings.Contains(err.Error(), "kustomization.yaml") {
		t.Errorf("both changed one file: %v, want ErrConflict that names it", err)
	}
}

func TestRepositoriesThatFightBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		if head, err := newRemote(t, nil).mirror().Fetch(ctx); err != nil || head != "" {
			t.Errorf("Fetch() = %q, %v; want no head and no error", head, err)
		}
	})
	t.Run("forced main", func(t *testing.T) {
		t.Parallel()
		r := newRemote(t, example)
		m := r.mirror()
		r.run(r.worktree, "commit", "--quiet", "--amend", "-m", "another first")
		r.run(r.worktree, "push", "--quiet", "--force", "origin", "HEAD:main")
		want := strings.TrimSpace(r.run(r.worktree, "rev-parse", "HEAD"))
		if head, err := m.Fetch(ctx); err != nil || head != want {
			t.Errorf("Fetch() = %q, %v; want %q", head, err, want)
		}
	})
	t.Run("damaged mirror", func(t *testing.T) {
		t.Parallel()
		r := newRemote(t, example)
		dir := filepath.Join(t.TempDir(), "mirror")
		options := gitrepo.Options{Name: "config", URL: r.url, BaseBranch: "main", Dir: dir}
		m, err := gitrepo.Open(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		head, _ := m.Fetch(ctx)
		if err := os.RemoveAll(filepath.Join(dir, "objects")); err != nil {
			t.Fatal(err)
		}
		again, err := gitrepo.Open(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		if tree, err := again.Tree(ctx, head); err != nil {
			t.Errorf("the mirror was not made anew: %v", err)
		} else if _, err := fs.ReadFile(tree, "README.md"); err != nil {
			t.Errorf("the mirror was not made anew: %v", err)
		}
	})
	t.Run("links, modules and odd names", func(t *testing.T) {
		t.Parallel()
		r := newRemote(t, example)
		if err := os.Symlink("README.md", filepath.Join(r.worktree, "link")); err != nil {
			t.Fatal(err)
		}
		r.run(r.worktree, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
		r.commit("odd", map[string]string{"caf\xe9/\xff.yaml": "x"})
		m := r.mirror()
		head, _ := m.Fetch(ctx)
		tree, err := m.Tree(ctx, head)
		if err != nil {
			t.Fatal(err)
		}
		if target, err := fs.ReadLink(tree, "link"); err != nil || target != "README.md" {
			t.Errorf("the link leads to %q, %v", target, err)
		}
		if _, err := fs.ReadFile(tree, "link"); err == nil {
			t.Error("a link was followed")
		}
		commit, err := m.Propose(ctx, proposal(head, "sluice/odd", "new"))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.run(r.bare, "diff", "--name-only", head, commit); strings.Count(got, "\n") != 1 {
			t.Errorf("a proposal changed more than its file:\n%s", got)
		}
	})
}

func TestCredentialsStayOutOfErrors(t *testing.T) {
	t.Parallel()
	const token = "sluice_secret_token"
	for _, url := range []string{"http://user:" + token + "@127.0.0.1:1/config.git", "http://127.0.0.1:1/" + token + ".git", "http://%zz:" + token + "@x"} {
		_, err := gitrepo.Open(context.Background(), gitrepo.Options{Name: "config", URL: url, BaseBranch: "main", Dir: t.TempDir(),
			Auth: func(context.Context) (string, string, error) { return "sluice", token, nil }})
		if err == nil {
			t.Fatalf("%s answered", url)
		}
		if strings.Contains(err.Error(), token) {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}
