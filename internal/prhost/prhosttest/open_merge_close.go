package prhosttest

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func openIsIdempotent(t *testing.T, s *scene) {
	p := s.proposed("promote")
	head := s.git.Remote("promote")
	if p.Number == 0 || p.URL == "" || p.State != promotion.PullRequestOpen || p.Branch != "promote" || p.HeadSHA != head ||
		p.BaseRef != "main" || p.MergeSHA != "" || p.At.IsZero() {
		t.Fatalf("opened %+v", p)
	}
	again := s.open("promote", head)
	s.same("number opened again", again.Number, p.Number)
	found, err := s.host.Find(t.Context(), "promote")
	if err != nil {
		t.Fatal(err)
	}
	s.same("number found", found.Number, p.Number)
	if other := s.proposed("another"); other.Number == p.Number {
		t.Fatal("two branches share a pull request")
	}
}

func openNeedsAPushedBranch(t *testing.T, s *scene) {
	_, err := s.host.Open(t.Context(), promotion.NewPullRequest{Branch: "never-pushed", Title: "x"})
	if err == nil {
		t.Fatal("opened a pull request for a branch that is not there")
	}
	_, err = s.host.Find(t.Context(), "never-pushed")
	s.fails(err, promotion.ErrNotFound)
}

func openNeedsSomethingToMerge(t *testing.T, s *scene) {
	s.git.Git("push", "--quiet", "origin", "main:refs/heads/same")
	if _, err := s.host.Open(t.Context(), promotion.NewPullRequest{Branch: "same", Title: "x"}); err == nil {
		t.Fatal("opened a pull request without a change")
	}
}

func unknownIsNotFound(t *testing.T, s *scene) {
	const number = 4711
	_, err := s.host.Find(t.Context(), "nobody-s")
	s.fails(err, promotion.ErrNotFound)
	_, err = s.host.Get(t.Context(), number)
	s.fails(err, promotion.ErrNotFound)
	s.fails(s.host.Update(t.Context(), number, "a", "b"), promotion.ErrNotFound)
	s.fails(s.host.Close(t.Context(), number, "c"), promotion.ErrNotFound)
	_, err = s.host.Merge(t.Context(), number, strings.Repeat("a", 40), "m", promotion.Sluice(), "")
	s.fails(err, promotion.ErrNotFound)
}

func headFollowsPushes(t *testing.T, s *scene) {
	p := s.proposed("promote")
	for _, content := range []string{"second\n", "third\n"} { // force-pushed: each has main as its parent
		head := s.git.Push("promote", "promote.txt", content)
		got := s.eventually(p.Number, "head "+head, func(p promotion.PullRequest) bool { return p.HeadSHA == head })
		s.same("state", got.State, promotion.PullRequestOpen)
	}
}

func commitAdded(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	head := s.git.Commit("promote", "origin/promote", "more.txt", "more\n")
	s.git.Git("push", "--quiet", "origin", "promote")
	got := s.eventually(p.Number, "head "+head, func(p promotion.PullRequest) bool { return p.HeadSHA == head })
	s.same("state", got.State, promotion.PullRequestOpen)
	_, err := s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrHeadMoved)
	s.same("main", s.git.Remote("main"), main)
	s.same("number opened again", s.open("promote", head).Number, p.Number)
}

func pushedAfterMerge(_ *testing.T, s *scene) {
	p := s.proposed("promote")
	sha := s.merged(p.Number, p.HeadSHA)
	s.git.Push("promote", "promote.txt", "too late\n")
	got := s.get(p.Number)
	s.same("state", got.State, promotion.PullRequestMerged)
	s.same("head", got.HeadSHA, p.HeadSHA)
	s.same("merge", got.MergeSHA, sha)
	s.same("merge repeated", s.merged(p.Number, p.HeadSHA), sha)
}

func update(t *testing.T, s *scene) {
	p := s.proposed("promote")
	if err := s.host.Update(t.Context(), p.Number, "Another title", "Another body"); err != nil {
		t.Fatal(err)
	}
	s.same("state", s.get(p.Number).State, promotion.PullRequestOpen)
}

func merge(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	sha := s.merged(p.Number, p.HeadSHA)
	s.same("main", s.git.Remote("main"), sha)
	if parents := s.git.Parents(sha); !slices.Equal(parents, []string{main, p.HeadSHA}) {
		t.Fatalf("the merge's parents are %v, want %s and %s", parents, main, p.HeadSHA)
	}
	s.same("message", s.git.Git("show", "--no-patch", "--format=%B", sha), "Promote it\n\nbecause")
	s.same("content", s.git.Git("show", sha+":promote.txt"), "content")

	got := s.get(p.Number)
	if got.State != promotion.PullRequestMerged || got.MergeSHA != sha || got.HeadSHA != p.HeadSHA || got.MergedBy == "" {
		t.Fatalf("merged %+v", got)
	}
	s.same("merge repeated", s.merged(p.Number, p.HeadSHA), sha)
	s.same("main after it", s.git.Remote("main"), sha)
}

func mergeOntoMovedMain(t *testing.T, s *scene) {
	first, second := s.proposed("first"), s.proposed("second")
	one := s.merged(first.Number, first.HeadSHA)
	two := s.merged(second.Number, second.HeadSHA)
	s.same("first parent", s.git.Parents(two)[0], one)
	for _, name := range []string{"first.txt", "second.txt"} {
		s.same(name, s.git.Git("show", two+":"+name), "content")
	}
}

func mergeRefusesAnotherHead(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	head := s.git.Push("promote", "promote.txt", "changed behind the back\n")
	s.eventually(p.Number, "head "+head, func(p promotion.PullRequest) bool { return p.HeadSHA == head })
	_, err := s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrHeadMoved)
	s.same("main", s.git.Remote("main"), main)
}

func mergeRefusesConflict(t *testing.T, s *scene) {
	mine := s.open("mine", s.git.Push("mine", "shared.txt", "mine\n"))
	theirs := s.open("theirs", s.git.Push("theirs", "shared.txt", "theirs\n"))
	main := s.merged(mine.Number, mine.HeadSHA)
	_, err := s.merge(theirs.Number, theirs.HeadSHA)
	s.fails(err, promotion.ErrConflict)
	s.same("main", s.git.Remote("main"), main)
	s.same("state", s.get(theirs.Number).State, promotion.PullRequestOpen)
}

func twoMergesAtOnce(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	s.green(p.HeadSHA)
	results := make([]string, 4)
	var racers sync.WaitGroup
	for i := range results {
		racers.Go(func() {
			sha, err := s.host.Merge(t.Context(), p.Number, p.HeadSHA, "Promote it", promotion.Sluice(), "")
			if err != nil {
				t.Error(err)
			}
			results[i] = sha
		})
	}
	racers.Wait()
	at := s.git.Remote("main")
	for _, sha := range results {
		s.same("merge", sha, at)
	}
	s.same("first parent of the one merge", s.git.Parents(at)[0], main)
}

func closes(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Remote("main")
	for range 2 {
		if err := s.host.Close(t.Context(), p.Number, "superseded by a newer release"); err != nil {
			t.Fatal(err)
		}
	}
	got := s.get(p.Number)
	if got.State != promotion.PullRequestClosed || got.ClosedBy == "" || got.MergeSHA != "" {
		t.Fatalf("closed %+v", got)
	}
	_, err := s.merge(p.Number, p.HeadSHA)
	s.fails(err, promotion.ErrNotMergeable)
	s.same("main", s.git.Remote("main"), main)
}

func closedOpensAnew(t *testing.T, s *scene) {
	p := s.proposed("promote")
	if err := s.host.Close(t.Context(), p.Number, "not now"); err != nil {
		t.Fatal(err)
	}
	anew := s.open("promote", p.HeadSHA)
	if anew.Number <= p.Number {
		t.Fatalf("opened #%d after #%d was closed", anew.Number, p.Number)
	}
	found, err := s.host.Find(t.Context(), "promote")
	if err != nil {
		t.Fatal(err)
	}
	s.same("found", found.Number, anew.Number)
	s.merged(anew.Number, anew.HeadSHA)
	s.same("state of the closed one", s.get(p.Number).State, promotion.PullRequestClosed)
}

func closeAfterMerge(t *testing.T, s *scene) {
	p := s.proposed("promote")
	s.merged(p.Number, p.HeadSHA)
	if err := s.host.Close(t.Context(), p.Number, "too late"); err == nil {
		t.Fatal("closed what is merged")
	}
	s.same("state", s.get(p.Number).State, promotion.PullRequestMerged)
}

func status(t *testing.T, s *scene) {
	p := s.proposed("promote")
	for _, state := range []string{"pending", "failure", "success", "success"} {
		err := s.host.SetStatus(t.Context(), p.HeadSHA, promotion.CommitStatus{Context: Status, State: state, Description: "so it is", URL: "https://sluice.example.test/1"})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.host.SetStatus(t.Context(), strings.Repeat("a", 40), promotion.CommitStatus{Context: Status, State: "success"}); err == nil {
		t.Fatal("set a status on a commit that is not there")
	}
}

func protection(t *testing.T, s *scene) {
	p, err := s.host.Protection(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range p.Missing {
		if strings.TrimSpace(missing) == "" {
			t.Error("something is missing, but what?")
		}
	}
}
