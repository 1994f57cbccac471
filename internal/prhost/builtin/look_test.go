package builtin_test

import (
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Every answer is from a look at Git, though nobody told that the branch moved.
func TestAnswersAreUpToDateAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, filepath.Join(s.dir, repository+".git"))
	p := propose(t, s, git, "promote")
	second := git.Push("promote", "promote.txt", "second\n")
	if got := get(t, s, p.Number).HeadSHA; got != second {
		t.Errorf("got at %s, want %s", got, second)
	}
	third := git.Push("promote", "promote.txt", "third\n")
	if found, err := s.port.Find(t.Context(), "promote"); err != nil || found.HeadSHA != third {
		t.Errorf("found at %s, want %s; %v", found.HeadSHA, third, err)
	}
	fourth := git.Push("promote", "promote.txt", "fourth\n")
	again, err := s.port.Open(t.Context(), promotion.NewPullRequest{Branch: "promote", Head: fourth, Title: "x"})
	if err != nil || again.HeadSHA != fourth || again.Number != p.Number {
		t.Errorf("opened #%d at %s, want #%d at %s; %v", again.Number, again.HeadSHA, p.Number, fourth, err)
	}
	fifth := git.Push("promote", "promote.txt", "fifth\n")
	if d, err := s.host.PullRequest(t.Context(), repository, p.Number); err != nil || d.HeadSHA != fifth {
		t.Errorf("page at %s, want %s; %v", d.HeadSHA, fifth, err)
	}
}
