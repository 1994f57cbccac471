package gitea

import (
	"context"
	"fmt"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Close implements promotion.PullRequestHost. The comment comes first, for
// people to read it with the notification, and is not repeated when an earlier
// call got no further.
func (h *Host) Close(ctx context.Context, number int, comment string) error {
	c, err := h.call(ctx)
	if err != nil {
		return err
	}
	p, err := c.get(number)
	if err != nil {
		return err
	}
	switch {
	case p.HasMerged:
		return fmt.Errorf("close pull request #%d: %w: it is merged", number, promotion.ErrNotMergeable)
	case p.State == gitea.StateClosed:
		return nil
	}
	return c.close(p, comment)
}

func (c *call) close(p *gitea.PullRequest, comment string) error {
	if err := c.comment(p, comment); err != nil {
		return err
	}
	state := gitea.StateClosed
	closed, _, err := c.EditPullRequest(c.host.Owner, c.host.Repository, p.Index, gitea.EditPullRequestOption{State: &state})
	if err == nil && closed.State != gitea.StateClosed {
		err = errIncomplete
	}
	return c.failed(err, "close pull request #%d", p.Index)
}

// comment leaves a comment unless it is there already.
func (c *call) comment(p *gitea.PullRequest, body string) error {
	if p.Comments > 0 {
		comments, _, err := c.ListIssueComments(c.host.Owner, c.host.Repository, p.Index, gitea.ListIssueCommentOptions{})
		if err := c.failed(err, "read the comments of pull request #%d", p.Index); err != nil {
			return err
		}
		for _, there := range comments {
			if there.Body == body {
				return nil
			}
		}
	}
	made, _, err := c.CreateIssueComment(c.host.Owner, c.host.Repository, p.Index, gitea.CreateIssueCommentOption{Body: body})
	if err == nil && made.ID == 0 {
		err = errIncomplete
	}
	return c.failed(err, "comment on pull request #%d", p.Index)
}
