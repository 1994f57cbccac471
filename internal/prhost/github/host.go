// Package github is the pull request host on github.com and GitHub Enterprise
// Server. It makes at most one writing call per step, so that a call which
// timed out after GitHub had done it is found by the next look and never done twice.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v60/github"
)

// MergeMethod is how GitHub puts a pull request on the base branch.
type MergeMethod string

// GitHub's merge methods; the repository's settings have to allow the one used.
const (
	MergeCommit MergeMethod = "merge"
	Squash      MergeMethod = "squash"
	Rebase      MergeMethod = "rebase"
)

// timeout ends a call of a client that has no time-out of its own.
const timeout = 30 * time.Second

// Options say which repository a Host is and how it is reached. Owner,
// Repository, BaseBranch and Token are required.
type Options struct {
	Owner, Repository string
	// BaseBranch is the branch that pull requests are made against.
	BaseBranch string
	// BaseURL of a GitHub Enterprise Server, such as https://github.example.com.
	// Empty: github.com.
	BaseURL string
	// Token gives the token of the next call: a personal one, or an installation token
	// of a GitHub App. It is asked for every call and has to cache by itself.
	Token func(ctx context.Context) (string, error)
	// Refused is told of a token that GitHub answers 401 to. When Token then gives another one, the call is made
	// again, once. Nil: Token has no other.
	Refused func(token string)
	// HTTP makes the calls. Nil: one that gives up after 30 seconds.
	HTTP *http.Client
	// MergeMethod is MergeCommit when empty.
	MergeMethod MergeMethod
	// StatusContext is the commit status that the base branch has to require;
	// Protection says so when it does not. sluice/gates when empty.
	StatusContext string
	// AppID is the GitHub App whose tokens Token gives: the required status has to be pinned to it. 0: a person's token,
	// to which no status can be pinned, and Protection says so.
	AppID int64
	// Clock is time.Now when nil.
	Clock func() time.Time
}

// Host is one repository of GitHub. It is safe for concurrent use.
type Host struct {
	Options
	client *github.Client
}

// New makes a Host. It makes no call.
func New(o Options) (*Host, error) {
	if o.Owner == "" || o.Repository == "" || o.BaseBranch == "" {
		return nil, errors.New("a GitHub repository needs its owner, its name and a base branch")
	}
	if o.Token == nil {
		return nil, fmt.Errorf("GitHub repository %s/%s needs a token", o.Owner, o.Repository)
	}
	o.MergeMethod = cmp.Or(o.MergeMethod, MergeCommit)
	switch o.MergeMethod {
	case MergeCommit, Squash, Rebase:
	default:
		return nil, fmt.Errorf("merge method %q is not one of merge, squash and rebase", o.MergeMethod)
	}
	o.StatusContext = cmp.Or(o.StatusContext, "sluice/gates")
	if o.Clock == nil {
		o.Clock = time.Now
	}
	client, err := newClient(authorised(o.HTTP, o.Token, o.Refused), o.BaseURL)
	if err != nil {
		return nil, err
	}
	return &Host{Options: o, client: client}, nil
}

// newClient makes a client of github.com, or of the GitHub Enterprise Server at a base URL.
func newClient(calls *http.Client, baseURL string) (*github.Client, error) {
	client := github.NewClient(calls)
	if baseURL == "" {
		return client, nil
	}
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, errors.New("the base URL of GitHub Enterprise Server has to look like https://github.example.com, without credentials")
	}
	if client, err = client.WithEnterpriseURLs(baseURL, baseURL); err != nil {
		return nil, fmt.Errorf("base URL of GitHub Enterprise Server: %w", err)
	}
	return client, nil
}

func (h *Host) name() string { return h.Owner + "/" + h.Repository }
