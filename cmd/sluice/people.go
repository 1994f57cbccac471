package main

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/web"
)

// configured tells who somebody of a config repository's host is, by the server's configuration.
func (s *server) configured(repository, login string) (promotion.Actor, bool) {
	for _, r := range s.config.Repositories {
		if r.Name != repository {
			continue
		}
		for _, p := range s.config.People {
			name := map[string]string{config.HostGitHub: p.GitHub, config.HostGitea: p.Gitea}[r.Host]
			if name == "" || !strings.EqualFold(name, login) {
				continue
			}
			return promotion.Actor{Name: p.Name, Kind: promotion.Person, Roles: rolesOf(p)}, true
		}
	}
	return promotion.Actor{}, false
}

// people are the roles that a person holds now: by the server's configuration, and in the demonstration by who plays in it.
func (s *server) people(name string) []promotion.Role {
	for _, p := range s.config.People {
		if p.Name == name {
			return rolesOf(p)
		}
	}
	if s.demo {
		return web.PersonaRoles(name)
	}
	return nil
}

// author is whom CI calls the author of a commit: by the name or an address of the server's configuration, or a login at the host of the
// config repository.
func (s *server) author(repository, author string) (name string, known bool) {
	for _, p := range s.config.People {
		if slices.ContainsFunc(append([]string{p.Name}, p.Emails...), func(own string) bool { return strings.EqualFold(own, author) }) {
			return p.Name, true
		}
	}
	if by, known := s.configured(repository, author); known {
		return by.Name, true
	}
	return author, len(s.people(author)) > 0
}

// groups are those that somebody is in now: by the server's configuration, under the name of the person or of their token.
func (s *server) groups(name string) []string {
	for _, p := range s.config.People {
		if p.Name == name {
			return p.Groups
		}
	}
	return nil
}

func rolesOf(p config.Person) []promotion.Role {
	roles := make([]promotion.Role, len(p.Roles))
	for i, role := range p.Roles {
		roles[i] = promotion.Role(role)
	}
	return roles
}
