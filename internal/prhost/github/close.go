package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Close implements promotion.PullRequestHost. The comment comes first, for
// people to read it with the notification, and is not repeated when an earlier
// call got no further.
func (h *Host) Close(ctx context.Context, number int, comment string) error {
	p, err := h.get(ctx, number)
	switch {
	case err != nil:
		return err
	case p.GetMerged():
		return fmt.Errorf("close pull request #%d: %w: it is merged", number, promotion.ErrNotMergeable)
	case p.GetState() == "closed":
		return nil
	}
	if err := h.comment(ctx, p, comment); err != nil {
		return err
	}
	closed, _, err := h.client.PullRequests.Edit(ctx, h.Owner, h.Repository, number, &github.PullRequest{State: github.String("closed")})
	if err == nil && closed.GetState() != "closed" {
		err = errIncomplete
	}
	return h.failure(err, "close pull request #%d", number)
}

// comment leaves a comment unless it is among the newest hundred or so already.
func (h *Host) comment(ctx context.Context, p *github.PullRequest, body string) error {
	number, body := p.GetNumber(), clip(body, maxBody)
	if p.GetComments() > 0 {
		comments, _, err := h.client.Issues.ListComments(ctx, h.Owner, h.Repository, number, &github.IssueListCommentsOptions{
			ListOptions: github.ListOptions{PerPage: perPage, Page: (p.GetComments()-1)/perPage + 1}, // the last page; oldest first
		})
		if err != nil {
			return h.failure(err, "read the comments of pull request #%d", number)
		}
		for _, c := range comments {
			if c.GetBody() == body {
				return nil
			}
		}
	}
	_, _, err := h.client.Issues.CreateComment(ctx, h.Owner, h.Repository, number, &github.IssueComment{Body: &body})
	return h.failure(err, "comment on pull request #%d", number)
}
