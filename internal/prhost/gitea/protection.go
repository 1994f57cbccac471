package gitea

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Protection implements promotion.PullRequestHost. Gitea never lets a protected
// branch be deleted, and force-pushed only by who may push to it. It cannot pin a
// status to who sets it, so something is always missing and a target is advisory.
func (h *Host) Protection(ctx context.Context) (promotion.Protection, error) {
	c, err := h.call(ctx)
	if err != nil {
		return promotion.Protection{}, err
	}
	branch, _, err := c.GetRepoBranch(h.Owner, h.Repository, h.BaseBranch)
	if err := c.failed(err, "read the branch %s of %s", h.BaseBranch, h.name()); err != nil {
		return promotion.Protection{}, err
	}
	if !branch.Protected {
		return promotion.Protection{Missing: []string{fmt.Sprintf("%s is not protected: forbid pushes to it and require the status %s", h.BaseBranch, h.StatusContext)}}, nil
	}
	if branch.EffectiveBranchProtectionName == "" {
		return promotion.Protection{}, fmt.Errorf("read the protection of %s: Gitea tells it to administrators of %s only: make the token's user one", h.BaseBranch, h.name())
	}
	rule, _, err := c.GetBranchProtection(h.Owner, h.Repository, branch.EffectiveBranchProtectionName)
	if c.refused(http.StatusNotFound) {
		return promotion.Protection{}, fmt.Errorf("the protection %s of %s is gone since it was found", branch.EffectiveBranchProtectionName, h.BaseBranch)
	}
	if err := c.failed(err, "read the protection of %s", h.BaseBranch); err != nil {
		return promotion.Protection{}, err
	}
	return promotion.Protection{Missing: h.missing(rule)}, nil
}

func (h *Host) missing(rule *gitea.BranchProtection) (missing []string) {
	add := func(format string, args ...any) { missing = append(missing, fmt.Sprintf(format, args...)) }
	some := len(rule.PushWhitelistUsernames)+len(rule.PushWhitelistTeams) > 0 || rule.PushWhitelistDeployKeys
	switch {
	case rule.EnablePush && !rule.EnablePushWhitelist:
		add("%s takes direct pushes: forbid them", h.BaseBranch)
	case rule.EnablePush && some:
		add("some may push to %s without a pull request: empty the list of who may", h.BaseBranch)
	}
	if rule.UnprotectedFilePatterns != "" {
		add("files that match %s may be pushed to %s without a pull request: empty the unprotected file patterns", rule.UnprotectedFilePatterns, h.BaseBranch)
	}
	if !rule.BlockAdminMergeOverride {
		add("administrators may merge into %s past its protection: do not allow them to", h.BaseBranch)
	}
	if !rule.EnableStatusCheck || !slices.Contains(rule.StatusCheckContexts, h.StatusContext) {
		add("the status %s is not required to merge into %s: require it by exactly this name", h.StatusContext, h.BaseBranch)
	}
	add("Gitea cannot pin the status %s to Sluice: whoever may write to %s may set it", h.StatusContext, h.name())
	return missing
}
