package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

func TestPeople(t *testing.T) {
	t.Parallel()
	prhosttest.People(t, nil, func(t *testing.T) prhosttest.Fixture {
		s := fakegithub.New(t)
		s.Require(prhosttest.Status)
		return prhosttest.Fixture{Host: newHost(t, s), Remote: s.Remote, Person: s.Person()}
	})
}

// A branch of a fork is never taken for one of the repository: its name is whatever its owner likes.
func TestForksAreToldApart(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	git := prhosttest.NewClone(t, s.Remote)
	head := git.Push("promote", "promote.txt", "content\n")
	number := s.Fork("eve", "promote", head)
	if p, err := h.Find(t.Context(), "promote"); !errors.Is(err, promotion.ErrNotFound) {
		t.Fatalf("found %+v, %v", p, err)
	}
	list, err := h.ListOpen(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("open are %+v, %v", list, err)
	}
	p, err := h.Get(t.Context(), number)
	if err != nil || p != list[0] || p.Branch != "eve:promote" || p.HeadSHA != head {
		t.Fatalf("read %+v, %v; listed was %+v", p, err, list[0])
	}
	if at, _, _ := strings.Cut(git.Git("ls-remote", "origin", p.Ref), "\t"); at != head {
		t.Fatalf("%s is at %q, want %s", p.Ref, at, head)
	}
}

func TestListOpenIsOfTheBaseBranch(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	git := prhosttest.NewClone(t, s.Remote)
	git.Push("elsewhere", "elsewhere.txt", "another base\n")
	git.Push("other", "other.txt", "content\n")
	other, err := h.Open(t.Context(), promotion.NewPullRequest{Branch: "other", Title: "Other"})
	if err != nil {
		t.Fatal(err)
	}
	numbers := func() (all []int) {
		t.Helper()
		list, err := h.ListOpen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			all = append(all, p.Number)
		}
		return all
	}
	if got := numbers(); len(got) != 2 {
		t.Fatalf("open are %v", got)
	}
	s.Person().Retarget(t, other.Number, "elsewhere")
	if got := numbers(); len(got) != 1 || got[0] != p.Number {
		t.Fatalf("open are %v", got)
	}
	s.Person().Close(t, p.Number)
	if got := numbers(); len(got) != 0 {
		t.Fatalf("open are %v", got)
	}
}

func TestMergeQueue(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	s.Queue()
	_, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
	if !errors.Is(err, promotion.ErrNotMergeable) || !strings.Contains(err.Error(), "approvers enqueue it") {
		t.Fatalf("error is %v", err)
	}
	wrote(t, s, "POST pulls")
	merge := s.Person().Enqueue(p.Number)
	got, err := h.Get(t.Context(), p.Number)
	if err != nil || got.State != promotion.PullRequestMerged || got.MergeSHA != merge {
		t.Fatalf("queued: %+v, %v; want it merged as %s", got, err, merge)
	}
	if sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), ""); err != nil || sha != merge {
		t.Fatalf("merged again as %q, %v", sha, err)
	}
}

// Branch protection tells of its queue only when it refuses a merge.
func TestMergeQueueOfBranchProtection(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	s.Around(answers("PUT", 405, nil, `{"message":"Changes must be made through the merge queue"}`))
	_, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
	if !errors.Is(err, promotion.ErrNotMergeable) || !strings.Contains(err.Error(), "approvers enqueue it") {
		t.Fatalf("error is %v", err)
	}
}
