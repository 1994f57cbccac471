package policy

import (
	"cmp"
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
	mergeMethod("merge_method"),
	whenNewer("when_newer"),
	either("sync", "sluice", "engine", true, func(p *promotion.EnvironmentPolicy) *bool { return &p.SyncBySluice }),
	either("upstream", "all", "any", false, func(p *promotion.EnvironmentPolicy) *bool { return &p.UpstreamAny }),
	either("reason", "required", "optional", true, func(p *promotion.EnvironmentPolicy) *bool { return &p.ReasonRequired }),
	count("approvals.count", func(p *promotion.EnvironmentPolicy) *int { return &p.Approvals }),
	roles("approvals.roles"),
	groups("approvals.groups"),
	either("approvals.authors", "exclude", "count", true, func(p *promotion.EnvironmentPolicy) *bool { return &p.ExcludeAuthors }),
	expiry("approvals.expire_after"),
	fewer("concurrency.most", func(p *promotion.EnvironmentPolicy) *int { return &p.SyncsAtOnce }),
	priority("concurrency.priority"),
	longer("soak", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.Soak }),
	longer("window.lead", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.WindowLead }),
	longer("window.least_left", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.WindowLeft }),
	evidence("evidence", (field).neededEvidence, func(p *promotion.EnvironmentPolicy) *[]promotion.NeededEvidence { return &p.Evidence }),
	attest("attest"),
	registries("registries"),
	hotfixApprovals("hotfix.approvals"),
	rollbackApprovals("rollback.approvals"),
	either("rollback.windows", "apply", "ignore", false, func(p *promotion.EnvironmentPolicy) *bool { return &p.RollbackIgnoresWindows }),
	evidence("rollback.dependencies", (field).dependency, func(p *promotion.EnvironmentPolicy) *[]promotion.NeededEvidence { return &p.Dependencies }),
	evidence("rollback.recovery", (field).metric, func(p *promotion.EnvironmentPolicy) *[]promotion.NeededEvidence { return &p.Recovery }),
	shorter("rollback.recover_within", func(p *promotion.EnvironmentPolicy) *time.Duration { return &p.RecoverWithin }),
}, append(checks("rollback_checks."), modes("gates.")...)...)

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

// mergeMethod is none stricter than another. Where no file says one, the repository's configuration does.
func mergeMethod(key string) setting {
	methods := words([]promotion.MergeMethod{promotion.MergeCommit, promotion.MergeSquash, promotion.MergeRebase})
	return setting{
		key: key,
		show: func(p *promotion.EnvironmentPolicy) string {
			return cmp.Or(string(p.MergeMethod), "that of the repository's configuration")
		},
		read: func(f field) (value, bool) {
			word, ok := f.choice(methods...)
			method := promotion.MergeMethod(word)
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { p.MergeMethod = method },
				looser: func(than *promotion.EnvironmentPolicy) bool { return method != than.MergeMethod },
				text:   word,
			}, ok
		},
	}
}

// mostNumber is the largest number of anything.
const mostNumber = 100

// number is a setting of a whole number; looser tells whether n asks for less than another.
func number(key string, get func(*promotion.EnvironmentPolicy) int, set func(*promotion.EnvironmentPolicy, int), looser func(n, than int) bool) setting {
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return strconv.Itoa(get(p)) },
		read: func(f field) (value, bool) {
			n, ok := f.whole(mostNumber)
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { set(p, n) },
				looser: func(than *promotion.EnvironmentPolicy) bool { return looser(n, get(than)) },
				text:   strconv.Itoa(n),
			}, ok
		},
	}
}

func less(n, than int) bool { return n < than }

func count(key string, at func(*promotion.EnvironmentPolicy) *int) setting {
	return number(key, func(p *promotion.EnvironmentPolicy) int { return *at(p) }, func(p *promotion.EnvironmentPolicy, n int) { *at(p) = n }, less)
}

func longer(key string, at func(*promotion.EnvironmentPolicy) *time.Duration) setting {
	return lasting(key, at, func(d, than time.Duration) bool { return d < than })
}

func shorter(key string, at func(*promotion.EnvironmentPolicy) *time.Duration) setting {
	return lasting(key, at, func(d, than time.Duration) bool { return d > than })
}

// lasting is a setting of a time; looser tells whether d asks for less than another.
func lasting(key string, at func(*promotion.EnvironmentPolicy) *time.Duration, looser func(d, than time.Duration) bool) setting {
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return promotion.Lasting(*at(p)) },
		read: func(f field) (value, bool) {
			d, ok := f.duration()
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { *at(p) = d },
				looser: func(than *promotion.EnvironmentPolicy) bool { return looser(d, *at(than)) },
				text:   promotion.Lasting(d),
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
