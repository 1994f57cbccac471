package builtin_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

func mona() promotion.Actor {
	return promotion.Actor{Name: "mona", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}}
}

// propose pushes a change of one file and opens its pull request.
func propose(t *testing.T, s *site, git *prhosttest.Clone, branch string) promotion.PullRequest {
	t.Helper()
	p, err := s.port.Open(t.Context(), promotion.NewPullRequest{
		Branch: branch, Head: git.Push(branch, branch+".txt", "content\n"), Title: "Change " + branch, Body: "why"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func get(t *testing.T, s *site, number int) promotion.PullRequest {
	t.Helper()
	p, err := s.port.Get(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMergeNamesWhoMerged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))

	p := propose(t, s, git, "by-button")
	sha, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "Merge it\n", mona(), "")
	if err != nil {
		t.Fatal(err)
	}
	git.Git("fetch", "--quiet", "origin")
	who := git.Git("show", "--no-patch", "--format=%an <%ae>, %cn <%ce>", sha)
	if want := "mona <mona@127.0.0.1>, Sluice <sluice@127.0.0.1>"; who != want {
		t.Errorf("the merge is by %s, want %s", who, want)
	}
	if got := get(t, s, p.Number).MergedBy; got != "mona" {
		t.Errorf("merged by %q, want mona", got)
	}

	p = propose(t, s, git, "by-hand")
	git.MergeByHand("by-hand", "--no-ff")
	if got := get(t, s, p.Number).MergedBy; got != "rita" {
		t.Errorf("merged by %q, want rita, who pushed it, and not the author that the commit claims", got)
	}
}

func TestMergeNeedsTheRequiredStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *builtin.Options) { o.RequiredStatus = "sluice/gates" })
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	p := propose(t, s, git, "promote")
	main := git.Remote("main")

	refused := func(want string) {
		t.Helper()
		_, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "m", mona(), "")
		if !errors.Is(err, promotion.ErrNotMergeable) || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want ErrNotMergeable that says %q", err, want)
		}
		if at := git.Remote("main"); at != main {
			t.Fatalf("main moved to %s", at)
		}
	}
	set := func(sha, name, state string) {
		t.Helper()
		if err := s.port.SetStatus(t.Context(), sha, promotion.CommitStatus{Context: name, State: state, Description: "d"}); err != nil {
			t.Fatal(err)
		}
	}
	refused("sluice/gates is not set")
	set(p.HeadSHA, "other", "success")
	set(main, "sluice/gates", "success")
	refused("sluice/gates is not set")
	for _, state := range []string{"pending", "success", "failure"} {
		set(p.HeadSHA, "sluice/gates", state)
	}
	refused("sluice/gates is failure")
	set(p.HeadSHA, "sluice/gates", "success")
	if _, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "m", mona(), ""); err != nil {
		t.Fatal(err)
	}
}

// A crash between moving main and writing the row: here the database refuses
// the row, which leaves exactly what a crash leaves.
func TestMergeRepairsWhatACrashLeft(t *testing.T) {
	t.Parallel()
	for name, retry := range map[string]func(t *testing.T, s *site, p promotion.PullRequest) string{
		"by looking": func(t *testing.T, s *site, p promotion.PullRequest) string {
			return get(t, s, p.Number).MergeSHA
		},
		"by finding": func(t *testing.T, s *site, p promotion.PullRequest) string {
			found, err := s.port.Find(t.Context(), p.Branch)
			if err != nil {
				t.Fatal(err)
			}
			return found.MergeSHA
		},
		"by merging again": func(t *testing.T, s *site, p promotion.PullRequest) string {
			sha, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "Merge it", mona(), "")
			if err != nil {
				t.Fatal(err)
			}
			return sha
		},
		"by listing": func(t *testing.T, s *site, p promotion.PullRequest) string {
			list, err := s.host.PullRequests(t.Context(), repository, promotion.PullRequestMerged)
			if err != nil || len(list) != 1 {
				t.Fatalf("list is %v, %v", list, err)
			}
			return list[0].MergeSHA
		},
		"by a push of somebody else": func(t *testing.T, s *site, p promotion.PullRequest) string {
			prhosttest.NewClone(t, s.remote("rita", "rita-s-token")).Push("unrelated", "x", "y")
			var sha string
			if err := s.pool.QueryRow(t.Context(), "SELECT merge_sha FROM prhost.pull_requests").Scan(&sha); err != nil {
				t.Fatal(err)
			}
			return sha
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
			p := propose(t, s, git, "promote")
			before := git.Remote("main")
			execute(t, s, `CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$;
				CREATE TRIGGER crash BEFORE UPDATE ON prhost.pull_requests FOR EACH ROW WHEN (NEW.state = 'merged') EXECUTE FUNCTION crash()`)
			if _, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "Merge it", mona(), ""); err == nil {
				t.Fatal("merged although the row could not be written")
			}
			main := git.Remote("main")
			if main == before {
				t.Fatal("main did not move: nothing to repair")
			}
			execute(t, s, `DROP TRIGGER crash ON prhost.pull_requests`)

			if sha := retry(t, s, p); sha != main {
				t.Errorf("merged as %q, want %s", sha, main)
			}
			got := get(t, s, p.Number)
			if got.State != promotion.PullRequestMerged || got.MergeSHA != main || got.MergedBy != "mona" {
				t.Errorf("repaired to %+v, want merged as %s by mona", got, main)
			}
			if at := git.Remote("main"); at != main {
				t.Errorf("main moved again, to %s", at)
			}
		})
	}
}

func execute(t *testing.T, s *site, statement string) {
	t.Helper()
	if _, err := s.pool.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// Merges by two servers and pushes to main by people race for main: all of
// them land, each once.
func TestMergesRaceWithPushes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	second, err := builtin.Open(t.Context(), builtin.Options{Pool: s.pool, Dir: s.dir, BaseURL: s.server.URL})
	if err != nil {
		t.Fatal(err)
	}
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	var open []promotion.PullRequest
	for i := range 4 {
		open = append(open, propose(t, s, git, fmt.Sprintf("branch-%d", i)))
	}
	start := git.Remote("main")

	var racers sync.WaitGroup
	for i, p := range open {
		port := []promotion.PullRequestHost{s.port, second.Repository(repository)}[i%2]
		racers.Go(func() {
			if _, err := port.Merge(t.Context(), p.Number, p.HeadSHA, "Merge "+p.Branch, mona(), ""); err != nil {
				t.Error(err)
			}
		})
	}
	pushed := 0
	for i := range 3 {
		git.Commit("main", "origin/main", fmt.Sprintf("pushed-%d", i), "x")
		if _, err := git.Try("push", "origin", "main"); err == nil { // may lose, as against any other pusher
			pushed++
		}
	}
	racers.Wait()

	git.Git("fetch", "--quiet", "origin")
	if got, want := git.Git("rev-list", "--count", "--first-parent", start+"..origin/main"), fmt.Sprint(len(open)+pushed); got != want {
		t.Errorf("main has %s new commits, want %s", got, want)
	}
	for _, p := range open {
		got := get(t, s, p.Number)
		if got.State != promotion.PullRequestMerged {
			t.Errorf("#%d is %s", p.Number, got.State)
		}
		git.Git("merge-base", "--is-ancestor", got.MergeSHA, "origin/main")
	}
}

func TestMergeAfterTheBranchIsGone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	p := propose(t, s, git, "promote")
	git.Git("push", "--quiet", "origin", ":promote")
	if _, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "m", mona(), ""); !errors.Is(err, promotion.ErrNotMergeable) {
		t.Errorf("error is %v, want ErrNotMergeable", err)
	}
	if got := get(t, s, p.Number); got.ClosedBy != "rita" {
		t.Errorf("closed by %q, want rita, who deleted the branch", got.ClosedBy)
	}
}
