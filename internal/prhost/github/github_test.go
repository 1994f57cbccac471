package github_test

import (
	"context"
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
		return prhosttest.Fixture{Host: newHost(t, s), Remote: s.Remote}
	})
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
