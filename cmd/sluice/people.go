package main

import (
	"strings"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/promotion"
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
			by := promotion.Actor{Name: p.Name, Kind: promotion.Person}
			for _, role := range p.Roles {
				by.Roles = append(by.Roles, promotion.Role(role))
			}
			return by, true
		}
	}
	return promotion.Actor{}, false
}
