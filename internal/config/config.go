// Package config reads the server's configuration file: where its database,
// config repositories, clusters and registries are. What may go where is policy, and policy
// lives in the config repositories.
package config

import (
	"fmt"
	"net/url"
	"os"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config is the server's configuration.
type Config struct {
	Listen       string             `json:"listen"`     // host:port
	PublicURL    string             `json:"public_url"` // where people reach the server
	Data         string             `json:"data"`       // folder of mirrors and of the built-in PR host
	Database     Database           `json:"database"`
	Repositories []ConfigRepository `json:"config_repositories"`
	Clusters     []Cluster          `json:"clusters"`
	Registries   Registries         `json:"registries"`
}

// Database is the PostgreSQL to use.
type Database struct {
	URL     string `json:"url"`      // postgres://…
	URLFile string `json:"url_file"` // a file that holds it, for a mounted secret
}

// ConfigRepository is a Git repository with applications and overlays.
type ConfigRepository struct {
	Name   string  `json:"name"`
	Host   string  `json:"host"`   // built-in or github
	GitHub *GitHub `json:"github"` // for the host github
}

// GitHub is a repository on github.com or on an Enterprise Server.
type GitHub struct {
	Owner      string `json:"owner"`
	Repository string `json:"repository"`
	Branch     string `json:"branch"`     // the base branch; main when empty
	Server     string `json:"server"`     // https://… of an Enterprise Server; empty for github.com
	TokenFile  string `json:"token_file"` // holds a fine-grained token; read anew for each connection
}

// CloneURL is where the repository is fetched from and pushed to.
func (g GitHub) CloneURL() string {
	server := g.Server
	if server == "" {
		server = "https://github.com"
	}
	return strings.TrimRight(server, "/") + "/" + g.Owner + "/" + g.Repository + ".git"
}

// Token reads the token.
func (g GitHub) Token() (string, error) {
	text, err := os.ReadFile(g.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token for %s/%s: %w", g.Owner, g.Repository, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// The hosts of pull requests: Sluice itself, and GitHub.
const (
	BuiltIn    = "built-in"
	HostGitHub = "github"
)

// Cluster is a Kubernetes cluster with Argo CD's Applications in it.
type Cluster struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"` // a file; empty: the pod's own service account
	Context    string `json:"context"`    // of the file; empty: its current one
}

// Registries says how image registries are asked.
type Registries struct {
	PlainHTTP []string `json:"plain_http"` // hosts asked without TLS
}

// Read reads a file and refuses what it does not know.
func Read(file string) (Config, error) {
	c := Config{Listen: "127.0.0.1:8080", Data: "/var/lib/sluice"}
	text, err := os.ReadFile(file)
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return c, fmt.Errorf("configuration %s: %w", file, err)
	}
	if err := c.complete(); err != nil {
		return c, fmt.Errorf("configuration %s: %w", file, err)
	}
	return c, nil
}

func (c *Config) complete() error {
	if c.Database.URLFile != "" {
		text, err := os.ReadFile(c.Database.URLFile)
		if err != nil {
			return fmt.Errorf("database.url_file: %w", err)
		}
		c.Database.URL = strings.TrimSpace(string(text))
	}
	if c.Database.URL == "" {
		return fmt.Errorf("database.url is missing: give postgres://user@host/database, or url_file")
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://" + c.Listen
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if u, err := url.Parse(c.PublicURL); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("public_url %q: give an http or https address", c.PublicURL)
	}
	if len(c.Repositories) == 0 {
		return fmt.Errorf("config_repositories is empty: name at least one")
	}
	return c.completeLists()
}

func (c *Config) completeLists() error {
	seen := map[string]bool{}
	for i, r := range c.Repositories {
		switch {
		case r.Name == "" || strings.ContainsAny(r.Name, "/ ."):
			return fmt.Errorf("config_repositories[%d].name %q: give a word without slash, dot or space", i, r.Name)
		case seen[r.Name]:
			return fmt.Errorf("config_repositories[%d].name %q is used twice", i, r.Name)
		case r.Host != BuiltIn && r.Host != HostGitHub:
			return fmt.Errorf("config_repositories[%d].host %q: this version knows %s and %s", i, r.Host, BuiltIn, HostGitHub)
		case (r.Host == HostGitHub) != (r.GitHub != nil):
			return fmt.Errorf("config_repositories[%d]: the host github, and only it, needs github: {owner, repository, token_file}", i)
		case r.GitHub != nil && (r.GitHub.Owner == "" || r.GitHub.Repository == "" || r.GitHub.TokenFile == ""):
			return fmt.Errorf("config_repositories[%d].github: give owner, repository and token_file", i)
		}
		seen[r.Name] = true
		if r.GitHub != nil && r.GitHub.Branch == "" {
			r.GitHub.Branch = "main"
		}
	}
	seen = map[string]bool{}
	for i, k := range c.Clusters {
		if k.Name == "" || seen[k.Name] {
			return fmt.Errorf("clusters[%d].name %q: give each cluster its own name", i, k.Name)
		}
		seen[k.Name] = true
	}
	return nil
}
