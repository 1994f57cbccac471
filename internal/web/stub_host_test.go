package web_test

import (
	"context"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/web"
)

// host stands in for the built-in pull request host.
type host struct{ *stub }

// persons is somebody's own pull request.
func persons() web.PullRequestSummary {
	return web.PullRequestSummary{Number: 8, Title: "more replicas of checkout", State: "open", Branch: "more-replicas", Author: "dora", OpenedAt: before(400)}
}

func (h host) List(_ context.Context, repository string) ([]web.PullRequestSummary, error) {
	if repository != "platform-config" {
		return nil, promotion.ErrNotFound
	}
	return []web.PullRequestSummary{persons(), h.pull.PullRequestSummary,
		{Number: 6, Title: "raise the memory of search", State: "merged", Branch: "more-memory", Author: "dora", OpenedAt: before(9000)}}, nil
}

func (h host) Get(_ context.Context, repository string, number int) (web.PullRequest, error) {
	switch {
	case repository == "platform-config" && number == 7:
		return h.pull, nil
	case repository == "platform-config" && number == 8:
		return web.PullRequest{PullRequestSummary: persons(), Body: "Sundays are busy.", HeadSHA: source}, nil
	}
	return web.PullRequest{}, promotion.ErrNotFound
}

func (h host) Branches(_ context.Context, repository string) ([]string, error) {
	if repository != "platform-config" {
		return nil, promotion.ErrNotFound
	}
	return h.branches, nil
}

func (h host) Open(_ context.Context, by promotion.Actor, repository, branch, title, body string) (int, error) {
	return 9, h.only(by, []any{"open", repository, branch, title, body})
}

func (h host) Close(_ context.Context, by promotion.Actor, repository string, number int) error {
	return h.only(by, []any{"close", repository, number})
}

func (h host) Merge(_ context.Context, by promotion.Actor, repository string, number int, head string) error {
	return h.only(by, []any{"merge at host", repository, number, head})
}
