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
	Prometheus   *Prometheus        `json:"prometheus"` // nil: metrics are not known
	// Applications' own databases, of which is read what their migration tool has applied.
	ApplicationDatabases []ApplicationDatabase `json:"application_databases"`
	Webhooks             []Webhook             `json:"webhooks"`
	Notifications        Notifications         `json:"notifications"`
	People               []Person              `json:"people"`
}

// Person says who somebody of a PR host is in Sluice, so that their reviews there count here.
type Person struct {
	Name   string   `json:"name"`
	Roles  []string `json:"roles"`
	Groups []string `json:"groups"` // of which a policy may ask that approvers are in one
	Emails []string `json:"emails"` // as their commits have them
	GitHub string   `json:"github"` // login
	Gitea  string   `json:"gitea"`
}

// Database is the PostgreSQL to use.
type Database struct {
	URL     string `json:"url"`      // postgres://…
	URLFile string `json:"url_file"` // a file that holds it, for a mounted secret
}

// ConfigRepository is a Git repository with applications and overlays.
type ConfigRepository struct {
	Name   string  `json:"name"`
	Host   string  `json:"host"`   // built-in, github or gitea
	GitHub *Hosted `json:"github"` // for the host github
	Gitea  *Hosted `json:"gitea"`  // for the host gitea, which is Forgejo too
}

// At is where the repository is hosted; nil for the built-in host.
func (r ConfigRepository) At() *Hosted {
	switch r.Host {
	case HostGitHub:
		return r.GitHub
	case HostGitea:
		return r.Gitea
	}
	return nil
}

// Hosted is a repository on another host.
type Hosted struct {
	Owner      string `json:"owner"`
	Repository string `json:"repository"`
	Branch     string `json:"branch"`     // the base branch; main when empty
	Server     string `json:"server"`     // https://… of a Gitea, a Forgejo or a GitHub Enterprise Server; empty for github.com
	TokenFile  string `json:"token_file"` // holds a token; read anew for each connection

	AppID          int64  `json:"app_id"`          // of a GitHub App, instead of token_file
	InstallationID int64  `json:"installation_id"` // looked up when 0
	PrivateKeyFile string `json:"private_key_file"`
	MergeMethod    string `json:"merge_method"` // merge, squash or rebase; GitHub only
}

// PrivateKey reads the private key of the GitHub App.
func (h Hosted) PrivateKey() ([]byte, error) {
	key, err := os.ReadFile(h.PrivateKeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the App's private key for %s/%s: %w", h.Owner, h.Repository, err)
	}
	return key, nil
}

// CloneURL is where the repository is fetched from and pushed to.
func (h Hosted) CloneURL() string {
	server := h.Server
	if server == "" {
		server = "https://github.com"
	}
	return strings.TrimRight(server, "/") + "/" + h.Owner + "/" + h.Repository + ".git"
}

// Token reads the token.
func (h Hosted) Token() (string, error) {
	token, err := lineOf(h.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token for %s/%s: %w", h.Owner, h.Repository, err)
	}
	return token, nil
}

// The hosts of pull requests: Sluice itself, GitHub, and Gitea or Forgejo.
const (
	BuiltIn    = "built-in"
	HostGitHub = "github"
	HostGitea  = "gitea"
)

// Webhook opens the door POST /webhooks/{host} for a host.
type Webhook struct {
	Host        string   `json:"host"`         // github or gitea
	SecretFiles []string `json:"secret_files"` // each holds a secret; two while one replaces the other
}

// Secrets reads the secrets.
func (w Webhook) Secrets() ([]string, error) {
	var secrets []string
	for _, file := range w.SecretFiles {
		secret, err := lineOf(file)
		if err != nil {
			return nil, fmt.Errorf("read a secret of the webhook of %s: %w", w.Host, err)
		}
		secrets = append(secrets, secret)
	}
	return secrets, nil
}

// Cluster is a Kubernetes cluster with Argo CD's Applications in it.
type Cluster struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"` // a file; empty: the pod's own service account
	Context    string `json:"context"`    // of the file; empty: its current one
	// EngineAccount is the service account that Argo CD syncs with, as namespace/name.
	EngineAccount string `json:"engine_account"`
	// AuditTokenFile holds the token with which the API server sends its audit, read anew for each batch; empty: none is taken.
	AuditTokenFile string `json:"audit_token_file"`
}

// AuditToken reads the token.
func (c Cluster) AuditToken() (string, error) {
	token, err := lineOf(c.AuditTokenFile)
	if err == nil && token == "" {
		err = fmt.Errorf("%s is empty", c.AuditTokenFile)
	}
	if err != nil {
		return "", fmt.Errorf("read the audit's token of cluster %s: %w", c.Name, err)
	}
	return token, nil
}

// argoCDAccount is what Argo CD's own manifests have its controller run as.
const argoCDAccount = "argocd/argocd-application-controller"

// Prometheus is where metrics are asked for that the policy names.
type Prometheus struct {
	URL       string `json:"url"`        // http or https, without credentials
	TokenFile string `json:"token_file"` // holds a bearer token, read anew for each question; empty: none is sent
}

// Token reads the bearer token.
func (p Prometheus) Token() (string, error) {
	token, err := lineOf(p.TokenFile)
	if err != nil {
		return "", fmt.Errorf("read the token for prometheus: %w", err)
	}
	return token, nil
}

func (p *Prometheus) complete() error {
	if p == nil {
		return nil
	}
	if u, err := url.Parse(p.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("prometheus.url: give an http or https address without credentials; a token goes into token_file")
	}
	return nil
}

// Registries says how image registries are asked.
type Registries struct {
	PlainHTTP []string `json:"plain_http"` // hosts asked without TLS
}

// lineOf is what a file holds, without the white space around it.
func lineOf(file string) (string, error) {
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
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
		url, err := lineOf(c.Database.URLFile)
		if err != nil {
			return fmt.Errorf("database.url_file: %w", err)
		}
		c.Database.URL = url
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
	if err := c.Prometheus.complete(); err != nil {
		return err
	}
	if err := completeDatabases(c.ApplicationDatabases); err != nil {
		return err
	}
	if err := c.Notifications.complete(); err != nil {
		return err
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
		}
		seen[r.Name] = true
		if err := r.complete(); err != nil {
			return fmt.Errorf("config_repositories[%d]%w", i, err)
		}
	}
	for i, p := range c.People {
		if seen["person "+p.Name] {
			return fmt.Errorf("people[%d].name %q is used twice: give each person one entry, with all their logins", i, p.Name)
		}
		seen["person "+p.Name] = true
		if p.Name == "" || len(p.Roles) == 0 || p.GitHub == "" && p.Gitea == "" && len(p.Groups) == 0 {
			return fmt.Errorf("people[%d]: give a name, roles, and the login at github or gitea, or groups", i)
		}
	}
	for i, w := range c.Webhooks {
		if w.Host != HostGitHub && w.Host != HostGitea || len(w.SecretFiles) == 0 {
			return fmt.Errorf("webhooks[%d]: give a host, %s or %s, and its secret_files", i, HostGitHub, HostGitea)
		}
	}
	seen = map[string]bool{}
	for i, k := range c.Clusters {
		if k.Name == "" || seen[k.Name] {
			return fmt.Errorf("clusters[%d].name %q: give each cluster its own name", i, k.Name)
		}
		seen[k.Name] = true
		if k.EngineAccount == "" {
			c.Clusters[i].EngineAccount = argoCDAccount
		} else if namespace, name, cut := strings.Cut(k.EngineAccount, "/"); !cut || namespace == "" || name == "" {
			return fmt.Errorf("clusters[%d].engine_account %q: give the service account that Argo CD syncs with as namespace/name", i, k.EngineAccount)
		}
	}
	return nil
}

func (r ConfigRepository) complete() error {
	at := r.At()
	switch {
	case r.Host != BuiltIn && r.Host != HostGitHub && r.Host != HostGitea:
		return fmt.Errorf(".host %q: this version knows %s, %s and %s", r.Host, BuiltIn, HostGitHub, HostGitea)
	case (r.Host == HostGitHub) != (r.GitHub != nil) || (r.Host == HostGitea) != (r.Gitea != nil):
		return fmt.Errorf(": the host %s needs %s: {owner, repository, token_file}, and no other host's", r.Host, r.Host)
	case at == nil:
		return nil
	case at.Owner == "" || at.Repository == "":
		return fmt.Errorf(".%s: give owner and repository", r.Host)
	case (at.TokenFile == "") == (at.AppID == 0) || (at.AppID != 0) != (at.PrivateKeyFile != ""):
		return fmt.Errorf(".%s: give either token_file, or app_id with private_key_file", r.Host)
	case at.AppID == 0 && at.InstallationID != 0:
		return fmt.Errorf(".%s.installation_id: only with app_id", r.Host)
	case r.Host == HostGitea && (at.AppID != 0 || at.MergeMethod != ""):
		return fmt.Errorf(".gitea: app_id and merge_method are GitHub's")
	case r.Host == HostGitea && at.Server == "":
		return fmt.Errorf(".gitea.server is missing: give the address of your Gitea")
	}
	if at.Branch == "" {
		at.Branch = "main"
	}
	return nil
}
