package policy

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// groups are the groups of which an approver is in one, besides having a role; fewer are stricter, and any are stricter than none,
// which lets everybody approve who has a role.
func groups(key string) setting {
	text := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return text(p.ApproverGroups) },
		read: func(f field) (value, bool) {
			own, ok := f.texts(field.text)
			return value{
				set: func(p *promotion.EnvironmentPolicy) { p.ApproverGroups = slices.Clone(own) },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					return len(than.ApproverGroups) > 0 && slices.ContainsFunc(own, func(g string) bool { return !slices.Contains(than.ApproverGroups, g) })
				},
				text: text(own),
			}, ok
		},
	}
}
