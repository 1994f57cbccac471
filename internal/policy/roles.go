package policy

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// approvers are the roles that may approve, and count where no policy names any.
func approvers() []promotion.Role {
	return []promotion.Role{promotion.RoleApprover, promotion.RoleReleaseManager, promotion.RoleAdmin}
}

func rolesOf(p *promotion.EnvironmentPolicy) []promotion.Role {
	if len(p.ApproverRoles) == 0 {
		return approvers()
	}
	return p.ApproverRoles
}

func roles(key string) setting {
	text := func(roles []promotion.Role) string { return "[" + strings.Join(words(roles), ", ") + "]" }
	return setting{
		key:  key,
		show: func(p *promotion.EnvironmentPolicy) string { return text(rolesOf(p)) },
		read: func(f field) (value, bool) {
			names, ok := f.texts(func(f field) (string, bool) { return f.choice(words(approvers())...) })
			own := make([]promotion.Role, len(names))
			for i, name := range names {
				own[i] = promotion.Role(name)
			}
			return value{
				set: func(p *promotion.EnvironmentPolicy) { p.ApproverRoles = slices.Clone(own) },
				looser: func(than *promotion.EnvironmentPolicy) bool {
					known := rolesOf(than)
					return slices.ContainsFunc(own, func(r promotion.Role) bool { return !slices.Contains(known, r) })
				},
				text: text(own),
			}, ok
		},
	}
}
