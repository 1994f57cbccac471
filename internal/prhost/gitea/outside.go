package gitea

import (
	"context"
	"net/http"
	"strings"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// ListOpen implements promotion.PullRequestHost.
func (h *Host) ListOpen(ctx context.Context) ([]promotion.PullRequest, error) {
	c, err := h.call(ctx)
	if err != nil {
		return nil, err
	}
	var open []promotion.PullRequest
	for page := 1; ; page++ {
		list, _, err := c.ListRepoPullRequests(h.Owner, h.Repository, gitea.ListPullRequestsOptions{
			State: gitea.StateOpen, Sort: "oldest", ListOptions: gitea.ListOptions{Page: page, PageSize: perPage}})
		if err := c.failed(err, "list the open pull requests of %s", h.name()); err != nil {
			return nil, err
		}
		for _, p := range list {
			if p.Base == nil || p.Base.Ref != h.BaseBranch {
				continue
			}
			r, err := c.read(p)
			if err != nil {
				return nil, err
			}
			open = append(open, r)
		}
		if len(list) < perPage {
			return open, nil
		}
	}
}

// Comment implements promotion.PullRequestHost. Gitea gives all comments at once.
func (h *Host) Comment(ctx context.Context, number int, marker, text string) error {
	c, err := h.call(ctx)
	if err != nil {
		return err
	}
	body := marker + "\n" + text
	comments, _, err := c.ListIssueComments(h.Owner, h.Repository, int64(number), gitea.ListIssueCommentOptions{})
	if c.refused(http.StatusInternalServerError) { // Gitea's answer, among others, when there is no such pull request
		if _, err := h.Get(ctx, number); err != nil {
			return err
		}
	}
	if err := c.failed(err, "read the comments of pull request #%d", number); err != nil {
		return err
	}
	for _, there := range comments {
		if !strings.HasPrefix(there.Body, marker+"\n") {
			continue
		}
		if there.Body == body {
			return nil
		}
		_, _, err := c.EditIssueComment(h.Owner, h.Repository, there.ID, gitea.EditIssueCommentOption{Body: body})
		return c.failed(err, "change the comment on pull request #%d", number)
	}
	_, _, err = c.CreateIssueComment(h.Owner, h.Repository, int64(number), gitea.CreateIssueCommentOption{Body: body})
	return c.failed(err, "comment on pull request #%d", number)
}
