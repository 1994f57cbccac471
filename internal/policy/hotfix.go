package policy

import "github.com/sluicehq/sluice/internal/promotion"

// hotfixApprovals are as many as for any other change, and two at least, where nothing says otherwise.
func hotfixApprovals(key string) setting {
	return number(key, func(p *promotion.EnvironmentPolicy) int { return p.Of(promotion.Promotion{Hotfix: true}).Approvals },
		func(p *promotion.EnvironmentPolicy, n int) { p.HotfixApprovals = &n }, less)
}
