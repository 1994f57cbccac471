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
		{"prometheus without its address", database + "config_repositories: [{name: a, host: built-in}]\nprometheus: {token_file: t}", "prometheus.url"},
		{"prometheus with credentials", database + "config_repositories: [{name: a, host: built-in}]\nprometheus: {url: \"https://u:p@metrics.example\"}", "token_file"},
		{"a database of no environment", database + "config_repositories: [{name: a, host: built-in}]\napplication_databases: [{application: web, url_env: WEB}]", "name the application and the environment"},
		{"a database without its address", database + "config_repositories: [{name: a, host: built-in}]\napplication_databases: [{application: web, environment: prod}]", "url_env or url_file"},
		{"a database's address itself", database + "config_repositories: [{name: a, host: built-in}]\napplication_databases: [{application: web, environment: prod, url_env: \"postgres://u:p@db/web\"}]", "the name of an environment variable"},
		{"a database named twice", database + "config_repositories: [{name: a, host: built-in}]\napplication_databases: [{application: web, environment: prod, url_env: A}, {application: web, environment: prod, url_env: B}]", "named twice"},
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
		{"a destination without its address", database + "config_repositories: [{name: a, host: built-in}]\nnotifications: {destinations: [{name: chat}]}", "url or url_file"},
		{"a destination without a name", database + "config_repositories: [{name: a, host: built-in}]\nnotifications: {destinations: [{url: \"https://chat.example\"}]}", "its own name"},
		{"two destinations of one name", database + "config_repositories: [{name: a, host: built-in}]\nnotifications: {destinations: [{name: chat, url_file: a}, {name: chat, url_file: b}]}", "its own name"},
		{"a destination with credentials", database + "config_repositories: [{name: a, host: built-in}]\nnotifications: {destinations: [{name: chat, url: \"https://u:p@chat.example\"}]}", "url_file"},
		{"a reminder before its time", database + "config_repositories: [{name: a, host: built-in}]\nnotifications: {reminders: {drift: -1h}}", "reminders.drift"},
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

func TestAnApplicationDatabaseIsReadAnew(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "url")
	d := config.ApplicationDatabase{Application: "web", Environment: "prod", URLFile: file}
	if _, err := d.URL(); err == nil {
		t.Error("a file that is not there has an address")
	}
	for _, want := range []string{"postgres://a:1@db/web", "postgres://a:2@db/web"} {
		if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := d.URL(); err != nil || got != want {
			t.Errorf("the address is %q (%v), want %q", got, err, want)
		}
	}
	d = config.ApplicationDatabase{URLEnv: "SLUICE_TEST_NO_SUCH_VARIABLE"}
	if _, err := d.URL(); err == nil || !strings.Contains(err.Error(), d.URLEnv) {
		t.Errorf("an empty variable says %v", err)
	}
}
