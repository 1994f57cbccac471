package promotion

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// holder is somebody as the store knows them. An empty kind is from before it was stored: a person or a token of that name.
type holder struct {
	name string
	kind ActorKind
}

// held are the roles that somebody holds now, and the groups that they are in.
type held struct {
	roles  []Role
	groups []string
	until  time.Time // when they end by themselves; zero: never
}

// holders are those who decided something that has an effect only while they may decide it.
type holders map[holder]held

// holdersOf asks which roles the actors hold now. Whoever is not known holds none.
func (s *Service) holdersOf(ctx context.Context, r Reader, at time.Time, actors []Actor) (holders, error) {
	found := holders{}
	for _, a := range actors {
		who := holder{a.Name, a.Kind}
		if _, asked := found[who]; asked || a.Name == "" {
			continue
		}
		var now held
		if a.Kind != Token && s.People != nil {
			now.roles = slices.Clone(s.People(a.Name))
		}
		if a.Kind != Person {
			roles, until, err := r.TokenRoles(ctx, a.Name, at)
			if err != nil {
				return nil, fmt.Errorf("read which roles the token %s has: %w", a.Name, err)
			}
			now.roles, now.until = append(now.roles, roles...), until
		}
		if s.Groups != nil {
			now.groups = s.Groups(a.Name)
		}
		found[who] = now
	}
	return found, nil
}

// lost says that somebody, who had their roles when they decided, holds none of the needed ones any more; empty when they still do.
func (h holders) lost(a Actor, needed []Role) string {
	if (Actor{Roles: h[holder{a.Name, a.Kind}].roles}).Has(needed...) {
		return ""
	}
	had := slices.DeleteFunc(slices.Clone(a.Roles), func(r Role) bool { return !slices.Contains(needed, r) })
	if len(had) == 0 {
		had = needed
	}
	return fmt.Sprintf("%s no longer has the role %s", a.Name, roleNames(had))
}

// inOne tells whether somebody is in one of the groups now. Of no groups everybody is.
func (h holders) inOne(a Actor, groups []string) bool {
	return len(groups) == 0 || slices.ContainsFunc(h[holder{a.Name, a.Kind}].groups, func(g string) bool { return slices.Contains(groups, g) })
}

// lookAtHolders asks which roles those hold now whose decisions the promotion rests on.
func (s *Service) lookAtHolders(ctx context.Context, f *situation) (err error) {
	actors := []Actor{f.StandingMerge.asker()}
	for _, a := range f.approvals {
		actors = append(actors, a.author())
	}
	for _, o := range f.overrides {
		actors = append(actors, o.giver())
	}
	if f.holders, err = s.holdersOf(ctx, s.Store, f.now, actors); err != nil {
		return err
	}
	return s.lookAtAuthors(ctx, f)
}

func (a Approval) author() Actor { return Actor{Name: a.Actor, Kind: a.Kind, Roles: a.Roles} }

func (w StandingMerge) asker() Actor { return Actor{Name: w.By, Kind: w.Kind, Roles: w.Roles} }

func (o Override) giver() Actor {
	return Actor{Name: o.GivenBy, Kind: o.GivenByKind, Roles: []Role{RoleBreakGlass}}
}
