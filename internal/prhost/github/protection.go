package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// lock is one thing that a host has to enforce on the base branch.
type lock string

const (
	pullRequests  lock = "pull requests"
	noForcePushes lock = "no force pushes"
	noDeletion    lock = "no deletion"
	statusPinned  lock = "pinned status"
)

// locks are all of them, in the order in which they are told.
func locks() []lock { return []lock{pullRequests, noForcePushes, noDeletion, statusPinned} }

// Protection implements promotion.PullRequestHost. GitHub has two ways to
// protect a branch, and each lock may be held by either: branch protection,
// told to tokens with the permission administration: read, and rulesets. What
// cannot be read is an error or missing, never held.
func (h *Host) Protection(ctx context.Context) (promotion.Protection, error) {
	missing, err := h.unprotected(ctx)
	if err == nil && h.AppID == 0 {
		missing = append(missing, h.advisory())
	}
	return promotion.Protection{Missing: missing}, err
}

// advisory says what no setting makes up for while Sluice acts with a person's token.
func (h *Host) advisory() string {
	return fmt.Sprintf("advisory: the status %s is not pinned to an App: whoever may write to %s may set it. Let Sluice act as a GitHub App", h.StatusContext, h.name())
}

// unprotected is what settings of the repository can mend.
func (h *Host) unprotected(ctx context.Context) (missing []string, err error) {
	lacking, err := h.branchProtection(ctx)
	if err != nil || len(lacking.why) == 0 && lacking.exempt == "" {
		return nil, err
	}
	held, notes, err := h.rulesets(ctx)
	if err != nil {
		return nil, err
	}
	return lacking.without(held, notes), nil
}

// lacks is what branch protection does not enforce, and why.
type lacks struct {
	why    map[lock]string
	exempt string // who all locks do not hold for
}

// without is what is missing when rulesets hold some of the locks.
func (l lacks) without(held map[lock]bool, notes []string) (missing []string) {
	needed := false // is any lock held by branch protection alone?
	for _, k := range locks() {
		if held[k] {
			continue
		}
		needed = true
		if why := l.why[k]; why != "" {
			missing = append(missing, why)
		}
	}
	if needed && l.exempt != "" {
		missing = append(missing, l.exempt)
	}
	if len(missing) > 0 {
		missing = append(missing, notes...)
	}
	return missing
}

func (h *Host) branchProtection(ctx context.Context) (lacks, error) {
	p, _, err := h.client.Repositories.GetBranchProtection(ctx, h.Owner, h.Repository, h.BaseBranch)
	if errors.Is(err, github.ErrBranchNotProtected) {
		p, err = &github.Protection{
			AllowForcePushes: &github.AllowForcePushes{Enabled: true}, AllowDeletions: &github.AllowDeletions{Enabled: true},
			EnforceAdmins: &github.AdminEnforcement{Enabled: true}, // from nothing nobody is exempt
		}, nil
	}
	if err != nil {
		return lacks{}, h.failure(err, "read the protection of %s, for which the token needs administration: read", h.BaseBranch)
	}
	return h.lacks(p), nil
}

func (h *Host) lacks(p *github.Protection) lacks {
	l := lacks{why: map[lock]string{}}
	add := func(k lock, format string, args ...any) { l.why[k] = fmt.Sprintf(format, args...) }
	switch r := p.RequiredPullRequestReviews; {
	case r == nil:
		add(pullRequests, "%s takes direct pushes: require a pull request before merging", h.BaseBranch)
	case r.BypassPullRequestAllowances != nil:
		if b := r.BypassPullRequestAllowances; len(b.Users)+len(b.Teams)+len(b.Apps) > 0 {
			add(pullRequests, "some may push to %s without a pull request: empty the list of who may bypass it", h.BaseBranch)
		}
	}
	if f := p.AllowForcePushes; f == nil || f.Enabled {
		add(noForcePushes, "%s takes force pushes: forbid them", h.BaseBranch)
	}
	if d := p.AllowDeletions; d == nil || d.Enabled {
		add(noDeletion, "%s may be deleted: forbid it", h.BaseBranch)
	}
	required := map[string]*int64{}
	if p.RequiredStatusChecks != nil && p.RequiredStatusChecks.Checks != nil {
		for _, c := range *p.RequiredStatusChecks.Checks {
			required[c.Context] = c.AppID
		}
	}
	if why := h.unpinned(required); why != "" {
		l.why[statusPinned] = why
	}
	if p.EnforceAdmins == nil || !p.EnforceAdmins.Enabled {
		l.exempt = fmt.Sprintf("administrators are exempt from the protection of %s: do not allow bypassing it", h.BaseBranch)
	}
	return l
}

// unpinned says why the required statuses, with the App each is pinned to, are not
// a lock: one that anybody may set is none.
func (h *Host) unpinned(required map[string]*int64) string {
	app, is := required[h.StatusContext]
	pinned := app != nil && *app > 0
	switch {
	case !is:
		return fmt.Sprintf("the status %s is not required to merge into %s: require it, from Sluice's App", h.StatusContext, h.BaseBranch)
	case h.AppID == 0 && pinned:
		return fmt.Sprintf("the required status %s is pinned to the App %d, and Sluice acts with a token, which can never set it", h.StatusContext, *app)
	case h.AppID == 0:
		return "" // the advisory is told in any case
	case !pinned:
		return fmt.Sprintf("the required status %s may come from anybody who can write: pin it to Sluice's App", h.StatusContext)
	case *app != h.AppID:
		return fmt.Sprintf("the required status %s is pinned to the App %d, and Sluice's is %d", h.StatusContext, *app, h.AppID)
	}
	return ""
}
