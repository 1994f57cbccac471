package builtin_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Both sides start from a README.md and a base's kustomization.yaml.
func TestMergeTakesFilesWhole(t *testing.T) {
	t.Parallel()
	const kustomization = "apps/shop/base/kustomization.yaml"
	write := func(name, content string) func(*prhosttest.Clone) {
		return func(git *prhosttest.Clone) { git.Write(name, content) }
	}
	remove := func(name string) func(*prhosttest.Clone) {
		return func(git *prhosttest.Clone) { git.Git("rm", "-r", "--quiet", name) }
	}
	for _, c := range []struct {
		name         string
		main, branch func(*prhosttest.Clone)
		want         string // files after the merge, or what a conflict says
		conflict     bool
	}{
		{"different files", write("a", "1"), write("b", "1"), "README.md a " + kustomization + " b", false},
		{"both add the same", write("a", "1"), write("a", "1"), "README.md a " + kustomization, false},
		{"both add another", write("a", "1"), write("a", "2"), "both sides changed a", true},
		{"both change", write("README.md", "# A\n"), write("README.md", "# B\n"), "both sides changed README.md", true},
		{"different lines of one file", write("README.md", "# Config\nend\n"), write("README.md", "begin\n# Config\n"), "both sides changed README.md", true},
		{"one removes", write("a", "1"), remove("README.md"), "a " + kustomization, false},
		{"main removes what the branch changes", remove("README.md"), write("README.md", "x"), "both sides changed README.md", true},
		{"both remove", remove("README.md"), remove("README.md"), kustomization, false},
		{"main moves what the branch changes", func(git *prhosttest.Clone) { git.Git("mv", "README.md", "MOVED.md") }, write("README.md", "x"), "both sides changed README.md", true},
		{"a file where there is a folder", write("a/b", "1"), write("a", "1"), "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
			start := git.Remote("main")
			commit := func(branch string, change func(*prhosttest.Clone)) string {
				git.Git("checkout", "--quiet", "-B", branch, start)
				change(git)
				git.Git("add", "--all")
				git.Git("commit", "--quiet", "--message", "on "+branch)
				git.Git("push", "--quiet", "origin", branch)
				return git.Git("rev-parse", "HEAD")
			}
			main := commit("main", c.main)
			p, err := s.port.Open(t.Context(), promotion.NewPullRequest{Branch: "b", Head: commit("b", c.branch), Title: "b"})
			if err != nil {
				t.Fatal(err)
			}
			sha, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "m", mona(), "")
			foreseen, conflicts := s.foresee(t, start, main, p.HeadSHA)
			if c.conflict {
				if len(conflicts) == 0 {
					t.Errorf("the gates see no conflict: %s", foreseen)
				}
				if !errors.Is(err, promotion.ErrConflict) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error is %v, want ErrConflict that says %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			git.Git("fetch", "--quiet", "origin")
			if tree := git.Git("rev-parse", sha+"^{tree}"); tree != foreseen {
				t.Errorf("merged to tree %s, the gates see %s, conflicts %v", tree, foreseen, conflicts)
			}
			got := slices.Sorted(slices.Values(strings.Fields(git.Git("ls-tree", "-r", "--name-only", sha))))
			if want := slices.Sorted(slices.Values(strings.Fields(c.want))); !slices.Equal(got, want) {
				t.Errorf("merged to %v, want %v", got, want)
			}
		})
	}
}

// foresee is the merge that the gates render and judge.
func (s *site) foresee(t *testing.T, base, main, head string) (tree string, conflicts []string) {
	t.Helper()
	r, err := git.PlainOpen(filepath.Join(s.dir, repository+".git"))
	if err != nil {
		t.Fatal(err)
	}
	treeOf := func(sha string) plumbing.Hash {
		c, err := r.CommitObject(plumbing.NewHash(sha))
		if err != nil {
			t.Fatal(err)
		}
		return c.TreeHash
	}
	merged, conflicts, err := gittree.Merge(r.Storer, treeOf(base), treeOf(main), treeOf(head))
	if err != nil {
		t.Fatal(err)
	}
	return merged.String(), conflicts
}

func TestMergeOfAnUnrelatedHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := prhosttest.NewClone(t, s.remote("rita", "rita-s-token"))
	git.Git("checkout", "--quiet", "--orphan", "foreign")
	git.Git("commit", "--quiet", "--message", "from nowhere")
	git.Git("push", "--quiet", "origin", "foreign")
	p, err := s.port.Open(t.Context(), promotion.NewPullRequest{Branch: "foreign", Title: "Foreign"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.port.Merge(t.Context(), p.Number, p.HeadSHA, "m", mona(), ""); !errors.Is(err, promotion.ErrConflict) {
		t.Errorf("error is %v, want ErrConflict", err)
	}
	if _, err := s.host.PullRequest(t.Context(), repository, p.Number); err != nil {
		t.Errorf("its page: %v", err)
	}
}
