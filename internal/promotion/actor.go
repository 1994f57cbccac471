package promotion

import "slices"

// Role is what a person or a token may do.
type Role string

// The roles. Nothing follows from having none.
const (
	RoleViewer         Role = "viewer"
	RoleCI             Role = "ci"
	RoleReleaseManager Role = "release-manager"
	RoleApprover       Role = "approver"
	RoleAdmin          Role = "admin"
	RoleBreakGlass     Role = "break-glass" // may override gates, and read
)

// Roles lists all there are.
func Roles() []Role {
	return []Role{RoleViewer, RoleCI, RoleReleaseManager, RoleApprover, RoleBreakGlass, RoleAdmin}
}

// Actor is who does something: a person, an API token or Sluice itself.
type Actor struct {
	Name  string
	Kind  ActorKind
	Roles []Role
}

// ActorKind tells persons, tokens and Sluice itself apart.
type ActorKind string

// The kinds of actors.
const (
	Person ActorKind = "person"
	Token  ActorKind = "token"
	System ActorKind = "system"
)

// Sluice is the actor of everything that happens by policy.
func Sluice() Actor { return Actor{Name: "sluice", Kind: System} }

// Has tells whether the actor holds one of the roles.
func (a Actor) Has(roles ...Role) bool {
	return slices.ContainsFunc(roles, func(r Role) bool { return slices.Contains(a.Roles, r) })
}
