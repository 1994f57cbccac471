package github

import (
	"context"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Reviews implements promotion.PullRequestHost. A dismissed review says nothing of who dismissed it; a stored approval of equal
// content counts all the same.
func (h *Host) Reviews(ctx context.Context, number int) ([]promotion.Review, error) {
	newest := map[string]promotion.Review{}
	page := github.ListOptions{PerPage: 100, Page: 1}
	for page.Page != 0 {
		list, answer, err := h.client.PullRequests.ListReviews(ctx, h.Owner, h.Repository, number, &page)
		if err != nil {
			return nil, h.failure(err, "read the reviews of pull request #%d", number)
		}
		for _, r := range list { // oldest first
			by := r.GetUser().GetLogin()
			switch r.GetState() {
			case "APPROVED":
				newest[by] = promotion.Review{Author: by, Verdict: promotion.ReviewApproves, Head: r.GetCommitID(), Comment: r.GetBody(), At: r.GetSubmittedAt().Time}
			case "CHANGES_REQUESTED":
				newest[by] = promotion.Review{Author: by, Verdict: promotion.ReviewAsksForChange, Head: r.GetCommitID(), Comment: r.GetBody(), At: r.GetSubmittedAt().Time}
			case "DISMISSED":
				delete(newest, by)
			}
		}
		page.Page = answer.NextPage
	}
	var reviews []promotion.Review
	for _, r := range newest {
		reviews = append(reviews, r)
	}
	slices.SortFunc(reviews, func(a, b promotion.Review) int { return a.At.Compare(b.At) })
	return reviews, nil
}
