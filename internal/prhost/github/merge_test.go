package github_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/fakegithub"
)

func TestMergeMethods(t *testing.T) {
	t.Parallel()
	rita := promotion.Actor{Name: "rita", Kind: promotion.Person}
	for method, c := range map[github.MergeMethod]struct {
		parents int
		message string
	}{
		"":                 {2, "Promote shop\n\nbecause\n\nMerged-for: rita"},
		github.MergeCommit: {2, "Promote shop\n\nbecause\n\nMerged-for: rita"},
		github.Squash:      {1, "Promote shop\n\nbecause\n\nMerged-for: rita"},
		github.Rebase:      {1, "Write promote.txt"},
	} {
		t.Run("method "+string(method), func(t *testing.T) {
			t.Parallel()
			s := fakegithub.New(t)
			h := newHost(t, s, func(o *github.Options) { o.MergeMethod = method })
			p := opened(t, s, h)
			sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote shop\n\nbecause\n", rita, "")
			if err != nil {
				t.Fatal(err)
			}
			git := prhosttest.NewClone(t, s.Remote)
			if main, parents := git.Remote("main"), git.Parents(sha); main != sha || len(parents) != c.parents {
				t.Errorf("merged as %s with parents %q, main is %s", sha, parents, main)
			}
			if got := git.Git("show", "--no-patch", "--format=%B", sha); got != c.message {
				t.Errorf("message is %q, want %q", got, c.message)
			}
			if again, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote shop", rita, ""); err != nil || again != sha {
				t.Errorf("merged again as %q, %v", again, err)
			}
		})
	}
}

// What the policy says of an environment wins over what is configured for the repository.
func TestMergeMethodThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for method, parents := range map[promotion.MergeMethod]int{promotion.MergeCommit: 2, promotion.MergeSquash: 1, promotion.MergeRebase: 1} {
		for _, configured := range []github.MergeMethod{github.MergeCommit, github.Squash} {
			t.Run(string(method)+" instead of "+string(configured), func(t *testing.T) {
				t.Parallel()
				s := fakegithub.New(t)
				h := newHost(t, s, func(o *github.Options) { o.MergeMethod = configured })
				p := opened(t, s, h)
				sha, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote shop", promotion.Sluice(), method)
				if err != nil {
					t.Fatal(err)
				}
				if got := prhosttest.NewClone(t, s.Remote).Parents(sha); len(got) != parents {
					t.Errorf("the merge's parents are %v, want %d", got, parents)
				}
			})
		}
	}
}

// GitHub merges whatever is there when no head is given.
func TestMergeNeedsAHead(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	if _, err := h.Merge(t.Context(), p.Number, "", "Promote", promotion.Sluice(), ""); !errors.Is(err, promotion.ErrHeadMoved) {
		t.Fatalf("error is %v", err)
	}
	wrote(t, s, "POST pulls")
}

// A pull request that was merged with another head is not the one that was approved.
func TestMergedWithAnotherHead(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	if _, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Merge(t.Context(), p.Number, strings.Repeat("a", 40), "Promote", promotion.Sluice(), ""); !errors.Is(err, promotion.ErrHeadMoved) {
		t.Fatalf("error is %v", err)
	}
}

// The head moves between the look and the merge: GitHub is the one to notice.
func TestHeadMovesBeforeTheMerge(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	h := newHost(t, s)
	p := opened(t, s, h)
	git := prhosttest.NewClone(t, s.Remote)
	main := git.Remote("main")
	s.Around(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				git.Push("promote", "promote.txt", "changed behind the back\n")
			}
			next.ServeHTTP(w, r)
		})
	})
	_, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
	if !errors.Is(err, promotion.ErrHeadMoved) || git.Remote("main") != main {
		t.Fatalf("error is %v", err)
	}
}

func TestMergeWithoutTheRequiredStatus(t *testing.T) {
	t.Parallel()
	s := fakegithub.New(t)
	s.Require(prhosttest.Status)
	h := newHost(t, s)
	p := opened(t, s, h)
	_, err := h.Merge(t.Context(), p.Number, p.HeadSHA, "Promote", promotion.Sluice(), "")
	if !errors.Is(err, promotion.ErrNotMergeable) || !strings.Contains(err.Error(), prhosttest.Status) {
		t.Fatalf("error is %v", err)
	}
}
