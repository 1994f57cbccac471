package builtin_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestBranchesThatAPullRequestCanBeOpenedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	list := func(want ...string) {
		t.Helper()
		got, err := s.host.Branches(t.Context(), repository)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("branches are %v (%v), want %v", got, err, want)
		}
	}
	list()
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	git.Push("raise", "apps/shop/base/kustomization.yaml", "resources: [a.yaml]\n")
	git.Push("lower", "apps/shop/base/kustomization.yaml", "resources: [b.yaml]\n")
	list("lower", "raise")
	p, err := s.host.Open(t.Context(), repository, promotion.NewPullRequest{Branch: "raise", Title: "Raise"}, mona())
	if err != nil {
		t.Fatal(err)
	}
	list("lower")
	if err := s.host.Close(t.Context(), repository, p.Number, "", mona()); err != nil {
		t.Fatal(err)
	}
	list("lower", "raise")
	if _, err := s.host.Branches(t.Context(), "elsewhere"); !errors.Is(err, promotion.ErrNotFound) {
		t.Errorf("the branches of an unknown repository: %v", err)
	}
}
