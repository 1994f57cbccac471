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
	for page := (github.ListOptions{PerPage: perPage, Page: 1}); page.Page != 0; {
		comments, answer, err := h.client.Issues.ListComments(ctx, h.Owner, h.Repository, number, &github.IssueListCommentsOptions{ListOptions: page})
		if err != nil {
			return h.failure(err, "read the comments of pull request #%d", number)
		}
		for _, c := range comments {
			if !strings.HasPrefix(c.GetBody(), marker+"\n") || !h.mayBeOwn(c) {
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

// mayBeOwn tells a person's comment, which may hold a copy of the marker, from an App's. Of a token nothing tells the
// login that its comments have.
func (h *Host) mayBeOwn(c *github.IssueComment) bool {
	return h.AppID == 0 || c.GetUser().GetType() == "Bot"
}
