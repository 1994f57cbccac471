package gitea

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Between implements promotion.Sources for every repository of the same Gitea that the token may read.
func (h *Host) Between(ctx context.Context, repository, a, b string) (promotion.SourceRange, error) {
	u, err := url.Parse(h.Server)
	if err != nil {
		return promotion.SourceRange{}, err
	}
	owner, name, ours := promotion.SourceOn(u.Host, repository)
	if !ours {
		return promotion.SourceRange{}, promotion.ErrNotFound
	}
	c, err := h.call(ctx)
	if err != nil {
		return promotion.SourceRange{}, err
	}
	compared, _, err := c.CompareCommits(owner, name, a, b)
	if c.refused(http.StatusForbidden, http.StatusNotFound) {
		return promotion.SourceRange{}, promotion.ErrNotFound
	}
	if err := c.failed(err, "compare two commits of %s", repository); err != nil {
		return promotion.SourceRange{}, err
	}
	r := promotion.SourceRange{Total: compared.TotalCommits, URL: h.Server + "/" + owner + "/" + name + "/compare/" + a + "..." + b}
	for _, c := range compared.Commits { // newest first
		commit := promotion.SourceCommit{SHA: c.SHA}
		if said := c.RepoCommit; said != nil {
			commit.Title, _, _ = strings.Cut(said.Message, "\n")
			if said.Author != nil {
				commit.Author = said.Author.Name
			}
		}
		r.Commits = append(r.Commits, commit)
	}
	return r, nil
}
