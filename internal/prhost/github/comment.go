package github

import (
	"context"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Comment implements promotion.PullRequestHost. The comment is looked for among all there are, since people may have written
// many after it.
func (h *Host) Comment(ctx context.Context, number int, marker, text string) error {
	body := clip(marker+"\n"+text, maxBody)
	page := github.ListOptions{PerPage: 100, Page: 1}
	for page.Page != 0 {
		comments, answer, err := h.client.Issues.ListComments(ctx, h.Owner, h.Repository, number, &github.IssueListCommentsOptions{ListOptions: page})
		if err != nil {
			return h.failure(err, "read the comments of pull request #%d", number)
		}
		for _, c := range comments {
			if !strings.HasPrefix(c.GetBody(), marker+"\n") {
				continue
			}
			if c.GetBody() == body {
				return nil
			}
			_, _, err := h.client.Issues.EditComment(ctx, h.Owner, h.Repository, c.GetID(), &github.IssueComment{Body: &body})
			return h.failure(err, "change the comment on pull request #%d", number)
		}
		page.Page = answer.NextPage
	}
	_, _, err := h.client.Issues.CreateComment(ctx, h.Owner, h.Repository, number, &github.IssueComment{Body: &body})
	return h.failure(err, "comment on pull request #%d", number)
}
