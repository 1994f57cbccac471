package policy

import (
	"strconv"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// setting is one thing that a policy says of an environment.
type setting struct {
	key  string // as in loosen: approvals.count
	read func(field) (value, bool)
	show func(*promotion.EnvironmentPolicy) string // what a policy has, as a file would say it
}

// value is what a file gives a setting.
type value struct {
	set    func(*promotion.EnvironmentPolicy)
	looser func(than *promotion.EnvironmentPolicy) bool
	text   string
}

// settings are all there are, with the direction that is stricter: the first word of two, the longer or the shorter time, the
// greater number, the smaller set. What has no direction counts as looser whenever it differs.
var settings = append([]setting{
	either("promotion", "manual", "automatic", false, func(p *promotion.EnvironmentPolicy) *bool { return &p.AutomaticPromotion }),
	either("merge", "manual", "automatic", false, func(p *promotion.EnvironmentPolicy) *bool { return &p.AutomaticMerge }),
	either("sync", "sluice", "engine", true, func(p *promotion.EnvironmentPolicy) *bool { return &p.SyncBySluice }),
	either("upstream", "all", "any", false, func(p *promotion.EnvironmentPolicy) *bool { return &p.UpstreamAny }),
	either("reason", "required", "optional", true, func(p *promotion.EnvironmentPolicy) *bool { return &p.ReasonRequired }),
	count("approvals.count", func(p *promotion.EnvironmentPolicy) *int { return &p.Approvals }),
	roles("approvals.roles"),
	expiry("approvals.expire_after"),
	longer("soak", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.Soak }),
	longer("window.lead", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.WindowLead }),
	longer("window.least_left", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.WindowLeft }),
	evidence("evidence"),
	registries("registries"),
}, modes("gates.")...)

// either is a setting of two words; ifStrict is the truth value behind the stricter one.
func either(key, strict, loose string, ifStrict bool, at func(*promotion.EnvironmentPolicy) *bool) setting {
	show := func(p *promotion.EnvironmentPolicy) string {
		if *at(p) == ifStrict {
			return strict
		}
		return loose
	}
	return setting{key: key, show: show, read: func(f field) (value, bool) {
		word, ok := f.choice(strict, loose)
		return value{
			set:    func(p *promotion.EnvironmentPolicy) { *at(p) = ifStrict == (word == strict) },
			looser: func(than *promotion.EnvironmentPolicy) bool { return word == loose && show(than) == strict },
			text:   word,
		}, ok
	}}
}

func count(key string, at func(*promotion.EnvironmentPolicy) *int) setting {
	const most = 100
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return strconv.Itoa(*at(p)) },
		read: func(f field) (value, bool) {
			n, ok := f.whole(most)
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { *at(p) = n },
				looser: func(than *promotion.EnvironmentPolicy) bool { return n < *at(than) },
				text:   strconv.Itoa(n),
			}, ok
		},
	}
}

func longer(key string, at func(*promotion.EnvironmentPolicy) *time.Duration) setting {
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return lasting(*at(p)) },
		read: func(f field) (value, bool) {
			d, ok := f.duration()
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { *at(p) = d },
				looser: func(than *promotion.EnvironmentPolicy) bool { return d < *at(than) },
				text:   lasting(d),
			}, ok
		},
	}
}

func words[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}
