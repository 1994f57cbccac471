package scenario_test

import (
	"time"

	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/promotion"
)

// policies are those of the config repository's files, changed by the test.
type policies struct {
	policy.Reader
	change func(promotion.Target, *promotion.EnvironmentPolicy)
	window func(promotion.Target, time.Time) promotion.WindowDecision
}

func (p *policies) Parse(files promotion.PolicyFiles) (promotion.Rules, error) {
	read, err := p.Reader.Parse(files)
	return rules{read, p}, err
}

type rules struct {
	promotion.Rules
	test *policies
}

func (r rules) For(t promotion.Target) promotion.EnvironmentPolicy {
	e := r.Rules.For(t)
	if r.test.change != nil {
		r.test.change(t, &e)
	}
	return e
}

func (r rules) Window(t promotion.Target, clusters []string, at time.Time) promotion.WindowDecision {
	if r.test.window == nil {
		return r.Rules.Window(t, clusters, at)
	}
	return r.test.window(t, at)
}
