// Package gitea is the pull request host on Gitea and Forgejo. It makes at most one
// writing call per step, and looks before it makes one, so that a call which timed
// out after Gitea had done it is never done twice.
package gitea

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// MergeMethod is how Gitea puts a pull request on the base branch.
type MergeMethod string

// Gitea's merge methods; the repository's settings have to allow the one used.
const (
	MergeCommit MergeMethod = "merge"
	Squash      MergeMethod = "squash"
	Rebase      MergeMethod = "rebase"
)

// Options say which repository a Host is and how it is reached. Server, Owner,
// Repository, BaseBranch and Token are required.
type Options struct {
	// Server is where Gitea is, such as https://gitea.example.com.
	Server            string
	Owner, Repository string
	// BaseBranch is the branch that pull requests are made against.
	BaseBranch string
	// Token gives the access token of the next call. It needs the scopes
	// write:repository and write:issue, and to read the base branch's protection
	// its user has to administer the repository.
	Token func(ctx context.Context) (string, error)
	// HTTP makes the calls. Nil: one that gives up after 30 seconds.
	HTTP *http.Client
	// MergeMethod is MergeCommit when empty.
	MergeMethod MergeMethod
	// StatusContext is the commit status that the base branch has to require;
	// Protection says so when it does not. sluice/gates when empty.
	StatusContext string
	// Clock is time.Now when nil.
	Clock func() time.Time
}

// Host is one repository of Gitea. It is safe for concurrent use.
type Host struct {
	Options
	http    *http.Client
	limited atomic.Pointer[time.Time] // no call is made until then
}

// New makes a Host. It makes no call.
func New(o Options) (*Host, error) {
	if o.Owner == "" || o.Repository == "" || o.BaseBranch == "" {
		return nil, errors.New("a Gitea repository needs its owner, its name and a base branch")
	}
	if o.Token == nil {
		return nil, fmt.Errorf("the Gitea repository %s/%s needs a token", o.Owner, o.Repository)
	}
	u, err := url.Parse(o.Server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, errors.New("the address of Gitea has to look like https://gitea.example.com, without credentials")
	}
	o.Server = strings.TrimRight(o.Server, "/")
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
	return &Host{Options: o, http: clientOf(o.HTTP)}, nil
}

func (h *Host) name() string { return h.Owner + "/" + h.Repository }
