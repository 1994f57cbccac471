package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Merge implements promotion.PullRequestHost. On GitHub the merge is the
// token's; a person who asked for it is named in the commit message. An error that tells
// nothing, such as a time-out, may hide a merge: Get or a second Merge finds it.
func (h *Host) Merge(ctx context.Context, number int, expectedHead, message string, by promotion.Actor, method promotion.MergeMethod) (string, error) {
	if expectedHead == "" {
		return "", fmt.Errorf("merge pull request #%d: %w: no head is expected", number, promotion.ErrHeadMoved) // GitHub would merge any
	}
	p, err := h.get(ctx, number)
	if err != nil {
		return "", err
	}
	if sha, done, err := h.settled(p, expectedHead); done {
		return sha, err
	}
	if instead, err := h.queue(ctx); err != nil || instead != "" {
		return "", errors.Join(err, notMergeable(number, instead))
	}
	title, body := commitMessage(message, by)
	result, _, err := h.client.PullRequests.Merge(ctx, h.Owner, h.Repository, number, body, &github.PullRequestOptions{
		CommitTitle: title, SHA: expectedHead, MergeMethod: cmp.Or(string(method), string(h.MergeMethod)), DontDefaultIfBlank: true,
	})
	switch {
	case refused(err, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusUnprocessableEntity):
		return h.whyNot(ctx, number, expectedHead, err)
	case err != nil:
		return "", h.failure(err, "merge pull request #%d", number)
	case !result.GetMerged() || result.GetSHA() == "":
		return "", fmt.Errorf("merge pull request #%d: %w", number, errIncomplete)
	}
	return result.GetSHA(), nil
}

// settled tells whether the pull request needs no merge or cannot have one.
func (h *Host) settled(p *github.PullRequest, expectedHead string) (sha string, done bool, err error) {
	switch head := p.GetHead().GetSHA(); {
	case head != expectedHead:
		return "", true, fmt.Errorf("merge pull request #%d: %w: it is %s, expected was %s", p.GetNumber(), promotion.ErrHeadMoved, head, expectedHead)
	case p.GetMerged() && p.GetMergeCommitSHA() == "":
		return "", true, fmt.Errorf("read the merge of pull request #%d: %w", p.GetNumber(), errIncomplete)
	case p.GetMerged():
		return p.GetMergeCommitSHA(), true, nil
	case p.GetState() != "open":
		return "", true, fmt.Errorf("merge pull request #%d: %w: it is %s", p.GetNumber(), promotion.ErrNotMergeable, p.GetState())
	case p.GetBase().GetRef() != h.BaseBranch:
		return "", true, fmt.Errorf("merge pull request #%d: %w: somebody changed its base to %s", p.GetNumber(), promotion.ErrNotMergeable, p.GetBase().GetRef())
	}
	return "", false, nil
}

// whyNot looks again after a refusal: GitHub answers 405 for a conflict, for a
// check that is missing and for what another call has merged meanwhile.
func (h *Host) whyNot(ctx context.Context, number int, expectedHead string, refusal error) (string, error) {
	p, err := h.get(ctx, number)
	if err != nil {
		return "", errors.Join(h.failure(refusal, "merge pull request #%d", number), err)
	}
	if sha, done, err := h.settled(p, expectedHead); done {
		return sha, err
	}
	if r, is := errors.AsType[*github.ErrorResponse](refusal); is && strings.Contains(r.Message, "merge queue") {
		return "", notMergeable(number, h.enqueue()) // branch protection may ask for one too, and tells it no other way
	}
	kind := promotion.ErrNotMergeable
	switch {
	case p.GetMergeableState() == "dirty":
		kind = promotion.ErrConflict
	case refused(refusal, http.StatusConflict):
		kind = promotion.ErrHeadMoved
	}
	return "", fmt.Errorf("merge pull request #%d: %w: %w", number, kind, h.explained(refusal))
}

func notMergeable(number int, why string) error {
	if why == "" {
		return nil
	}
	return fmt.Errorf("merge pull request #%d: %w: %s", number, promotion.ErrNotMergeable, why)
}

// commitMessage splits a message into GitHub's title and body.
func commitMessage(message string, by promotion.Actor) (title, body string) {
	title, body, _ = strings.Cut(strings.TrimSpace(message), "\n")
	body = strings.TrimSpace(body)
	if by.Kind != promotion.System && by.Name != "" {
		body = strings.TrimSpace(body + "\n\nMerged-for: " + strings.Join(strings.Fields(by.Name), " "))
	}
	return title, body
}
