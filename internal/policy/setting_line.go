package policy

import (
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
)

// fewer is a number from 1 of which the smaller is the stricter.
func fewer(key string, at func(*promotion.EnvironmentPolicy) *int) setting {
	s := number(key, func(p *promotion.EnvironmentPolicy) int { return *at(p) }, func(p *promotion.EnvironmentPolicy, n int) { *at(p) = n },
		func(n, than int) bool { return n > than })
	whole := s.read
	s.read = func(f field) (value, bool) {
		v, ok := whole(f)
		if ok && v.text == "0" {
			f.fault(BadValue, "must be a whole number from 1 to %d, not 0: to let nothing out, hold the target", mostNumber)
			ok = false
		}
		return v, ok
	}
	return s
}

// priority is of a sync in the line; the lower one is the stricter.
func priority(key string) setting {
	classes := []string{"low", "normal", "high"} // in the order of promotion.Priority
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return classes[p.SyncPriority] },
		read: func(f field) (value, bool) {
			word, ok := f.choice(classes...)
			class := promotion.Priority(slices.Index(classes, word))
			return value{
				set:    func(p *promotion.EnvironmentPolicy) { p.SyncPriority = class },
				looser: func(than *promotion.EnvironmentPolicy) bool { return class > than.SyncPriority },
				text:   word,
			}, ok
		},
	}
}
