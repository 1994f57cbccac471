// Package prhosttest says what a promotion.PullRequestHost does, as tests that
// every implementation passes.
package prhosttest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Status is the context of the commit status that the suite sets to success
// before it merges; a host may require it.
const Status = "sluice/gates"

// Fixture is a host with one repository, whose main holds one commit.
type Fixture struct {
	Host promotion.PullRequestHost
	// Remote is what git clones, and pushes to, main included.
	Remote string
	// Comments reads the texts of a pull request's comments, oldest first.
	Comments func(t testing.TB, number int) []string
	// Review has a person review a pull request as it is, and names them. Nil: the host has no reviews.
	Review func(t testing.TB, number int, verdict promotion.ReviewVerdict) (by string)
	// Person presses the host's own buttons; for People.
	Person Person
	// MissesMerges says why the host may leave a pull request open, or count it as
	// closed, although plain git has merged it. Empty: it notices every merge. Sluice
	// looks at main itself; what it must never be told is a merge that is none.
	MissesMerges string
}

// patience is how long a host may take to notice what happened in Git.
const patience = 30 * time.Second

// Run runs the suite; every test has a fixture of its own.
func Run(t *testing.T, newFixture func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, *scene){
		"open is idempotent":                  openIsIdempotent,
		"open needs a pushed branch":          openNeedsAPushedBranch,
		"open needs something to merge":       openNeedsSomethingToMerge,
		"unknown is not found":                unknownIsNotFound,
		"the head follows pushes":             headFollowsPushes,
		"a commit added":                      commitAdded,
		"a push after the merge":              pushedAfterMerge,
		"update":                              update,
		"merge":                               merge,
		"merge onto a main that moved":        mergeOntoMovedMain,
		"merge refuses another head":          mergeRefusesAnotherHead,
		"merge refuses a conflict":            mergeRefusesConflict,
		"two merges at once are one":          twoMergesAtOnce,
		"close":                               closes,
		"a closed branch opens anew":          closedOpensAnew,
		"close after a merge is no close":     closeAfterMerge,
		"merged by hand":                      mergedByHand,
		"merged by hand, fast-forward":        mergedByFastForward,
		"merged by hand, branch deleted":      mergedAndDeleted,
		"merged by hand, then another":        mergedOneAfterTheOther,
		"a squash by hand leaves it open":     squashedByHand,
		"a cherry-pick leaves it open":        cherryPicked,
		"deleting the branch closes":          deletedBranch,
		"setting the branch back is no merge": setBack,
		"list open":                           listOpen,
		"comment":                             comment,
		"reviews":                             reviews,
		"status":                              status,
		"protection":                          protection,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newScene(t, newFixture(t)))
		})
	}
}

// scene is a host and a person with git.
type scene struct {
	*testing.T
	host         promotion.PullRequestHost
	git          *Clone
	person       Person
	missesMerges string
	comments     func(testing.TB, int) []string
	review       func(testing.TB, int, promotion.ReviewVerdict) string
}

func newScene(t *testing.T, f Fixture) *scene {
	t.Helper()
	return &scene{T: t, host: f.Host, git: NewClone(t, f.Remote), person: f.Person, missesMerges: f.MissesMerges,
		comments: f.Comments, review: f.Review}
}

func (s *scene) open(branch, head string) promotion.PullRequest {
	s.Helper()
	p, err := s.host.Open(s.Context(), promotion.NewPullRequest{Branch: branch, Head: head, Title: "Change " + branch, Body: "why"})
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// proposed is an open pull request that changes one file.
func (s *scene) proposed(branch string) promotion.PullRequest {
	s.Helper()
	return s.open(branch, s.git.Push(branch, branch+".txt", "content\n"))
}

func (s *scene) get(number int) promotion.PullRequest {
	s.Helper()
	p, err := s.host.Get(s.Context(), number)
	if err != nil {
		s.Fatal(err)
	}
	return p
}

// eventually reads a pull request until it is as wanted.
func (s *scene) eventually(number int, wanted string, is func(promotion.PullRequest) bool) promotion.PullRequest {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		p := s.get(number)
		if is(p) {
			return p
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.Fatalf("pull request is %+v, want %s", p, wanted)
		}
	}
}

func (s *scene) becomes(number int, state promotion.PullRequestState) promotion.PullRequest {
	s.Helper()
	return s.eventually(number, string(state), func(p promotion.PullRequest) bool { return p.State == state })
}

// green sets the status that a host may require.
func (s *scene) green(head string) {
	s.Helper()
	err := s.host.SetStatus(s.Context(), head, promotion.CommitStatus{Context: Status, State: "success", Description: "all gates pass"})
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) merge(number int, head string) (string, error) {
	s.Helper()
	s.green(head)
	return s.host.Merge(s.Context(), number, head, "Promote it\n\nbecause", promotion.Sluice(), "")
}

func (s *scene) merged(number int, head string) string {
	s.Helper()
	sha, err := s.merge(number, head)
	if err != nil {
		s.Fatal(err)
	}
	return sha
}

func (s *scene) fails(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Fatalf("error is %v, want %v", err, want)
	}
}

func (s *scene) same(what string, got, want any) {
	s.Helper()
	if got != want {
		s.Fatalf("%s is %v, want %v", what, got, want)
	}
}
