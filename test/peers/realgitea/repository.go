package realgitea

import (
	"crypto/rand"
	"strings"
	"testing"

	"code.gitea.io/sdk/gitea"
)

// Main is the base branch of every repository.
const Main = "main"

// Repository is one repository of a Server, whose main holds one commit.
type Repository struct {
	Owner, Name string
	// Remote is what the person clones and pushes to.
	Remote string

	server *Server
	person *gitea.Client
}

// NewRepository makes a repository that takes all ways to merge, notices
// merges by plain git, and lets the bot and the person do everything.
func (s *Server) NewRepository(t testing.TB) *Repository {
	t.Helper()
	yes, all := true, gitea.AccessModeAdmin
	name := "config-" + strings.ToLower(rand.Text())
	_, _, err := s.admin.CreateOrgRepo(owner, gitea.CreateRepoOption{Name: name, AutoInit: true, DefaultBranch: Main})
	if err == nil {
		_, _, err = s.admin.EditRepo(owner, name, gitea.EditRepoOption{HasPullRequests: &yes, AllowMerge: &yes, AllowSquash: &yes, AllowRebase: &yes,
			AutodetectManualMerge: &yes})
	}
	for _, who := range []string{Bot, Person} {
		if err == nil {
			_, err = s.admin.AddCollaborator(owner, name, who, gitea.AddCollaboratorOption{Permission: &all})
		}
	}
	if err != nil {
		t.Fatalf("make a repository: %v", err)
	}
	return &Repository{Owner: owner, Name: name, Remote: s.remote(Person, s.PersonToken, name), server: s, person: s.As(t, s.PersonToken)}
}

// Protect makes main require a status to merge.
func (r *Repository) Protect(t testing.TB, set ...func(*gitea.CreateBranchProtectionOption)) {
	t.Helper()
	rule := gitea.CreateBranchProtectionOption{RuleName: Main, BlockAdminMergeOverride: true}
	for _, s := range set {
		s(&rule)
	}
	if _, _, err := r.server.admin.CreateBranchProtection(r.Owner, r.Name, rule); err != nil {
		t.Fatalf("protect %s: %v", Main, err)
	}
}

// Edit changes the repository's settings; a new name is not followed.
func (r *Repository) Edit(t testing.TB, set func(*gitea.EditRepoOption)) {
	t.Helper()
	var o gitea.EditRepoOption
	set(&o)
	if _, _, err := r.server.admin.EditRepo(r.Owner, r.Name, o); err != nil {
		t.Fatalf("edit a repository: %v", err)
	}
}

// Remove takes an account's access to the repository away.
func (r *Repository) Remove(t testing.TB, account string) {
	t.Helper()
	if _, err := r.server.admin.DeleteCollaborator(r.Owner, r.Name, account); err != nil {
		t.Fatalf("remove %s: %v", account, err)
	}
}

// Hook has Gitea tell an address of everything that happens, signed with a secret.
func (r *Repository) Hook(t testing.TB, address, secret string) {
	t.Helper()
	_, _, err := r.server.admin.CreateRepoHook(r.Owner, r.Name, gitea.CreateHookOption{Type: gitea.HookTypeGitea, Active: true,
		Config: map[string]string{"url": address, "content_type": "json", "secret": secret},
		Events: []string{"push", "pull_request", "pull_request_review", "pull_request_sync", "repository"}})
	if err != nil {
		t.Fatalf("make a webhook: %v", err)
	}
}
