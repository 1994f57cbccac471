package gitea

import (
	"context"
	"slices"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Reviews implements promotion.PullRequestHost. Gitea marks a review stale after a push, which is no dismissal.
func (h *Host) Reviews(ctx context.Context, number int) ([]promotion.Review, error) {
	c, err := h.call(ctx)
	if err != nil {
		return nil, err
	}
	newest := map[string]*promotion.Review{} // nil for somebody whose newest was dismissed
	for page := 1; ; page++ {
		list, _, err := c.ListPullReviews(h.Owner, h.Repository, int64(number), gitea.ListPullReviewsOptions{
			ListOptions: gitea.ListOptions{Page: page, PageSize: perPage}})
		if err := c.failed(err, "read the reviews of pull request #%d", number); err != nil {
			return nil, err
		}
		for _, r := range list { // oldest first
			verdict, decides := verdicts[r.State]
			switch {
			case !decides || r.Reviewer == nil:
			case r.Dismissed:
				newest[r.Reviewer.UserName] = nil
			default:
				newest[r.Reviewer.UserName] = &promotion.Review{Author: r.Reviewer.UserName, Verdict: verdict, Head: r.CommitID, Comment: r.Body, At: r.Submitted}
			}
		}
		if len(list) < perPage {
			break
		}
	}
	var reviews []promotion.Review
	for _, r := range newest {
		if r != nil {
			reviews = append(reviews, *r)
		}
	}
	slices.SortFunc(reviews, func(a, b promotion.Review) int { return a.At.Compare(b.At) })
	return reviews, nil
}

var verdicts = map[gitea.ReviewStateType]promotion.ReviewVerdict{
	gitea.ReviewStateApproved:       promotion.ReviewApproves,
	gitea.ReviewStateRequestChanges: promotion.ReviewAsksForChange,
}
