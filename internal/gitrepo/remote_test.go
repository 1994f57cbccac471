package gitrepo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/promotion"
)

// remote is a bare repository served by git's own HTTP backend, and a person's
// clone of it.
type remote struct {
	t        testing.TB
	bare     string
	url      string
	worktree string
	commits  int // by others, in benchmarks
	between  atomic.Pointer[interceptor]
}

// interceptor sees every request before git does.
type interceptor func(w http.ResponseWriter, req *http.Request, git http.Handler)

func newRemote(t testing.TB, files map[string]string) *remote {
	t.Helper()
	dir := t.TempDir()
	r := &remote{t: t, bare: filepath.Join(dir, "config.git"), worktree: filepath.Join(dir, "work")}
	r.run(dir, "init", "--quiet", "--bare", "--initial-branch=main", r.bare)
	r.run(r.bare, "config", "http.receivepack", "true")
	git := &cgi.Handler{Path: filepath.Join(r.run(dir, "--exec-path"), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + dir, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"}, Stderr: io.Discard}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if between := r.between.Load(); between != nil {
			(*between)(w, req, git)
			return
		}
		git.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/config.git"
	if files != nil {
		r.run(dir, "clone", "--quiet", r.bare, r.worktree)
		r.commit("first", files)
	}
	return r
}

func (r *remote) intercept(between interceptor) { r.between.Store(&between) }

// run runs git and returns what it prints without the last line's end.
func (r *remote) run(dir string, args ...string) string {
	r.t.Helper()
	out, err := r.command(dir, args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (r *remote) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	return cmd
}

func (r *remote) write(name, content string) {
	r.t.Helper()
	file := filepath.Join(r.worktree, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit writes files in the person's clone, commits all there is and pushes main.
func (r *remote) commit(message string, files map[string]string) string {
	r.t.Helper()
	for name, content := range files {
		r.write(name, content)
	}
	r.run(r.worktree, "add", "-A")
	r.run(r.worktree, "commit", "--quiet", "--allow-empty", "-m", message)
	r.run(r.worktree, "push", "--quiet", "--force", "origin", "HEAD:main")
	return r.run(r.worktree, "rev-parse", "HEAD")
}

func (r *remote) options() gitrepo.Options {
	return gitrepo.Options{Name: "config", URL: r.url, Branch: "main", Dir: filepath.Join(r.t.TempDir(), "mirror")}
}

func (r *remote) mirror() *gitrepo.Mirror {
	r.t.Helper()
	return open(r.t, r.options())
}

func open(t testing.TB, o gitrepo.Options) *gitrepo.Mirror {
	t.Helper()
	m, err := gitrepo.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func fetch(t testing.TB, m *gitrepo.Mirror) string {
	t.Helper()
	head, err := m.Fetch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func propose(t testing.TB, m *gitrepo.Mirror, p promotion.Proposal) string {
	t.Helper()
	head, err := m.Propose(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

const (
	prod   = "apps/web/overlays/prod/kustomization.yaml"
	branch = "sluice/web/prod/7"
)

func proposal(base, branch, content string) promotion.Proposal {
	return promotion.Proposal{Branch: branch, Base: base, Message: "web: 1.1.0 to prod\n\nSluice-Promotion: 7\n",
		Files:  map[string][]byte{prod: []byte(content)},
		Author: promotion.Signature{Name: "Sluice", Email: "sluice@localhost", When: time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)}}
}

var example = map[string]string{
	prod:                            "digest: old # keep\r\n",
	"apps/web/base/deployment.yaml": "kind: Deployment\n",
	"README.md":                     "the shop",
}
