package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Gitea answers 405 while it still checks whether a pull request can be merged:
// right after it was opened and after every push.
const (
	checks     = 10
	checkPause = 500 * time.Millisecond
)

// Merge implements promotion.PullRequestHost. On Gitea the merge is the
// token's; a person who asked for it is named in the commit message. An error that tells
// nothing, such as a time-out, may hide a merge: Get or a second Merge finds it.
func (h *Host) Merge(ctx context.Context, number int, expectedHead, message string, by promotion.Actor, method promotion.MergeMethod) (string, error) {
	if expectedHead == "" {
		return "", fmt.Errorf("merge pull request #%d: %w: no head is expected", number, promotion.ErrHeadMoved) // Gitea would merge any
	}
	c, err := h.call(ctx)
	if err != nil {
		return "", err
	}
	for try := 1; ; try++ {
		if sha, done, err := c.settled(number, expectedHead); done || err != nil {
			return sha, err
		}
		merged, err := c.merge(number, expectedHead, message, by, method)
		switch {
		case merged:
			return c.result(number)
		case c.refusal == nil:
			return "", fmt.Errorf("merge pull request #%d: %w", number, cmp.Or(err, errIncomplete))
		case !c.refusal.checking() || try == checks:
			return c.whyNot(number, expectedHead)
		}
		if err := wait(ctx); err != nil {
			return "", fmt.Errorf("merge pull request #%d: %w: Gitea has not checked it yet: %w", number, promotion.ErrNotMergeable, err)
		}
	}
}

func (c *call) merge(number int, expectedHead, message string, by promotion.Actor, method promotion.MergeMethod) (merged bool, err error) {
	title, body := commitMessage(message, by)
	keep := false
	merged, _, err = c.MergePullRequest(c.host.Owner, c.host.Repository, int64(number), gitea.MergePullRequestOption{
		Style: gitea.MergeStyle(cmp.Or(string(method), string(c.host.MergeMethod))), Title: title, Message: body, HeadCommitId: expectedHead, DeleteBranchAfterMerge: &keep})
	return merged, err
}

func wait(ctx context.Context) error {
	timer := time.NewTimer(checkPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checking tells the refusal that says so, which is also the one for a conflict.
func (r *refusal) checking() bool {
	return r.status == http.StatusMethodNotAllowed && strings.Contains(r.said, "try again later")
}

// result looks for the commit of a merge that Gitea says it has done: the answer does not tell.
func (c *call) result(number int) (string, error) {
	p, err := c.get(number)
	if err != nil {
		return "", err
	}
	if !p.HasMerged || p.MergedCommitID == nil || *p.MergedCommitID == "" {
		return "", fmt.Errorf("merge pull request #%d: %w", number, errIncomplete)
	}
	return *p.MergedCommitID, nil
}

// settled tells whether the pull request needs no merge, or why it cannot have one.
func (c *call) settled(number int, expectedHead string) (sha string, done bool, err error) {
	p, err := c.get(number)
	if err != nil {
		return "", false, err
	}
	r, err := c.read(p)
	if err != nil {
		return "", false, err
	}
	no := func(kind error, format string, args ...any) (string, bool, error) {
		return "", false, fmt.Errorf("merge pull request #%d: %w: %s", number, kind, fmt.Sprintf(format, args...))
	}
	switch {
	case r.HeadSHA != expectedHead:
		return no(promotion.ErrHeadMoved, "it is %s, expected was %s", r.HeadSHA, expectedHead)
	case r.State == promotion.PullRequestMerged:
		return r.MergeSHA, true, nil
	case r.State != promotion.PullRequestOpen:
		return no(promotion.ErrNotMergeable, "it is %s", r.State)
	case r.BaseRef != c.host.BaseBranch:
		return no(promotion.ErrNotMergeable, "somebody changed its base to %s", r.BaseRef)
	case r.Draft:
		return no(promotion.ErrNotMergeable, "somebody made it a draft: take the mark from its title")
	}
	if err := c.changesSomething(expectedHead); err != nil { // Gitea would fail, or make an empty merge
		return no(promotion.ErrNotMergeable, "%v", err)
	}
	return "", false, nil
}

// whyNot looks again after a refusal: another call may have merged meanwhile, which
// Gitea answers with 405 or, when both began at once, with 500.
func (c *call) whyNot(number int, expectedHead string) (string, error) {
	r, explained := c.refusal, c.explained(nil)
	if sha, done, err := c.settled(number, expectedHead); done {
		return sha, nil
	} else if err != nil {
		return "", errors.Join(err, explained)
	}
	if kind := r.kind(); kind != nil {
		explained = fmt.Errorf("%w: %w", kind, explained)
	}
	return "", fmt.Errorf("merge pull request #%d: %w", number, explained)
}

// kind tells refusals of a merge apart, nil for what is none.
func (r *refusal) kind() error {
	says := func(words string) bool { return strings.Contains(strings.ToLower(r.said), words) }
	switch r.status {
	case http.StatusMethodNotAllowed:
		if r.checking() { // after so many tries: Gitea does not tell a conflict from this
			return promotion.ErrConflict
		}
	case http.StatusConflict:
		switch {
		case says("head out of date"):
			return promotion.ErrHeadMoved
		case says("conflict"): // also without a message, which is how Gitea tells of one
			return promotion.ErrConflict
		}
	case http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusLocked:
	default:
		return nil
	}
	return promotion.ErrNotMergeable
}

// commitMessage splits a message into Gitea's title and body.
func commitMessage(message string, by promotion.Actor) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(message), "\n")
	body = strings.TrimSpace(body)
	if by.Kind != promotion.System && by.Name != "" {
		body = strings.TrimSpace(body + "\n\nMerged-for: " + strings.Join(strings.Fields(by.Name), " "))
	}
	return title, body
}
