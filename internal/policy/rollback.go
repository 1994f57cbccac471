package policy

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

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

// dependedTarget is an application, alone or with an environment: names of folders.
var dependedTarget = regexp.MustCompile(`^[^/\s]+(/[^/\s]+)?$`)

// dependency reads what an application depends on: another application, or a metric.
func (f field) dependency() (n promotion.NeededEvidence, ok bool) {
	if f.node.Kind == yaml.MappingNode {
		return f.metric()
	}
	text, ok := f.text()
	if ok && !dependedTarget.MatchString(text) {
		f.fault(BadValue, "%s is no target: say an application such as payments, or payments/prod for another environment than the own", cut(text))
		return n, false
	}
	n.Name, n.Environment, _ = strings.Cut(text, "/")
	return n, ok
}
