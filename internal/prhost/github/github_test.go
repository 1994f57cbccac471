package github_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

func TestHostConforms(t *testing.T) {
	t.Parallel()
	prhosttest.Run(t, func(t *testing.T) prhosttest.Fixture {
		s := fakegithub.New(t)
		s.Require(prhosttest.Status)
		return prhosttest.Fixture{Host: newHost(t, s), Remote: s.Remote,
			Comments: func(_ testing.TB, number int) []string { return s.Comments(number) },
			Review: func(_ testing.TB, number int, v promotion.ReviewVerdict) string {
				s.Review(number, "ada", map[promotion.ReviewVerdict]string{promotion.ReviewApproves: "APPROVED", promotion.ReviewAsksForChange: "CHANGES_REQUESTED"}[v], "read")
				return "ada"
			}}
	})
}

func TestSources(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	prhosttest.Sources(t, newHost(t, s), s.Remote, strings.TrimPrefix(s.URL, "http://"), fakegithub.Owner+"/"+fakegithub.Repository)
}

// Of many commits the newest are told.
func TestTheNewestOfManySourceCommits(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	git := prhosttest.NewClone(t, s.Remote)
	first := git.Push("main", "source.txt", "x")
	const many = 130
	for n := range many {
		git.Git("commit", "--quiet", "--allow-empty", "--message", fmt.Sprint("Change ", n+1))
	}
	git.Git("push", "--quiet", "origin", "HEAD:main")
	got, err := newHost(t, s).Between(t.Context(), fakegithub.Owner+"/"+fakegithub.Repository, first, git.Git("rev-parse", "HEAD"))
	if err != nil || got.Total != many || len(got.Commits) != 30 || got.Commits[0].Title != "Change 130" {
		t.Errorf("got %d of %d commits, the first %+v, %v", len(got.Commits), got.Total, got.Commits[:min(1, len(got.Commits))], err)
	}
}

func newHost(t testing.TB, s *fakegithub.Server, options ...func(*github.Options)) *github.Host {
	t.Helper()
	o := github.Options{Owner: fakegithub.Owner, Repository: fakegithub.Repository, BaseBranch: fakegithub.Main, BaseURL: s.URL,
		Token: func(context.Context) (string, error) { return fakegithub.Token, nil }}
	for _, set := range options {
		set(&o)
	}
	h, err := github.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// opened is a pull request of a pushed branch that changes one file.
func opened(t testing.TB, s *fakegithub.Server, h *github.Host) promotion.PullRequest {
	t.Helper()
	head := prhosttest.NewClone(t, s.Remote).Push("promote", "promote.txt", "content\n")
	p, err := h.Open(t.Context(), promotion.NewPullRequest{Branch: "promote", Head: head, Title: "Promote", Body: "why"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
