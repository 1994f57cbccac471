package policy

import "github.com/sluicehq/sluice/internal/promotion"

// checks has a setting for each check of the gate rollback-safe.
func checks(prefix string) []setting {
	var all []setting
	for _, check := range promotion.RollbackChecks() {
		all = append(all, mode(prefix+check, func(p *promotion.EnvironmentPolicy) promotion.Mode { return p.CheckMode(check) },
			func(p *promotion.EnvironmentPolicy, m promotion.Mode) { p.Checks[check] = m }))
	}
	return all
}

// rollbackApprovals are as many as for any other change where nothing says otherwise.
func rollbackApprovals(key string) setting {
	return number(key, func(p *promotion.EnvironmentPolicy) int {
		return p.Of(promotion.Promotion{Kind: promotion.KindRollback}).Approvals
	},
		func(p *promotion.EnvironmentPolicy, n int) { p.RollbackApprovals = &n }, less)
}
