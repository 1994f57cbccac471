package gitea

import (
	"encoding/json"
	"fmt"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// read turns Gitea's pull request into ours.
func (c *call) read(p *gitea.PullRequest) (promotion.PullRequest, error) {
	if p.Index == 0 || p.Head == nil || p.Base == nil || p.Head.Sha == "" || p.Base.Ref == "" || p.Updated == nil {
		return promotion.PullRequest{}, fmt.Errorf("read a pull request: %w", errIncomplete)
	}
	r := promotion.PullRequest{Number: int(p.Index), URL: p.HTMLURL, Title: p.Title, Branch: p.Head.Name,
		Ref: fmt.Sprintf("refs/pull/%d/head", p.Index), HeadSHA: p.Head.Sha, BaseRef: p.Base.Ref, Draft: p.Draft, At: *p.Updated}
	if p.Poster != nil {
		r.Author = p.Poster.UserName
	}
	switch {
	case p.HasMerged:
		return c.readMerged(p, r)
	case p.State == gitea.StateOpen:
		r.State = promotion.PullRequestOpen
		return r, nil
	case p.State == gitea.StateClosed:
		return c.readClosed(p, r)
	}
	return promotion.PullRequest{}, fmt.Errorf("pull request #%d is in the state %q, which is not known", r.Number, p.State)
}

func (c *call) readClosed(p *gitea.PullRequest, r promotion.PullRequest) (promotion.PullRequest, error) {
	var err error
	r.State = promotion.PullRequestClosed
	if r.HeadSHA, err = c.headAtEnd(p); err != nil {
		return promotion.PullRequest{}, err
	}
	events, err := c.timeline(p.Index, p.Closed)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	for _, e := range events {
		if e.Type == "close" && e.Poster != nil {
			r.ClosedBy = e.Poster.UserName // the last counts
		}
	}
	return r, nil
}

func (c *call) readMerged(p *gitea.PullRequest, r promotion.PullRequest) (promotion.PullRequest, error) {
	if p.MergedCommitID == nil || *p.MergedCommitID == "" {
		return promotion.PullRequest{}, fmt.Errorf("read the merge of pull request #%d: %w", r.Number, errIncomplete)
	}
	var err error
	r.State, r.MergeSHA = promotion.PullRequestMerged, *p.MergedCommitID
	if p.MergedBy != nil {
		r.MergedBy = p.MergedBy.UserName
	}
	if r.HeadSHA, err = c.headAtEnd(p); err != nil {
		return promotion.PullRequest{}, err
	}
	if r.MergeSHA == r.HeadSHA {
		return c.readFastForward(p, r)
	}
	return r, nil
}

// hindsight is how long Gitea may take to write down a push that it acted upon.
const hindsight = 15 * time.Second

// readFastForward is readMerged for a head that is on the base branch as it is: by
// Gitea's own rebase, by plain git, or because somebody set the branch back, which
// Gitea also takes for a merge by plain git. Until it is sure to have written the pushes
// down that tell them apart, the pull request counts as open; who merged, if it was that, is said.
func (c *call) readFastForward(p *gitea.PullRequest, r promotion.PullRequest) (promotion.PullRequest, error) {
	if p.Closed == nil || c.now.Sub(*p.Closed) < hindsight {
		r.State, r.MergeSHA = promotion.PullRequestOpen, ""
		return r, nil
	}
	by, err := c.setBackBy(p)
	if err != nil {
		return promotion.PullRequest{}, err
	}
	if by != "" {
		r.State, r.MergeSHA, r.MergedBy, r.ClosedBy = promotion.PullRequestClosed, "", "", by
	}
	return r, nil
}

// headAtEnd is the head that was merged or closed. Gitea goes on telling where
// the branch is; the pull request's own ref stays, but misses what was pushed
// while it was closed and then opened again. So a merge commit's parents count first.
func (c *call) headAtEnd(p *gitea.PullRequest) (string, error) {
	h, ref := c.host, fmt.Sprintf("refs/pull/%d/head", p.Index)
	if p.Head.Ref == ref { // the branch is gone
		return p.Head.Sha, nil
	}
	own, _, err := c.GetRepoRef(h.Owner, h.Repository, ref)
	if err := c.failed(err, "read the head of pull request #%d", p.Index); err != nil {
		return "", err
	}
	if own.Object == nil || own.Object.SHA == "" {
		return "", fmt.Errorf("read the head of pull request #%d: %w", p.Index, errIncomplete)
	}
	if !p.HasMerged || own.Object.SHA == p.Head.Sha {
		return own.Object.SHA, nil
	}
	merge, _, err := c.GetSingleCommit(h.Owner, h.Repository, *p.MergedCommitID)
	if err := c.failed(err, "read the merge of pull request #%d", p.Index); err != nil {
		return "", err
	}
	if len(merge.Parents) > 1 && merge.Parents[1].SHA == p.Head.Sha {
		return p.Head.Sha, nil
	}
	return own.Object.SHA, nil
}

// setBackBy names who force-pushed a commit that the base branch held already.
// Gitea, where it looks for merges by plain git, takes that for one; nothing was
// merged. Empty: the base branch was brought to the head, which is a merge.
func (c *call) setBackBy(p *gitea.PullRequest) (string, error) {
	events, err := c.timeline(p.Index, nil)
	if err != nil {
		return "", err
	}
	own, by := map[string]bool{}, "" // commits that were not on the base branch when they were pushed
	for _, e := range events {
		var push struct {
			Force   bool     `json:"is_force_push"`
			Commits []string `json:"commit_ids"`
		}
		if e.Type != "pull_push" || json.Unmarshal([]byte(e.Body), &push) != nil {
			continue
		}
		if !push.Force {
			for _, sha := range push.Commits {
				own[sha] = true
			}
			continue
		}
		by = ""
		if len(push.Commits) == 2 && push.Commits[1] == *p.MergedCommitID && e.Poster != nil {
			by = e.Poster.UserName
		}
	}
	if own[*p.MergedCommitID] {
		return "", nil
	}
	return by, nil
}

// timeline is what happened to a pull request since a moment, oldest first.
func (c *call) timeline(number int64, since *time.Time) ([]*gitea.TimelineComment, error) {
	options := gitea.ListIssueCommentOptions{ListOptions: gitea.ListOptions{Page: 1, PageSize: perPage}}
	if since != nil {
		options.Since = *since
	}
	var all []*gitea.TimelineComment
	for {
		events, _, err := c.ListIssueTimeline(c.host.Owner, c.host.Repository, number, options)
		if err := c.failed(err, "read what happened to pull request #%d", number); err != nil {
			return nil, err
		}
		if len(events) == 0 || len(all) > 0 && events[0].ID == all[0].ID { // a server that knows no pages
			return all, nil
		}
		all = append(all, events...)
		options.Page++
	}
}
