package realgitea

import (
	"testing"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Comments are the texts of a pull request's comments, oldest first.
func (r *Repository) Comments(t testing.TB, number int) []string {
	t.Helper()
	list, _, err := r.person.ListIssueComments(r.Owner, r.Name, int64(number), gitea.ListIssueCommentOptions{})
	if err != nil {
		t.Fatalf("list the comments of #%d: %v", number, err)
	}
	var all []string
	for _, c := range list {
		all = append(all, c.Body)
	}
	return all
}

// Review reviews a pull request as it is.
func (b Buttons) Review(t testing.TB, number int, verdict promotion.ReviewVerdict) (by string) {
	t.Helper()
	state := map[promotion.ReviewVerdict]gitea.ReviewStateType{promotion.ReviewApproves: gitea.ReviewStateApproved,
		promotion.ReviewAsksForChange: gitea.ReviewStateRequestChanges}[verdict]
	r := b.repository
	_, _, err := r.person.CreatePullReview(r.Owner, r.Name, int64(number), gitea.CreatePullReviewOptions{State: state, Body: "read"})
	if err != nil {
		t.Fatalf("review #%d: %v", number, err)
	}
	return Person
}
