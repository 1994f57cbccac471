package gitrepo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestProposeChangesOneFileAndNothingElse(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.write("bin/run", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(r.worktree, "bin/run"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.commit("a script", nil)
	m := r.mirror()
	base := fetch(t, m)
	p := proposal(base, branch, "digest: new # keep\r\n")
	head := propose(t, m, p)
	if again, err := m.Propose(context.Background(), p); err != nil || again != head {
		t.Errorf("the same proposal again: %s, %v; want %s", again, err, head)
	}
	if other, err := r.mirror().Propose(context.Background(), p); err != nil || other != head {
		t.Errorf("the same proposal by another process: %s, %v; want %s", other, err, head)
	}
	r.run(r.bare, "fsck", "--strict")
	if got := r.run(r.bare, "rev-parse", "refs/heads/"+branch); got != head {
		t.Errorf("the branch is at %s, want %s", got, head)
	}
	before, after := r.run(r.bare, "ls-tree", "-r", base), r.run(r.bare, "ls-tree", "-r", head)
	blob := func(commit string) string { return r.run(r.bare, "rev-parse", commit+":"+prod) }
	if want := strings.Replace(before, blob(base), blob(head), 1); blob(base) == blob(head) || after != want {
		t.Errorf("the tree became\n%s\nwant\n%s", after, want)
	}
	if got := r.run(r.bare, "cat-file", "-p", head+":"+prod); got != "digest: new # keep\r" {
		t.Errorf("the file is %q", got)
	}
	want := "parent " + base + "\nauthor Sluice <sluice@localhost> 1772332200 +0000\ncommitter Sluice <sluice@localhost> 1772332200 +0000\n\n" + p.Message
	if _, got, _ := strings.Cut(r.run(r.bare, "cat-file", "-p", head)+"\n", "\n"); got != want {
		t.Errorf("the commit says\n%s\nwant\n%s", got, want)
	}
	if got, err := m.Branch(context.Background(), branch); err != nil || got != head {
		t.Errorf("Branch() = %s, %v", got, err)
	}
}

func TestAStaleProposalNeverForces(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	base := fetch(t, m)
	first := propose(t, m, proposal(base, branch, "one"))
	two := proposal(base, branch, "two")
	if _, err := m.Propose(ctx, two); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("creating a branch that exists: %v, want ErrRefMoved", err)
	}
	two.Expected = first
	second := propose(t, m, two)
	three := proposal(base, branch, "three")
	three.Expected = first
	if _, err := m.Propose(ctx, three); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("with an outdated expected commit: %v, want ErrRefMoved", err)
	}
	if err := m.DeleteBranch(ctx, branch, first); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("deleting with an outdated commit: %v, want ErrRefMoved", err)
	}
	if got := r.run(r.bare, "rev-parse", branch); got != second {
		t.Errorf("the branch is at %s, want %s", got, second)
	}
	r.run(r.bare, "update-ref", "-d", "refs/heads/"+branch)
	three.Expected = second
	if _, err := m.Propose(ctx, three); !errors.Is(err, promotion.ErrRefMoved) {
		t.Errorf("when the branch is gone: %v, want ErrRefMoved", err)
	}
}

// TestOfManyRacersOneWins races mirrors, and people who push by plain git, for one
// branch. Of the mirrors a hook refuses those with odd numbers.
func TestOfManyRacersOneWins(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.hook("update", `git cat-file -p $3:`+prod+` | grep -q '[13579]$' && { echo odd ones may not >&2; exit 1; }; exit 0`)
	mirrors := make([]*gitrepo.Mirror, 8)
	for i := range mirrors {
		mirrors[i] = r.mirror()
	}
	base := fetch(t, mirrors[0])
	r.write(prod, "a person's")
	r.run(r.worktree, "commit", "--quiet", "-a", "-m", "a person's")
	person := r.run(r.worktree, "rev-parse", "HEAD")
	var mu sync.Mutex
	var won []string
	var group sync.WaitGroup
	for i, m := range mirrors {
		group.Go(func() {
			head, err := m.Propose(context.Background(), proposal(base, branch, fmt.Sprint("racer ", i)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && i%2 == 0:
				won = append(won, head)
			case err == nil:
				t.Errorf("racer %d won although the hook refuses it", i)
			case errors.Is(err, promotion.ErrRefMoved):
			case i%2 == 1 && strings.Contains(err.Error(), "odd ones may not"):
			default:
				t.Errorf("racer %d: %v", i, err)
			}
		})
	}
	for range 2 {
		group.Go(func() {
			if r.command(r.worktree, "push", "--quiet", "origin", person+":refs/heads/"+branch).Run() == nil {
				mu.Lock()
				defer mu.Unlock()
				won = append(won, person)
			}
		})
	}
	group.Wait()
	at := r.run(r.bare, "rev-parse", branch)
	if others := slices.DeleteFunc(slices.Clone(won), func(head string) bool { return head == at }); len(won) == 0 || len(others) > 0 {
		t.Errorf("the branch is at %s, but these also won: %v", at, others)
	}
}

func (r *remote) hook(name, script string) {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.bare, "hooks", name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

func TestDeletedBranchIsGoneForEveryMirror(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	one, two, ctx := r.mirror(), r.mirror(), context.Background()
	head := propose(t, one, proposal(fetch(t, one), branch, "new"))
	fetch(t, two)
	if got, _ := two.Branch(ctx, branch); got != head {
		t.Errorf("the other mirror sees the branch at %q, want %s", got, head)
	}
	for range 2 { // the second time it is gone already
		if err := one.DeleteBranch(ctx, branch, head); err != nil {
			t.Fatal(err)
		}
	}
	fetch(t, two)
	for _, m := range []*gitrepo.Mirror{one, two} {
		if got, err := m.Branch(ctx, branch); got != "" || err != nil {
			t.Errorf("a mirror still sees the branch at %s, %v", got, err)
		}
	}
}

func TestBadProposalsAreRefused(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m, ctx := r.mirror(), context.Background()
	base := fetch(t, m)
	for name, change := range map[string]func(*promotion.Proposal){
		"the base branch":        func(p *promotion.Proposal) { p.Branch, p.Expected = "main", base },
		"a person's branch":      func(p *promotion.Proposal) { p.Branch = "feature" },
		"no name of a branch":    func(p *promotion.Proposal) { p.Branch = "sluice/a..b" },
		"an unknown base":        func(p *promotion.Proposal) { p.Base = strings.Repeat("a", 40) },
		"no commit as base":      func(p *promotion.Proposal) { p.Base = "main" },
		"a path outside":         func(p *promotion.Proposal) { p.Files["../x"] = nil },
		"a path through a file":  func(p *promotion.Proposal) { p.Files["README.md/x"] = nil },
		"an author of two lines": func(p *promotion.Proposal) { p.Author.Name = "Eve\nparent 0" },
		"no time":                func(p *promotion.Proposal) { p.Author = promotion.Signature{Name: "Sluice"} },
	} {
		p := proposal(base, branch, "new")
		change(&p)
		if head, err := m.Propose(ctx, p); err == nil {
			t.Errorf("%s: made %s", name, head)
		}
	}
	if got := r.run(r.bare, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("the remote has\n%s", got)
	}
	if err := m.DeleteBranch(ctx, "main", base); err == nil {
		t.Error("the base branch was deleted")
	}
}

func TestWhatIsPushedDoesNotGrowWithTheRepository(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ applications, history int }{{50, 0}, {1000, 300}} {
		r := newLarge(t, size.applications, size.history)
		m := r.mirror()
		base := fetch(t, m)
		var received int64
		r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
			body := &counter{ReadCloser: req.Body}
			req.Body = body
			git.ServeHTTP(w, req)
			received += body.n
		})
		p := proposal(base, branch, "")
		p.Files = map[string][]byte{overlay(7): []byte(overlayContent(7, 9))}
		head := propose(t, m, p)
		// A blob, a commit, and the trees of overlays/prod, overlays, app-0007, apps and the root.
		if got := strings.Count(r.run(r.bare, "rev-list", "--objects", head, "^"+base), "\n") + 1; got != 7 {
			t.Errorf("%d new objects in %+v, want 7", got, size)
		}
		if received > 2000 {
			t.Errorf("%d bytes were pushed in %+v, want at most 2000", received, size)
		}
	}
}

func TestEveryKindOfEditArrives(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef\n", 20_000)
	r := newRemote(t, example)
	base := r.commit("long", map[string]string{prod: long})
	m := r.mirror()
	fetch(t, m)
	for name, content := range map[string]string{"in the middle": long[:100_000] + "changed" + long[100_003:], "before": "# new\n" + long, "after": long + "new",
		"less": long[500:], "less and less": long[:100_000], "nothing": "", "twice": long + long, "far apart": "a" + long[1:len(long)-1] + "z"} {
		p := proposal(base, "sluice/edit/"+strings.ReplaceAll(name, " ", "-"), content)
		p.Files["apps/web/overlays/prod/new.yaml"] = []byte("new")
		head := propose(t, m, p)
		var got bytes.Buffer
		cmd := r.command(r.bare, "cat-file", "blob", head+":"+prod)
		cmd.Stdout = &got
		if err := cmd.Run(); err != nil || got.String() != content {
			t.Errorf("%s: %d bytes arrived (%v), want %d", name, got.Len(), err, len(content))
		}
	}
	r.run(r.bare, "fsck", "--strict")
}

type counter struct {
	io.ReadCloser
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}

func TestARefusalSaysWhy(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	r.hook("pre-receive", "echo 'no promotions on Fridays' >&2; exit 1")
	m := r.mirror()
	_, err := m.Propose(context.Background(), proposal(fetch(t, m), branch, "new"))
	if err == nil || errors.Is(err, promotion.ErrRefMoved) || !strings.Contains(err.Error(), "no promotions on Fridays") {
		t.Errorf("a hook's refusal: %v", err)
	}
	if got, err := m.Branch(context.Background(), branch); got != "" || err != nil {
		t.Errorf("the branch that was refused is at %s, %v", got, err)
	}
}

func TestALostAnswerIsNoFailure(t *testing.T) {
	t.Parallel()
	r := newRemote(t, example)
	m := r.mirror()
	base := fetch(t, m)
	r.intercept(func(w http.ResponseWriter, req *http.Request, git http.Handler) {
		if strings.HasSuffix(req.URL.Path, "/git-receive-pack") {
			git.ServeHTTP(discard{http.Header{}}, req)
			http.Error(w, "the proxy gave up", http.StatusBadGateway)
			return
		}
		git.ServeHTTP(w, req)
	})
	head, err := m.Propose(context.Background(), proposal(base, branch, "new"))
	if err != nil || head != r.run(r.bare, "rev-parse", branch) {
		t.Errorf("Propose() = %s, %v although the branch is there", head, err)
	}
}

type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
