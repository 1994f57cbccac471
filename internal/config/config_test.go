package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/config"
)

func read(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sluice.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Read(file)
}

func TestRead(t *testing.T) {
	t.Parallel()
	c, err := read(t, `
listen: 0.0.0.0:8080
public_url: https://sluice.example.com/
database: {url: "postgres://sluice@db/sluice"}
config_repositories:
  - {name: own, host: built-in}
  - name: shop
    host: github
    github: {owner: shop, repository: config, token_file: /run/secrets/github}
`)
	if err != nil {
		t.Fatal(err)
	}
	if c.PublicURL != "https://sluice.example.com" || c.Repositories[1].GitHub.Branch != "main" {
		t.Errorf("read as %+v", c)
	}
	if got := c.Repositories[1].GitHub.CloneURL(); got != "https://github.com/shop/config.git" {
		t.Errorf("cloned from %s", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	const database = "database: {url: \"postgres://sluice@db/sluice\"}\n"
	tests := []struct{ name, text, says string }{
		{"no database", "config_repositories: [{name: a, host: built-in}]", "database.url"},
		{"no repository", database, "config_repositories"},
		{"an unknown key", database + "databse: {}\n", "databse"},
		{"an unknown host", database + "config_repositories: [{name: a, host: gitlab}]", "gitlab"},
		{"github without its repository", database + "config_repositories: [{name: a, host: github}]", "needs github"},
		{"github without a token", database + "config_repositories: [{name: a, host: github, github: {owner: o, repository: r}}]", "token_file"},
		{"gitea without its address", database + "config_repositories: [{name: a, host: gitea, gitea: {owner: o, repository: r, token_file: t}}]", "server"},
		{"a token and an App", database + "config_repositories: [{name: a, host: github, github: {owner: o, repository: r, token_file: t, app_id: 1, private_key_file: k}}]", "either token_file"},
		{"an App without its key", database + "config_repositories: [{name: a, host: github, github: {owner: o, repository: r, app_id: 1}}]", "private_key_file"},
		{"an App on gitea", database + "config_repositories: [{name: a, host: gitea, gitea: {owner: o, repository: r, server: s, app_id: 1, private_key_file: k}}]", "GitHub's"},
		{"two hosts", database + "config_repositories: [{name: a, host: gitea, github: {owner: o, repository: r, token_file: t}}]", "needs gitea"},
		{"a webhook without a secret", database + "config_repositories: [{name: a, host: built-in}]\nwebhooks: [{host: github}]", "secret_files"},
		{"two of one name", database + "config_repositories: [{name: a, host: built-in}, {name: a, host: built-in}]", "twice"},
		{"a name that is a path", database + "config_repositories: [{name: ../a, host: built-in}]", "../a"},
		{"no web address", database + "public_url: sluice\nconfig_repositories: [{name: a, host: built-in}]", "public_url"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := read(t, tt.text); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want it to name %q", err, tt.says)
			}
		})
	}
}
