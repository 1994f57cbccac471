package main

import (
	"slices"
	"testing"

	"github.com/sluicehq/sluice/internal/config"
)

func TestAuthorsAndGroups(t *testing.T) {
	t.Parallel()
	s := &server{config: config.Config{
		Repositories: []config.ConfigRepository{{Name: "shop", Host: config.HostGitHub}, {Name: "own", Host: config.BuiltIn}},
		People: []config.Person{{Name: "amir", Roles: []string{"approver"}, Groups: []string{"payments"}, Emails: []string{"amir@example.com"}, GitHub: "amir-h"},
			{Name: "renovate", Roles: []string{"viewer"}, GitHub: "renovate[bot]"}}}}
	for _, tt := range []struct{ repository, author, name string }{
		{"shop", "amir", "amir"}, {"shop", "Amir@Example.com", "amir"}, {"shop", "AMIR-H", "amir"}, {"shop", "renovate[bot]", "renovate"},
		{"own", "amir@example.com", "amir"}, {"own", "amir-h", ""}, {"shop", "mallory", ""}, {"shop", "", ""},
	} {
		if name, known := s.author(tt.repository, tt.author); known != (tt.name != "") || known && name != tt.name {
			t.Errorf("%q in %s is %q, %v", tt.author, tt.repository, name, known)
		}
	}
	if groups := s.groups("amir"); !slices.Equal(groups, []string{"payments"}) || s.groups("mallory") != nil {
		t.Errorf("amir is in %q, mallory in %q", groups, s.groups("mallory"))
	}
}
