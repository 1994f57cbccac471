package github

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Between implements promotion.Sources for every repository of the same GitHub that the token may read.
func (h *Host) Between(ctx context.Context, repository, a, b string) (promotion.SourceRange, error) {
	owner, name, ours := promotion.SourceOn(h.server(), repository)
	if !ours {
		return promotion.SourceRange{}, promotion.ErrNotFound
	}
	const most = 100 // GitHub lists the oldest first, so the newest of them are on the last page
	compared, answer, err := h.client.Repositories.CompareCommits(ctx, owner, name, a, b, &github.ListOptions{PerPage: most})
	if err == nil && answer.LastPage > 1 {
		compared, answer, err = h.client.Repositories.CompareCommits(ctx, owner, name, a, b, &github.ListOptions{PerPage: most, Page: answer.LastPage})
	}
	if answer != nil && answer.StatusCode == http.StatusForbidden && !h.limits(err) {
		return promotion.SourceRange{}, promotion.ErrNotFound // a repository that the App is not installed on
	}
	if err != nil {
		return promotion.SourceRange{}, h.failure(err, "compare two commits of %s", repository)
	}
	r := promotion.SourceRange{Total: compared.GetTotalCommits(), URL: compared.GetHTMLURL()}
	for _, c := range slices.Backward(compared.Commits) {
		title, _, _ := strings.Cut(c.GetCommit().GetMessage(), "\n")
		r.Commits = append(r.Commits, promotion.SourceCommit{SHA: c.GetSHA(), Title: title, Author: c.GetCommit().GetAuthor().GetName()})
	}
	return r, nil
}

func (h *Host) limits(err error) bool {
	_, limited := limit(err, h.Clock())
	return limited
}

// server is where this GitHub is.
func (h *Host) server() string {
	if u, err := url.Parse(h.BaseURL); err == nil && u.Host != "" {
		return u.Host
	}
	return "github.com"
}
