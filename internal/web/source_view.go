package web

import "github.com/sluicehq/sluice/internal/promotion"

// sourceView is how the source of a target's images changes.
type sourceView struct {
	Repository, Said string
	Span             link
	Commits          []promotion.SourceCommit
}

func newSourceView(c promotion.SourceChange) sourceView {
	v := sourceView{Repository: c.Repository, Said: c.Said(), Span: outside(shorten(c.From).Short+" to "+shorten(c.To).Short, c.URL)}
	v.Commits = each(c.Commits, func(commit promotion.SourceCommit) promotion.SourceCommit {
		commit.SHA = shorten(commit.SHA).Short
		return commit
	})
	if more := c.Total - len(c.Commits); more > 0 && len(c.Commits) > 0 {
		v.Said += " The newest of them:"
	}
	return v
}
