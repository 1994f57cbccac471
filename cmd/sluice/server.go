package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alexedwards/scs/pgxstore"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/jobs"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/migration"
	"github.com/sluicehq/sluice/internal/migrationtable"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/gitea"
	"github.com/sluicehq/sluice/internal/prometheus"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/migrations"
)

// serverOption changes how a server is put together; the product uses none.
type serverOption func(*server)

// server is one running Sluice.
type server struct {
	config     config.Config
	demo       bool
	checkpoint func(string)
	policies   promotion.Policies
	identify   func(repository, login string) (promotion.Actor, bool)
	reviewing  func(promotion.PullRequestHost) promotion.PullRequestHost
	log        *slog.Logger

	listener net.Listener
	http     *http.Server
	pool     *pgxpool.Pool
	store    *postgres.Store
	enqueuer *jobs.Queue
	auth     *auth.Authenticator
	host     *builtin.Host
	service  *promotion.Service
	clusters []*cluster.Cluster
	mirrors  []*gitrepo.Mirror
	mounts   map[string]http.Handler // beside Sluice's own doors, by path prefix
	doors    atomic.Pointer[http.Handler]
	ready    atomic.Bool
	secret   string // with which Sluice pushes to its own built-in host
}

func newServer(c config.Config, options []serverOption) *server {
	s := &server{config: c, log: slog.New(slog.NewTextHandler(realStderr, nil)), policies: policy.Reader{},
		mounts: map[string]http.Handler{}, secret: rand.Text()}
	s.identify = s.configured
	s.reviewing = func(h promotion.PullRequestHost) promotion.PullRequestHost { return h }
	for _, option := range options {
		option(s)
	}
	return s
}

// Times of the server's own life.
const (
	shutdownTime = 20 * time.Second // for running requests and jobs to end
	lookInterval = 30 * time.Second // between the looks that find what no event told of
	sealInterval = 5 * time.Second  // between the sealings of the audit
	driftLooks   = time.Minute      // between the comparisons of live objects with Git
	remindLooks  = time.Minute      // between the looks for what is overdue
)

// listen opens the address, before anything that needs to know it.
func (s *server) listen() error {
	l, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another address", s.config.Listen, err)
	}
	s.listener = l
	return nil
}

// prepare connects to the database and opens the built-in PR host.
func (s *server) prepare(ctx context.Context) error {
	if err := postgres.Migrate(ctx, s.config.Database.URL, migrations.Files); err != nil {
		return err
	}
	var err error
	if s.pool, err = openPool(ctx, s.config.Database.URL); err != nil {
		return err
	}
	if s.enqueuer, err = jobs.Enqueuer(s.pool); err != nil {
		return err
	}
	s.store = postgres.NewStore(s.pool, s.enqueuer.InsertTx)
	s.auth = auth.NewAuthenticator(s.store, pgxstore.New(s.pool), strings.HasPrefix(s.config.PublicURL, "https:"), time.Now)
	s.host, err = builtin.Open(ctx, builtin.Options{
		Pool: s.pool, Dir: filepath.Join(s.config.Data, "git"), BaseURL: s.config.PublicURL, ServiceToken: s.secret,
		RequiredStatus: promotion.StatusContext, Authenticate: s.pusher, Pushed: s.pushed, Log: s.log,
	})
	return err
}

// poolSize leaves each worker two connections, one to hold its lock and one to work with, and the doors enough.
const poolSize = 2*jobs.MaxWorkers + 16

func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the database's address cannot be read: give postgres://user@host/database")
	}
	c.MaxConns = max(c.MaxConns, poolSize)
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return pool, nil
}

// pusher tells who pushes to the built-in host: the password is an API token.
func (s *server) pusher(ctx context.Context, _, password string) (promotion.Actor, error) {
	by, err := s.auth.Token(ctx, password)
	if errors.Is(err, auth.ErrUnknownToken) {
		return by, &promotion.Error{Kind: promotion.Unauthenticated, Code: "invalid-token",
			Message: "push with an API token of a release manager or an admin as the password"}
	}
	return by, err
}

// pushed has a repository looked at. A look that is lost here is made up for by the periodic one.
func (s *server) pushed(ctx context.Context, repository string, changes []builtin.RefChange) {
	refs := make([]string, len(changes))
	for i, c := range changes {
		refs[i] = c.Ref
	}
	domain := promotion.Service{Store: s.store} // the host answers before the server is put together
	if err := domain.Pushed(context.WithoutCancel(ctx), repository, refs); err != nil {
		s.log.Warn("a push was not followed by a look; the periodic look finds it", "repository", repository, "err", err)
	}
}

// connect opens the config repositories; the built-in host answers already.
func (s *server) connect(ctx context.Context, registry promotion.Registry) error {
	sites := map[string]promotion.Site{}
	for _, r := range s.config.Repositories {
		site, auth, err := s.site(r)
		if err != nil {
			return fmt.Errorf("config repository %s: %w", r.Name, err)
		}
		url := site.URL
		if r.At() == nil { // this server's own host: where people reach Sluice, another server may answer, which does not know its secret
			url = "http://" + s.listener.Addr().String() + strings.TrimPrefix(site.URL, s.config.PublicURL)
		}
		mirror, err := gitrepo.Open(ctx, gitrepo.Options{Name: r.Name, URL: url, Branch: site.BaseBranch,
			Dir: s.mirrorFolder(r.Name), Auth: auth, Damaged: func(err error) {
				s.log.Warn("a mirror was damaged and is made anew", "repository", r.Name, "err", err)
			}})
		if err != nil {
			return fmt.Errorf("config repository %s: %w", r.Name, err)
		}
		s.mirrors = append(s.mirrors, mirror)
		site.Repository, site.Host = mirror, s.reviewing(site.Host)
		sites[r.Name] = site
	}
	s.service = &promotion.Service{
		Store: s.store, Sites: sites, Clusters: map[string]promotion.Cluster{}, Readers: map[string]promotion.ClusterReader{}, Inspectors: map[string]promotion.Inspector{}, LiveObjects: map[string]promotion.LiveObjects{}, Projects: map[string]promotion.ProjectReader{}, Registry: registry,
		Manifests: overlays.Overlays{}, Engine: argocd.Engine{}, Linter: lint.Linter{Now: time.Now}, Now: time.Now, PublicURL: s.config.PublicURL, Log: s.log, Checkpoint: s.checkpoint,
		Policies: s.policies, Migrations: migration.Reader{}, Databases: s.databases(), Identify: s.identify, People: s.people, Groups: s.groups, Author: s.author,
		Destinations: destinations(s.config.Notifications), Reminders: reminders(s.config.Notifications),
	}
	return s.measure()
}

// databases are those of applications that the configuration names. They are connected to when something is asked of them.
func (s *server) databases() map[promotion.DatabaseKey]promotion.AppliedReader {
	all := map[promotion.DatabaseKey]promotion.AppliedReader{}
	for _, d := range s.config.ApplicationDatabases {
		all[promotion.DatabaseKey{Application: d.Application, Environment: d.Environment}] = migrationtable.Database{URL: d.URL, Table: d.Table}
	}
	return all
}

// measure connects the Prometheus of the configuration, if there is one.
func (s *server) measure() error {
	p := s.config.Prometheus
	if p == nil {
		return nil
	}
	o := prometheus.Options{URL: p.URL}
	if p.TokenFile != "" {
		o.Token = p.Token
	}
	server, err := prometheus.New(o)
	if err != nil {
		return err
	}
	s.service.Metrics = server
	return nil
}

// credentials are asked for at each connection.
type credentials = func(context.Context) (username, secret string, err error)

// site is where a config repository and its pull requests are.
func (s *server) site(r config.ConfigRepository) (promotion.Site, credentials, error) {
	at := r.At()
	if at == nil {
		own := func(context.Context) (string, string, error) { return "sluice", s.secret, nil }
		return promotion.Site{URL: s.host.CloneURL(r.Name), BaseBranch: builtin.MainBranch, Host: s.host.Repository(r.Name)}, own, nil
	}
	host, token, err := hostOf(r.Host, *at)
	if err != nil {
		return promotion.Site{}, nil, err
	}
	login := func(ctx context.Context) (string, string, error) {
		secret, err := token(ctx)
		return "x-access-token", secret, err
	}
	return promotion.Site{URL: at.CloneURL(), BaseBranch: at.Branch, Host: host, Sources: host}, login, nil
}

// remoteHost has source repositories beside the config repository.
type remoteHost interface {
	promotion.PullRequestHost
	promotion.Sources
}

// hostOf is a repository's host, and the token with which its Git is reached.
func hostOf(kind string, at config.Hosted) (remoteHost, func(context.Context) (string, error), error) {
	token := func(context.Context) (string, error) { return at.Token() }
	if kind == config.HostGitea {
		host, err := gitea.New(gitea.Options{Server: at.Server, Owner: at.Owner, Repository: at.Repository, BaseBranch: at.Branch, Token: token})
		return host, token, err
	}
	host, app, err := openGitHub(at)
	if app != nil {
		token = app.Token
	}
	return host, token, err
}

// mirrorFolder is this process's own: servers on one machine may share the data folder.
func (s *server) mirrorFolder(repository string) string {
	door := strings.NewReplacer(":", "-", "[", "", "]", "").Replace(s.listener.Addr().String())
	return filepath.Join(s.config.Data, "mirrors", door, repository+".git")
}

// name is this server's among those of its database: the machine or pod, and the port.
func (s *server) name() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return net.JoinHostPort(host, port)
}

// watch adds a cluster. kinds is nil for one whose kinds are to be guessed; account is whom its engine syncs as, empty when nobody knows.
func (s *server) watch(o cluster.Options, kinds meta.RESTMapper, account string) {
	o.Now, o.Observe, o.Record, o.Server, o.Log = time.Now, s.service.Observed, s.store, s.name(), s.log
	c := cluster.New(o)
	s.clusters = append(s.clusters, c)
	s.service.Clusters[o.Name], s.service.Readers[o.Name], s.service.Projects[o.Name] = c, c, c
	s.service.LiveObjects[o.Name] = c
	s.service.Inspectors[o.Name] = cluster.Inspector{Name: o.Name, Client: o.Client, Kinds: kinds, Account: account}
}

// work looks, runs jobs and watches clusters until ctx ends, then shuts down in order: not ready, HTTP, workers, mirrors, pool.
func (s *server) work(ctx context.Context) error {
	var names []string
	for name := range s.service.Sites {
		names = append(names, name)
	}
	queue, err := jobs.Workers(s.pool, s.service, s.seal, names, jobs.Intervals{Repositories: lookInterval, Promotions: lookInterval, Sealing: sealInterval, Drift: driftLooks, Reminders: remindLooks}, s.log)
	if err != nil {
		return err
	}
	if err := queue.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start the workers: %w", err)
	}
	if err := s.enqueuer.LookAtAll(ctx, names); err != nil {
		return fmt.Errorf("look at everything: %w", err)
	}
	watching, watchCtx := errgroup.WithContext(ctx)
	var configured []string
	for _, c := range s.clusters {
		configured = append(configured, c.Name)
		watching.Go(func() error { return c.Run(watchCtx) })
	}
	watching.Go(func() error {
		cluster.Removed(watchCtx, cluster.Options{Now: time.Now, Observe: s.service.Observed, Record: s.store, Log: s.log}, configured)
		return nil
	})
	s.ready.Store(true)
	<-watchCtx.Done()

	s.ready.Store(false)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err = errors.Join(s.http.Shutdown(stop), queue.Stop(stop), watching.Wait())
	for _, m := range s.mirrors {
		err = errors.Join(err, m.Close())
	}
	s.pool.Close()
	return err
}

// seal seals the audit.
func (s *server) seal(ctx context.Context) (string, error) {
	_, head, err := s.store.SealAudit(ctx)
	return head.String(), err
}

// readiness says why the server cannot do its work.
func (s *server) readiness(ctx context.Context) error {
	if !s.ready.Load() {
		return errors.New("starting up or shutting down")
	}
	return s.pool.Ping(ctx)
}
