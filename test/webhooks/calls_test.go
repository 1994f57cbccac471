package webhooks_test

import (
	"context"
	"maps"
	"sync"

	"github.com/sluicehq/sluice/internal/promotion"
)

// calls counts what is written to the host and to the config repository.
type calls struct {
	mu   sync.Mutex
	made map[string]int
}

func (c *calls) count(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[what]++
}

func (c *calls) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.made)
}

// host counts the writing calls to another, and tells of reviews.
type host struct {
	promotion.PullRequestHost
	calls   *calls
	reviews map[int][]promotion.Review
}

func (h *host) Open(ctx context.Context, r promotion.NewPullRequest) (promotion.PullRequest, error) {
	h.calls.count("open")
	return h.PullRequestHost.Open(ctx, r)
}

func (h *host) Update(ctx context.Context, number int, title, body string) error {
	h.calls.count("update")
	return h.PullRequestHost.Update(ctx, number, title, body)
}

func (h *host) Merge(ctx context.Context, number int, expectedHead, message string, by promotion.Actor, method promotion.MergeMethod) (string, error) {
	h.calls.count("merge")
	return h.PullRequestHost.Merge(ctx, number, expectedHead, message, by, method)
}

func (h *host) Comment(ctx context.Context, number int, marker, text string) error {
	h.calls.count("comment")
	return h.PullRequestHost.Comment(ctx, number, marker, text)
}

func (h *host) Close(ctx context.Context, number int, comment string) error {
	h.calls.count("close")
	return h.PullRequestHost.Close(ctx, number, comment)
}

func (h *host) SetStatus(ctx context.Context, sha string, s promotion.CommitStatus) error {
	h.calls.count("status")
	return h.PullRequestHost.SetStatus(ctx, sha, s)
}

func (h *host) Reviews(_ context.Context, number int) ([]promotion.Review, error) {
	return h.reviews[number], nil
}

// repo counts what is pushed.
type repo struct {
	promotion.ConfigRepository
	calls *calls
}

func (r *repo) Propose(ctx context.Context, p promotion.Proposal) (string, error) {
	r.calls.count("push")
	return r.ConfigRepository.Propose(ctx, p)
}

func (r *repo) DeleteBranch(ctx context.Context, name, expected string) error {
	r.calls.count("delete branch")
	return r.ConfigRepository.DeleteBranch(ctx, name, expected)
}
