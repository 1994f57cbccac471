package gitrepo_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/promotion"
)

const pull = "refs/pull/12/head"

// pullRequest is a commit on a ref of a pull request, by somebody else.
func (r *remote) pullRequest(ref, base string, files map[string]string) string {
	r.t.Helper()
	r.run(r.worktree, "checkout", "--quiet", "--detach", base)
	for name, content := range files {
		r.write(name, content)
	}
	r.run(r.worktree, "add", "-A")
	r.run(r.worktree, "commit", "--quiet", "-m", "from a fork")
	r.run(r.worktree, "push", "--quiet", "--force", "origin", "HEAD:"+ref)
	head := r.run(r.worktree, "rev-parse", "HEAD")
	r.run(r.worktree, "checkout", "--quiet", "main")
	return head
}

func TestFetchRef(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, ctx := open(t, o), context.Background()
	base := fetch(t, m)
	want := r.pullRequest(pull, base, map[string]string{prod: "by hand"})
	if _, err := m.Tree(ctx, want); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("before it was fetched: %v", err)
	}
	for range 2 {
		if got, err := m.FetchRef(ctx, pull); err != nil || got != want {
			t.Fatalf("FetchRef() = %s, %v; want %s", got, err, want)
		}
		now := r.commit("elsewhere", map[string]string{"README.md": want})
		if head := fetch(t, m); head != now { // which must not forget what was brought
			t.Fatalf("Fetch() = %s, want %s", head, now)
		}
		merged, _, err := m.Merged(ctx, now, want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := fs.ReadFile(merged, prod); err != nil || string(got) != "by hand" {
			t.Errorf("merged, the file is %q, %v", got, err)
		}
		if holds, err := m.Contains(ctx, want, base); err != nil || !holds {
			t.Errorf("Contains(head, base) = %v, %v", holds, err)
		}
		if commit, err := m.Commit(ctx, want); err != nil || commit.SHA != want || commit.Changed[0] != prod {
			t.Errorf("Commit() = %+v, %v", commit, err)
		}
		want = r.pullRequest(pull, now, map[string]string{prod: "by hand", "more.yaml": now})
		if got, err := m.FetchRef(ctx, pull); err != nil || got != want {
			t.Fatalf("after a push FetchRef() = %s, %v; want %s", got, err, want)
		}
	}
	if got := r.run(o.Dir, "for-each-ref", "--format=%(refname) %(objectname)", "refs/brought"); got != "refs/brought/pull/12/head "+want {
		t.Errorf("the mirror has %q", got)
	}
	r.run(o.Dir, "fsck", "--strict")
	if err := m.ForgetRef(pull); err != nil {
		t.Error(err)
	}
	if got := r.run(o.Dir, "for-each-ref", "refs/brought"); got != "" {
		t.Errorf("when it is forgotten the mirror has %q", got)
	}
	if err := m.ForgetRef(pull); err != nil {
		t.Errorf("forgetting it again: %v", err)
	}
}

func TestARefThatIsGone(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, ctx := open(t, o), context.Background()
	r.pullRequest(pull, fetch(t, m), map[string]string{"new.yaml": "new"})
	if got, err := m.FetchRef(ctx, pull); err != nil || got == "" {
		t.Fatal(got, err)
	}
	r.run(r.bare, "update-ref", "-d", pull)
	if got, err := m.FetchRef(ctx, pull); err != nil || got != "" {
		t.Errorf("FetchRef() of what is gone = %q, %v", got, err)
	}
	if got := r.run(o.Dir, "for-each-ref", "refs/brought"); got != "" {
		t.Errorf("the mirror still has %q", got)
	}
}

func TestFetchRefRefuses(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.run(r.bare, "tag", "-a", "-m", "a tag", "v1", "main")
	m := r.mirror()
	for ref, says := range map[string]string{"main": "full name", "refs/heads/a..b": "full name", "refs/heads/*": "full name", "": "full name",
		"refs/tags/v1": "no commit"} {
		if got, err := m.FetchRef(context.Background(), ref); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("FetchRef(%q) = %q, %v; want an error with %q", ref, got, err, says)
		}
	}
	fetch(t, m)
}

func TestBroughtRefsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, err := gitrepo.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := r.pullRequest(pull, fetch(t, m), map[string]string{"new.yaml": "new"})
	if _, err := m.FetchRef(context.Background(), pull); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	asked := 0
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		asked++
		git.ServeHTTP(w, req)
	})
	m = open(t, o)
	if got, err := m.FetchRef(context.Background(), pull); err != nil || got != want || asked != 1 {
		t.Errorf("FetchRef() = %s, %v after %d requests; want %s after 1", got, err, asked, want)
	}
}

func TestWhatIsBroughtIsFetchedAgainByADamagedMirror(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, ctx := open(t, o), context.Background()
	want := r.pullRequest(pull, fetch(t, m), map[string]string{"new.yaml": "new"})
	if _, err := m.FetchRef(ctx, pull); err != nil {
		t.Fatal(err)
	}
	blob := r.run(r.bare, "rev-parse", want+":new.yaml")
	if err := os.Remove(filepath.Join(o.Dir, "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	if readAll(m, want) == nil {
		t.Fatal("a missing file was read")
	}
	if got, err := m.FetchRef(ctx, pull); err != nil || got != want {
		t.Errorf("FetchRef() = %s, %v; want %s", got, err, want)
	}
	if err := readAll(m, want); err != nil {
		t.Error(err)
	}
}
