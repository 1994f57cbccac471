package github

import (
	"context"
	"slices"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Reviews implements promotion.PullRequestHost. A dismissed review no longer says what it was and who dismissed it; the events
// of the pull request do. They are read only when there is one.
func (h *Host) Reviews(ctx context.Context, number int) ([]promotion.Review, error) {
	all, err := h.reviews(ctx, number)
	if err != nil {
		return nil, err
	}
	outdated := map[int64]promotion.ReviewVerdict{}
	if slices.ContainsFunc(all, func(r *github.PullRequestReview) bool { return r.GetState() == "DISMISSED" }) {
		if outdated, err = h.outdated(ctx, number); err != nil {
			return nil, err
		}
	}
	var newest []promotion.Review // one of each person
	for _, r := range all {       // oldest first
		by, verdict, dismissed := r.GetUser().GetLogin(), verdictOf(r.GetState()), r.GetState() == "DISMISSED"
		if dismissed {
			verdict = outdated[r.GetID()]
		}
		if by == "" || verdict == "" && !dismissed { // an account that is gone, or a remark
			continue
		}
		newest = slices.DeleteFunc(newest, func(old promotion.Review) bool { return old.Author == by })
		if verdict != "" {
			newest = append(newest, promotion.Review{Author: by, Verdict: verdict, Head: r.GetCommitID(), Comment: r.GetBody(), At: r.GetSubmittedAt().Time})
		}
	}
	return newest, nil
}

func (h *Host) reviews(ctx context.Context, number int) ([]*github.PullRequestReview, error) {
	var all []*github.PullRequestReview
	for page := (github.ListOptions{PerPage: perPage, Page: 1}); page.Page != 0; {
		list, answer, err := h.client.PullRequests.ListReviews(ctx, h.Owner, h.Repository, number, &page)
		if err != nil {
			return nil, h.failure(err, "read the reviews of pull request #%d", number)
		}
		all, page.Page = append(all, list...), answer.NextPage
	}
	return all, nil
}

// outdated are the reviews that GitHub dismissed because of a push, with what they said. It names the commit that was
// pushed; when a person dismisses, there is none. A dismissal without an event counts as a person's.
// https://docs.github.com/rest/using-the-rest-api/issue-event-types#review_dismissed
func (h *Host) outdated(ctx context.Context, number int) (map[int64]promotion.ReviewVerdict, error) {
	said := map[int64]promotion.ReviewVerdict{}
	for page := (github.ListOptions{PerPage: perPage, Page: 1}); page.Page != 0; {
		events, answer, err := h.client.Issues.ListIssueEvents(ctx, h.Owner, h.Repository, number, &page)
		if err != nil {
			return nil, h.failure(err, "read who dismissed reviews of pull request #%d", number)
		}
		for _, e := range events {
			if d := e.DismissedReview; e.GetEvent() == "review_dismissed" && d.GetDismissalCommitID() != "" {
				said[d.GetReviewID()] = verdictOf(d.GetState())
			}
		}
		page.Page = answer.NextPage
	}
	return said, nil
}

// verdictOf is empty for what decides nothing. Reviews say their state in capitals, events do not.
func verdictOf(state string) promotion.ReviewVerdict {
	switch state {
	case "APPROVED", "approved":
		return promotion.ReviewApproves
	case "CHANGES_REQUESTED", "changes_requested":
		return promotion.ReviewAsksForChange
	}
	return ""
}
