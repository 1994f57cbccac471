package fakegithub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

// promoted is rita's promotion to prod of what CI built of a commit.
func (s *sluice) promoted(version string, n int, source promotion.Source) promotion.Promotion {
	s.Helper()
	built, _, err := s.service.RecordBuild(s.Context(), ci, promotion.BuildRequest{Version: version, Source: source,
		Artifacts: []promotion.BuildArtifact{{Repository: image, Digest: digest(n)}}})
	s.must(err)
	s.settle()
	p, err := s.service.Promote(s.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod",
		Release: fmt.Sprint(built.Releases[0].ID), Reason: "the weekly release"})
	s.must(err)
	s.settle()
	return s.is(p.ID, promotion.StateOpen)
}

func (s *sluice) merged(p promotion.Promotion) {
	s.Helper()
	s.github.Review(p.Number, ada.Name, "APPROVED", "fine")
	s.look()
	_, err := s.service.Merge(s.Context(), rita, p.ID)
	s.must(err)
	s.settle()
	s.look()
	s.is(p.ID, promotion.StateMerged)
}

// The pull request says which commits of the source lie between what prod has and what it gets, and on the way back which are taken back.
func TestTheSourceCommitsAreTold(t *testing.T) {
	t.Parallel()
	s := newSluice(t)
	of := func(commit string) promotion.Source {
		return promotion.Source{Repository: s.github.URL + "/" + fakegithub.Owner + "/" + fakegithub.Repository + ".git", Commit: commit}
	}
	commit := func(message string) string {
		s.git.Git("commit", "--quiet", "--allow-empty", "--message", message)
		return s.git.Git("rev-parse", "HEAD")
	}
	old := s.git.Git("rev-parse", "HEAD")
	commit("Round the `total` once @everybody\n\nbecause")
	head := commit("Say what is wrong")
	s.git.Git("push", "--quiet", "origin", "HEAD:refs/heads/source")

	first := s.promoted("1.1.0", 2, of(old))
	if _, body := s.github.Text(first.Number); strings.Contains(body, "What changes in the source") {
		t.Errorf("nothing is known of what runs, but the body says\n%s", body)
	}
	s.merged(first)
	second := s.promoted("1.2.0", 3, of(head))
	_, body := s.github.Text(second.Number)
	for _, want := range []string{"What changes in the source", ": 2 commits.", "Say what is wrong`", "Round the 'total' once @everybody`", old[:10] + "` to `" + head[:10]} {
		if !strings.Contains(body, want) {
			t.Errorf("the body lacks %q:\n%s", want, body)
		}
	}
	s.merged(second)

	back, err := s.service.Promote(t.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: "1.1.0", Reason: "it was wrong"})
	s.must(err)
	s.settle()
	if _, body := s.github.Text(s.is(back.ID, promotion.StateOpen).Number); !strings.Contains(body, "takes back 2 commits") {
		t.Errorf("the body does not say what is taken back:\n%s", body)
	}
	_, err = s.service.Cancel(t.Context(), rita, back.ID, "no")
	s.must(err)
	s.settle()

	elsewhere := s.promoted("1.3.0", 4, promotion.Source{Repository: s.github.URL + "/acme/elsewhere", Commit: head})
	if len(elsewhere.Source) != 0 {
		t.Errorf("two repositories are compared: %+v", elsewhere.Source)
	}
	s.merged(elsewhere)
	unread := s.promoted("1.4.0", 5, promotion.Source{Repository: s.github.URL + "/acme/elsewhere", Commit: old})
	if _, body := s.github.Text(unread.Number); !strings.Contains(body, "the commits between cannot be read from here") {
		t.Errorf("the body does not say that they cannot be read:\n%s", body)
	}
}
