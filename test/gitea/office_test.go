//go:build peers

package gitea_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

// The people of every world, by what Gitea calls them. Pat, who develops, pushes and merges, is nobody to Sluice.
var people = map[string]promotion.Actor{
	"rita-at-work": {Name: "rita", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleReleaseManager, promotion.RoleApprover}},
	"ada-at-work":  {Name: "ada", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}},
	"vera-at-work": {Name: "vera", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleViewer}},
}

func identify(name, login string) (promotion.Actor, bool) {
	by, known := people[login]
	return by, known && name == repository
}

// rolesOf are the roles of somebody by their name in Sluice.
func rolesOf(name string) []promotion.Role {
	for _, p := range people {
		if p.Name == name {
			return p.Roles
		}
	}
	return nil
}

var (
	ci   = promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	rita = people["rita-at-work"]
)

// office is a Gitea with the people's accounts.
type office struct {
	gitea  *realgitea.Server
	people map[string]*gitea.Client
}

func openOffice(t *testing.T) *office {
	t.Helper()
	const admin, password = "root-of-tests", "a-password-of-people-1"
	o := &office{gitea: realgitea.Start(t), people: map[string]*gitea.Client{}}
	root := o.gitea.As(t, o.gitea.Token(t, admin, gitea.AccessTokenScopeAll))
	for login := range people {
		_, _, err := root.AdminCreateUser(gitea.CreateUserOption{Username: login, Email: login + "@example.test", Password: password, MustChangePassword: new(false)})
		if err != nil {
			t.Fatalf("make the account %s: %v", login, err)
		}
		client, err := gitea.NewClient(o.gitea.URL, gitea.SetBasicAuth(login, password))
		if err != nil {
			t.Fatal(err)
		}
		o.people[login] = client
	}
	return o
}

// requireStatus makes a protected branch's rule what Sluice needs of Gitea.
func requireStatus(rule *gitea.CreateBranchProtectionOption) {
	rule.EnableStatusCheck, rule.StatusCheckContexts = true, []string{promotion.StatusContext}
}

// reviews has somebody review the pull request in Gitea, and Sluice hear of it.
func (w *world) reviews(name string, number int, verdict gitea.ReviewStateType) {
	w.Helper()
	w.handled(number, func() {
		_, _, err := w.office.people[name+"-at-work"].CreatePullReview(w.repo.Owner, w.repo.Name, int64(number),
			gitea.CreatePullReviewOptions{State: verdict, Body: "as " + name + " sees it"})
		w.must(err)
	})
}

func (w *world) bot() *gitea.Client { return w.office.gitea.As(w.T, w.office.gitea.BotToken) }

// pullRequest is what Gitea says of one.
func (w *world) pullRequest(number int) *gitea.PullRequest {
	w.Helper()
	p, _, err := w.bot().GetPullRequest(w.repo.Owner, w.repo.Name, int64(number))
	w.must(err)
	return p
}

// status is the newest status sluice/gates on the pull request's head; empty when there is none.
func (w *world) status(number int) string {
	w.Helper()
	all, _, err := w.bot().GetCombinedStatus(w.repo.Owner, w.repo.Name, w.pullRequest(number).Head.Sha)
	w.must(err)
	for _, s := range all.Statuses {
		if s.Context == promotion.StatusContext {
			return string(s.State)
		}
	}
	return ""
}

func (w *world) turns(number int, status string) {
	w.Helper()
	last := ""
	w.eventually(fmt.Sprintf("the status of #%d is %s", number, status), func() bool {
		if now := w.status(number); now != last {
			last = now
			w.Logf("the status of #%d is %q", number, now)
		}
		return last == status
	})
}

// refusesToMerge fails the test unless Gitea lets pat, an administrator of the repository, not merge for want of the status.
func (w *world) refusesToMerge(number int) {
	w.Helper()
	w.eventually("Gitea says why it refuses the merge", func() bool {
		status, said := w.pressesMerge(number)
		if status == http.StatusOK {
			w.Fatalf("Gitea merged #%d", number)
		}
		w.Logf("Gitea answers %d: %s", status, said)
		return status == http.StatusMethodNotAllowed && said == "Not all required status checks successful"
	})
	if w.pullRequest(number).HasMerged {
		w.Fatalf("#%d is merged", number)
	}
}

// pressesMerge is pat's press of Gitea's button, with Gitea's answer.
func (w *world) pressesMerge(number int) (status int, said string) {
	w.Helper()
	url := fmt.Sprintf("%s/api/v1/repos/%s/%s/pulls/%d/merge", w.office.gitea.URL, w.repo.Owner, w.repo.Name, number)
	r, err := http.NewRequestWithContext(w.Context(), http.MethodPost, url, bytes.NewReader([]byte(`{"Do":"merge"}`)))
	w.must(err)
	r.Header.Set("Authorization", "token "+w.office.gitea.PersonToken)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	var told struct{ Message string }
	if len(body) > 0 && json.Unmarshal(body, &told) != nil {
		w.Fatalf("Gitea answers %s: %s", answer.Status, body)
	}
	return answer.StatusCode, told.Message
}

// comments are the texts of a pull request's comments.
func (w *world) comments(number int) (all []string) {
	w.Helper()
	list, _, err := w.bot().ListIssueComments(w.repo.Owner, w.repo.Name, int64(number), gitea.ListIssueCommentOptions{})
	w.must(err)
	for _, c := range list {
		all = append(all, c.Body)
	}
	return all
}
