//go:build peers

package gitea_test

import (
	"context"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/prhost/gitea"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

// One Gitea is enough for all; every test has a repository of its own.
func TestOnRealGitea(t *testing.T) {
	t.Parallel()
	s := realgitea.Start(t)
	fixture := func(t *testing.T) prhosttest.Fixture {
		r := s.NewRepository(t)
		r.Protect(t, byHandOrWithStatus)
		return prhosttest.Fixture{Host: newHost(t, s, r), Remote: r.Remote, Person: r.Buttons(), Comments: r.Comments, Review: r.Buttons().Review,
			MissesMerges: "Gitea 1.26 notices a merge while main holds no other above it, and not when the branch is deleted at once"}
	}
	for name, test := range map[string]func(*testing.T, *realgitea.Server){
		"conforms":           func(t *testing.T, _ *realgitea.Server) { prhosttest.Run(t, fixture) },
		"people":             func(t *testing.T, _ *realgitea.Server) { prhosttest.People(t, nil, fixture) },
		"sources":            sources,
		"lost answers":       lostAnswers,
		"comment not twice":  commentNotTwice,
		"two opens at once":  twoOpensAtOnce,
		"merge methods":      mergeMethods,
		"status is required": statusIsRequired,
		"unnoticed set back": unnoticedSetBack,
		"noticed set back":   noticedSetBack,
		"protection":         protections,
		"tokens":             tokens,
		"renamed":            renamed,
		"long title":         longTitle,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// byHandOrWithStatus lets people push to main, as the suite does, and nobody merge without the status.
func byHandOrWithStatus(rule *sdk.CreateBranchProtectionOption) {
	rule.EnablePush, rule.EnableStatusCheck, rule.StatusCheckContexts = true, true, []string{prhosttest.Status}
}

func newHost(t testing.TB, s *realgitea.Server, r *realgitea.Repository, options ...func(*gitea.Options)) *gitea.Host {
	t.Helper()
	o := gitea.Options{Server: s.URL, Owner: r.Owner, Repository: r.Name, BaseBranch: realgitea.Main,
		Token: func(context.Context) (string, error) { return s.BotToken, nil }}
	for _, set := range options {
		set(&o)
	}
	h, err := gitea.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// asked is what opens a pull request that changes one file.
func asked(t testing.TB, r *realgitea.Repository) promotion.NewPullRequest {
	t.Helper()
	head := prhosttest.NewClone(t, r.Remote).Push("promote", "promote.txt", "content\n")
	return promotion.NewPullRequest{Branch: "promote", Head: head, Title: "Promote", Body: "why"}
}

func opened(t testing.TB, r *realgitea.Repository, h *gitea.Host) promotion.PullRequest {
	t.Helper()
	p, err := h.Open(t.Context(), asked(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return p
}
