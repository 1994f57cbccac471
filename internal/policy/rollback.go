package policy

import "github.com/sluicehq/sluice/internal/promotion"

// rollbackApprovals are as many as for any other change where nothing says otherwise.
func rollbackApprovals(key string) setting {
	return number(key, func(p *promotion.EnvironmentPolicy) int {
		return p.Of(promotion.Promotion{Kind: promotion.KindRollback}).Approvals
	},
		func(p *promotion.EnvironmentPolicy, n int) { p.RollbackApprovals = &n }, less)
}
