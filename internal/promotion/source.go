package promotion

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Sources reads the source repositories that builds were made from.
type Sources interface {
	// Between lists the commits that a has not and b has, newest first and at most some of them, and how many there are.
	// ErrNotFound when the repository is none of this host, may not be read, or lacks one of them.
	Between(ctx context.Context, repository, a, b string) (SourceRange, error)
}

// SourceRange is what lies between two commits of a source repository.
type SourceRange struct {
	Commits []SourceCommit `json:"commits"`
	Total   int            `json:"total"`
	URL     string         `json:"url"` // of a page that shows it; may be empty
}

// SourceCommit is one commit of a source repository.
type SourceCommit struct {
	SHA    string `json:"sha"`
	Title  string `json:"title"`
	Author string `json:"author"`
}

// SourceChange is how the source of a target's images changes.
type SourceChange struct {
	Repository string `json:"repository"`
	From       string `json:"from"`
	To         string `json:"to"`
	Back       bool   `json:"back"` // the commits are taken back: To is the older one
	SourceRange
	Problem string `json:"problem"` // why the commits are not known
}

// sourceShown is how many commits of one source repository are kept.
const sourceShown = 20

// sourceChanges says for each source repository which commits lie between what main has in the target and what it is to get. What
// cannot be read is said: it informs, and holds nothing.
func (s *Service) sourceChanges(ctx context.Context, f *situation) ([]SourceChange, error) {
	current, err := s.onMain(ctx, f.Target)
	if err != nil || current.ID == 0 || current.ID == f.Release.ID {
		return nil, err
	}
	old, err := s.sourcesOf(ctx, current)
	if err != nil {
		return nil, err
	}
	now, err := s.sourcesOf(ctx, f.Release)
	if err != nil {
		return nil, err
	}
	var changes []SourceChange
	for repository, to := range now {
		if from := old[repository]; from != "" && from != to {
			changes = append(changes, SourceChange{Repository: repository, From: from, To: to, Back: f.Release.Number < current.Number})
		}
	}
	slices.SortFunc(changes, func(a, b SourceChange) int { return strings.Compare(a.Repository, b.Repository) })
	for i := range changes {
		s.readSource(ctx, f.site, &changes[i])
	}
	return changes, nil
}

// sourcesOf gives the commit of each source repository that a release was built from.
func (s *Service) sourcesOf(ctx context.Context, r Release) (map[string]string, error) {
	commits := map[string]string{}
	for _, a := range r.Artifacts {
		if a.BuildID == 0 {
			continue
		}
		b, err := s.Store.BuildOutcome(ctx, a.BuildID)
		if err != nil {
			return nil, fmt.Errorf("read build %d: %w", a.BuildID, err)
		}
		commits[b.Build.Source.Repository] = b.Build.Source.Commit
	}
	return commits, nil
}

func (s *Service) readSource(ctx context.Context, site Site, c *SourceChange) {
	a, b := c.From, c.To
	if c.Back {
		a, b = b, a
	}
	err := ErrNotFound
	if site.Sources != nil {
		c.SourceRange, err = site.Sources.Between(ctx, c.Repository, a, b)
	}
	switch {
	case errors.Is(err, ErrNotFound):
		c.Problem = "cannot be read from here"
	case err != nil:
		c.Problem = fmt.Sprintf("could not be read: %v", err)
	}
	c.Commits = c.Commits[:min(len(c.Commits), sourceShown)]
}

var scpForm = regexp.MustCompile(`^[^@/]+@([^:/]+):([^/].*)$`)

// SourceName splits the name of a source repository, as CI says it, into the server, in lower case and empty when it names none, and the path
// there: of https://github.com/shop/web.git, git@github.com:shop/web.git and github.com/shop/web alike. Credentials are dropped.
func SourceName(repository string) (server, path string) {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(repository), "/"), ".git")
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		return strings.ToLower(u.Host), strings.Trim(u.Path, "/")
	}
	if m := scpForm.FindStringSubmatch(name); m != nil {
		return strings.ToLower(m[1]), m[2]
	}
	if first, rest, ok := strings.Cut(name, "/"); ok && strings.ContainsAny(first, ".:") {
		return strings.ToLower(first), rest
	}
	return "", name
}

// SourceOn splits the name of a source repository on a server with owners, such as GitHub, or one that names no server; ok is false
// for any other.
func SourceOn(server, repository string) (owner, name string, ok bool) {
	at, path := SourceName(repository)
	owner, name, ok = strings.Cut(path, "/")
	return owner, name, ok && !strings.Contains(name, "/") && (at == "" || at == strings.ToLower(server))
}

// write says it for people who decide. Titles are somebody else's words: in code marks they mention nobody and format nothing.
func (c SourceChange) write(b *strings.Builder) {
	span := fmt.Sprintf("`%s` to `%s`", short(c.From), short(c.To))
	if c.URL != "" {
		span = fmt.Sprintf("[%s](%s)", span, c.URL)
	}
	fmt.Fprintf(b, "`%s`, %s: ", c.Repository, span)
	fmt.Fprintf(b, "%s\n", c.Said())
	plain := strings.NewReplacer("`", "'", "\n", " ", "\r", " ")
	for _, commit := range c.Commits {
		fmt.Fprintf(b, "- `%s %s` by `%s`\n", short(commit.SHA), plain.Replace(commit.Title), plain.Replace(commit.Author))
	}
	if more := c.Total - len(c.Commits); more > 0 && c.Problem == "" {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
	b.WriteString("\n")
}

// Said is how many commits there are, and which way, in a sentence.
func (c SourceChange) Said() string {
	switch {
	case c.Problem != "":
		return "the commits between " + c.Problem + "."
	case c.Total == 0:
		return "no commit."
	case c.Back:
		return "takes back " + counted(c.Total, "commit") + "."
	}
	return counted(c.Total, "commit") + "."
}
