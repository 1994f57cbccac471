package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/web"
)

// pullRequestPages shows the built-in host's pull requests on pages.
type pullRequestPages struct{ host *builtin.Host }

func (p pullRequestPages) List(ctx context.Context, repository string) ([]web.PullRequestSummary, error) {
	all, err := p.host.PullRequests(ctx, repository, "")
	list := make([]web.PullRequestSummary, len(all))
	for i, s := range all {
		list[i] = summary(s)
	}
	return list, err
}

func (p pullRequestPages) Get(ctx context.Context, repository string, number int) (web.PullRequest, error) {
	d, err := p.host.PullRequest(ctx, repository, number)
	if err != nil {
		return web.PullRequest{}, err
	}
	page := web.PullRequest{PullRequestSummary: summary(d.Summary), Body: d.Body, HeadSHA: d.HeadSHA, MergeSHA: d.MergeSHA,
		MergedBy: d.MergedBy, Cut: d.Diff.Cut}
	if page.MergedBy == "" {
		page.MergedBy = d.ClosedBy
	}
	for _, c := range d.Comments {
		page.Comments = append(page.Comments, web.PullRequestComment(c))
	}
	for _, s := range d.Statuses {
		page.Statuses = append(page.Statuses, web.PullRequestStatus{Context: s.Context, State: s.State, Description: s.Description, URL: s.URL, At: s.At})
	}
	var diff strings.Builder
	for _, f := range d.Diff.Files {
		diff.WriteString(f.Text)
	}
	page.Diff = diff.String()
	return page, nil
}

func (p pullRequestPages) Branches(ctx context.Context, repository string) ([]string, error) {
	return p.host.Branches(ctx, repository)
}

func (p pullRequestPages) Open(ctx context.Context, by promotion.Actor, repository, branch, title, body string) (int, error) {
	opened, err := p.host.Open(ctx, repository, promotion.NewPullRequest{Branch: branch, Title: title, Body: body}, by)
	return opened.Number, err
}

func (p pullRequestPages) Merge(ctx context.Context, by promotion.Actor, repository string, number int, head string) error {
	_, err := p.host.Repository(repository).Merge(ctx, number, head, fmt.Sprintf("Merge pull request #%d", number), by, "")
	return err
}

func (p pullRequestPages) Close(ctx context.Context, by promotion.Actor, repository string, number int) error {
	return p.host.Close(ctx, repository, number, "", by)
}

func summary(s builtin.Summary) web.PullRequestSummary {
	return web.PullRequestSummary{Number: s.Number, Title: s.Title, State: string(s.State), Branch: s.Branch, Author: s.Author, OpenedAt: s.OpenedAt}
}
