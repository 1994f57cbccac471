package realgitea

import (
	"testing"

	"code.gitea.io/sdk/gitea"
)

// Buttons are Gitea's, pressed by the person on one repository.
type Buttons struct{ repository *Repository }

// Buttons of a repository.
func (r *Repository) Buttons() Buttons { return Buttons{repository: r} }

// Name of who presses them.
func (Buttons) Name() string { return Person }

func (b Buttons) edit(t testing.TB, number int, what string, edit gitea.EditPullRequestOption) {
	t.Helper()
	r := b.repository
	if _, _, err := r.person.EditPullRequest(r.Owner, r.Name, int64(number), edit); err != nil {
		t.Fatalf("%s #%d: %v", what, number, err)
	}
}

// Open opens a pull request of a branch and returns its number.
func (b Buttons) Open(t testing.TB, branch string) (number int) {
	t.Helper()
	r := b.repository
	made, _, err := r.person.CreatePullRequest(r.Owner, r.Name, gitea.CreatePullRequestOption{Head: branch, Base: Main, Title: "By hand"})
	if err != nil {
		t.Fatalf("open a pull request of %s: %v", branch, err)
	}
	return int(made.Index)
}

// Close closes a pull request.
func (b Buttons) Close(t testing.TB, number int) {
	t.Helper()
	state := gitea.StateClosed
	b.edit(t, number, "close", gitea.EditPullRequestOption{State: &state})
}

// Reopen opens a closed pull request.
func (b Buttons) Reopen(t testing.TB, number int) {
	t.Helper()
	state := gitea.StateOpen
	b.edit(t, number, "reopen", gitea.EditPullRequestOption{State: &state})
}

// Retitle sets the title.
func (b Buttons) Retitle(t testing.TB, number int, title string) {
	t.Helper()
	b.edit(t, number, "retitle", gitea.EditPullRequestOption{Title: title})
}

// SetDraft marks a pull request as work in progress, or as ready.
func (b Buttons) SetDraft(t testing.TB, number int, draft bool) {
	t.Helper()
	title := "Ready"
	if draft {
		title = "WIP: not yet"
	}
	b.Retitle(t, number, title)
}

// Retarget changes the base branch.
func (b Buttons) Retarget(t testing.TB, number int, base string) {
	t.Helper()
	b.edit(t, number, "retarget", gitea.EditPullRequestOption{Base: base})
}

// Merge merges by merge, squash or rebase, as often as Gitea says to try again later.
func (b Buttons) Merge(t testing.TB, number int, method string) {
	t.Helper()
	r := b.repository
	Eventually(t, "Gitea merges the pull request", func() bool {
		merged, _, err := r.person.MergePullRequest(r.Owner, r.Name, int64(number), gitea.MergePullRequestOption{Style: gitea.MergeStyle(method)})
		if err != nil {
			t.Fatalf("merge #%d by %s: %v", number, method, err)
		}
		return merged
	})
}
