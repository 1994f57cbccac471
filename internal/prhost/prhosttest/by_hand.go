package prhosttest

import (
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
)

func mergedByHand(t *testing.T, s *scene) {
	p := s.proposed("promote")
	sha := s.git.MergeByHand("promote", "--no-ff")
	got := s.becomes(p.Number, promotion.PullRequestMerged)
	s.same("merge", got.MergeSHA, sha)
	if got.MergedBy == "" {
		t.Fatal("nobody merged it")
	}
	s.same("merge repeated", s.merged(p.Number, p.HeadSHA), sha)
}

func mergedOneAfterTheOther(_ *testing.T, s *scene) {
	p, other := s.proposed("promote"), s.proposed("other")
	sha := s.git.MergeByHand("promote", "--no-ff")
	later := s.git.MergeByHand("other", "--no-ff")
	s.mergedByGit(p, sha)
	s.mergedByGit(other, later)
}

// mergedByGit looks for a merge that the host may be excused from noticing.
func (s *scene) mergedByGit(p promotion.PullRequest, sha string) {
	s.Helper()
	if s.missesMerges == "" {
		s.same("merge", s.becomes(p.Number, promotion.PullRequestMerged).MergeSHA, sha)
		return
	}
	s.Logf("less is asked: %s", s.missesMerges)
	got := s.get(p.Number)
	if got.HeadSHA != p.HeadSHA || got.State == promotion.PullRequestMerged && got.MergeSHA != sha {
		s.Fatalf("pull request is %+v; git merged it as %s", got, sha)
	}
}

func mergedByFastForward(_ *testing.T, s *scene) {
	p := s.proposed("promote")
	s.git.MergeByHand("promote", "--ff-only")
	s.same("merge", s.becomes(p.Number, promotion.PullRequestMerged).MergeSHA, p.HeadSHA)
}

func mergedAndDeleted(_ *testing.T, s *scene) {
	p := s.proposed("promote")
	s.git.Git("checkout", "--quiet", "-B", "main", "origin/main")
	s.git.Git("merge", "--quiet", "--no-ff", "-m", "by hand", "promote")
	s.git.Git("push", "--quiet", "origin", "main", ":promote")
	s.mergedByGit(p, s.git.Remote("main"))
}

func squashedByHand(_ *testing.T, s *scene) {
	p := s.proposed("promote")
	s.git.Git("checkout", "--quiet", "-B", "main", "origin/main")
	s.git.Git("merge", "--quiet", "--squash", "promote")
	s.git.Git("commit", "--quiet", "--message", "squashed by hand")
	s.git.Git("push", "--quiet", "origin", "main")
	s.same("state", s.get(p.Number).State, promotion.PullRequestOpen)
}

func cherryPicked(_ *testing.T, s *scene) {
	p := s.proposed("promote")
	s.git.Push("main", "other.txt", "moves on\n")
	s.git.Git("cherry-pick", "promote")
	s.git.Git("push", "--quiet", "origin", "main")
	s.same("state", s.get(p.Number).State, promotion.PullRequestOpen)
}

func deletedBranch(_ *testing.T, s *scene) {
	p := s.proposed("promote")
	s.git.Git("push", "--quiet", "origin", ":promote")
	s.same("head", s.becomes(p.Number, promotion.PullRequestClosed).HeadSHA, p.HeadSHA)
}

func setBack(t *testing.T, s *scene) {
	p := s.proposed("promote")
	main := s.git.Push("main", "other.txt", "moves on\n")
	s.get(p.Number)
	s.git.Git("push", "--quiet", "--force", "origin", "main:promote")
	got := s.eventually(p.Number, "no head of its own", func(p promotion.PullRequest) bool {
		return p.HeadSHA == main || p.State == promotion.PullRequestClosed
	})
	if got.State == promotion.PullRequestMerged {
		t.Fatal("a branch set back to main counts as merged")
	}
	_, err := s.merge(p.Number, got.HeadSHA)
	s.fails(err, promotion.ErrNotMergeable)
	s.same("main", s.git.Remote("main"), main)
}
