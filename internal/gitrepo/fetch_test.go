package gitrepo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestEmptyRepositoryGetsItsFirstCommit(t *testing.T) {
	t.Parallel()
	r := newRemote(t, nil)
	m := r.mirror()
	if head := fetch(t, m); head != "" {
		t.Errorf("Fetch() = %q, want no head", head)
	}
	if _, err := m.Propose(context.Background(), proposal("", branch, "new")); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("a proposal on no commit: %v, want ErrNotFound", err)
	}
	r.run(filepath.Dir(r.bare), "clone", "--quiet", r.bare, r.worktree)
	first := r.commit("first", example)
	if head := fetch(t, m); head != first {
		t.Errorf("Fetch() = %q, want %s", head, first)
	}
	head := propose(t, m, proposal(first, branch, "new"))
	if got := r.run(r.bare, "rev-parse", branch); got != head {
		t.Errorf("the branch is at %s, want %s", got, head)
	}
}

func TestForcedMain(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	old := r.commit("to be lost", map[string]string{"README.md": "lost"})
	fetch(t, m)
	r.run(r.worktree, "reset", "--quiet", "--hard", "HEAD^")
	now := r.commit("another second", map[string]string{"README.md": "instead"})
	r.run(r.bare, "reflog", "expire", "--expire=now", "--all")
	r.run(r.bare, "gc", "--quiet", "--prune=now")
	if head := fetch(t, m); head != now {
		t.Errorf("Fetch() = %q, want %s", head, now)
	}
	if holds, err := m.Contains(ctx, now, old); err != nil || holds {
		t.Errorf("Contains(now, old) = %v, %v; the lost commit is still known here", holds, err)
	}
	if err := readAll(m, old); err != nil {
		t.Errorf("the lost commit cannot be read here any more: %v", err)
	}
}

func TestAMirrorIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m, err := gitrepo.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	base := fetch(t, m)
	head := propose(t, m, proposal(base, branch, "new"))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	r.run(o.Dir, "fsck", "--strict")
	left := filepath.Join(o.Dir, "objects/pack/tmp_pack_1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.intercept(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		http.Error(w, "down", http.StatusBadGateway)
	})
	again := open(t, o)
	if got, err := again.Branch(context.Background(), branch); err != nil || got != head {
		t.Errorf("while the remote is down, Branch() = %q, %v; want %s", got, err, head)
	}
	tree, err := again.Tree(context.Background(), head)
	if err != nil {
		t.Fatal(err)
	}
	if content, err := fs.ReadFile(tree, prod); err != nil || string(content) != "new" {
		t.Errorf("while the remote is down, the file is %q, %v", content, err)
	}
	if _, err := again.Fetch(context.Background()); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("Fetch() while the remote is down: %v", err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what an interrupted fetch left is still there: %v", err)
	}
}

func TestManySmallFetchesLeaveFewPacks(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	o := r.options()
	m := open(t, o)
	for n := range 12 {
		want := r.commit(fmt.Sprint(n), map[string]string{"README.md": fmt.Sprint(n)})
		if head := fetch(t, m); head != want {
			t.Fatalf("Fetch() = %s, want %s", head, want)
		}
	}
	if packs, err := filepath.Glob(filepath.Join(o.Dir, "objects/pack/*")); err != nil || len(packs) > 2 {
		t.Errorf("12 fetches left %q, %v", packs, err)
	}
	r.run(o.Dir, "fsck", "--strict")
}

func TestReadsGoOnDuringFetches(t *testing.T) {
	t.Parallel()
	const applications = 300
	r := newLarge(t, applications, 5)
	r.run(filepath.Dir(r.bare), "clone", "--quiet", r.bare, r.worktree)
	m, ctx := r.mirror(), context.Background()
	head := fetch(t, m)
	done := make(chan struct{})
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				tree, err := m.Tree(ctx, head)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := fs.ReadFile(tree, overlay((i*70+n)%applications)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range 5 {
		files := map[string]string{}
		for a := range 60 * n { // some are unpacked, some kept as packs
			files[overlay(a)] = overlayContent(a, 100+n)
		}
		want := r.commit(fmt.Sprint(n), files)
		if got := fetch(t, m); got != want {
			t.Errorf("Fetch() = %s, want %s", got, want)
		}
		propose(t, m, proposal(want, fmt.Sprint("sluice/during/", n), "new"))
	}
	close(done)
	group.Wait()
}

func TestWaitingFetchesShareOne(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m := r.mirror()
	var asked atomic.Int32
	first, goOn := make(chan struct{}), make(chan struct{})
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		if asked.Add(1) == 1 {
			close(first)
			<-goOn
		}
		git.ServeHTTP(w, req)
	})
	var group sync.WaitGroup
	group.Go(func() { fetch(t, m) })
	<-first
	waiting, stop := context.WithCancel(context.Background())
	stop()
	if _, err := m.Fetch(waiting); !errors.Is(err, context.Canceled) {
		t.Errorf("a fetch that gave up waiting: %v", err)
	}
	for range 7 {
		ctx := &waits{Context: context.Background(), began: make(chan struct{})}
		group.Go(func() {
			if _, err := m.Fetch(ctx); err != nil {
				t.Error(err)
			}
		})
		<-ctx.began
	}
	close(goOn)
	group.Wait()
	if got := asked.Load(); got != 2 {
		t.Errorf("the remote was asked %d times, want once for the first and once for all who waited", got)
	}
}

// waits is a context that tells when somebody begins to wait for its end.
type waits struct {
	context.Context
	once  sync.Once
	began chan struct{}
}

func (w *waits) Done() <-chan struct{} {
	w.once.Do(func() { close(w.began) })
	return w.Context.Done()
}

func TestAFetchDoesNotForgetAPushMadeMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m := r.mirror()
	base := fetch(t, m)
	told, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		git.ServeHTTP(w, req)
		if req.URL.Query().Get("service") == "git-upload-pack" {
			once.Do(func() { close(told); <-goOn })
		}
	})
	var group sync.WaitGroup
	group.Go(func() { fetch(t, m) })
	<-told
	head := propose(t, m, proposal(base, branch, "new"))
	close(goOn)
	group.Wait()
	if got, err := m.Branch(context.Background(), branch); err != nil || got != head {
		t.Errorf("Branch() = %q, %v; want %s, which was pushed while the fetch ran", got, err, head)
	}
}
