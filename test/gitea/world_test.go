//go:build peers

// Package gitea_test plays releases and people's changes from CI's post to the running containers on a real Gitea: people
// review, push and merge there, and only Gitea's own webhooks tell Sluice that something has happened. Nothing is polled.
package gitea_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/jobs"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/prhost/gitea"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/registry"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
	"github.com/sluicehq/sluice/internal/webhook"
	"github.com/sluicehq/sluice/migrations"
	"github.com/sluicehq/sluice/test/peers/realgitea"
)

const (
	repository = "shop-config" // as Sluice calls it
	publicURL  = "https://sluice.example.test"
	secret     = "what-signs-the-webhooks"
	never      = 24 * time.Hour // longer than any test: the periodic looks do not happen
)

// world is one Sluice with its database, and a config repository of its own on the Gitea that all worlds share.
type world struct {
	*testing.T
	office  *office
	repo    *realgitea.Repository
	clone   *prhosttest.Clone // pat's
	pool    *pgxpool.Pool
	service *promotion.Service
	cluster *cluster
	images  string // the registry's address

	mu   sync.Mutex
	told map[int]int // webhooks received, by pull request
}

// newWorld starts with the example config repository looked at, its main protected, and nothing posted yet.
func newWorld(t *testing.T, o *office, edit func(files map[string][]byte)) *world {
	t.Helper()
	w := &world{T: t, office: o, cluster: &cluster{}, told: map[int]int{}}
	handler, err := demoregistry.Open(t.TempDir())
	w.must(err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.images = strings.TrimPrefix(server.URL, "http://")
	w.openRepository(edit)
	w.openService()
	_, err = w.service.LookAtRepository(t.Context(), repository) // as a server does when it starts
	w.must(err)
	w.listen()
	return w
}

func (w *world) openRepository(edit func(map[string][]byte)) {
	w.Helper()
	w.repo = w.office.gitea.NewRepository(w.T)
	w.clone = prhosttest.NewClone(w.T, w.repo.Remote)
	files, err := demo.Files(w.Context(), w.images, func(_ context.Context, i demo.Image) (string, error) { return w.push(i.Name, i.Version), nil })
	w.must(err)
	edit(files)
	for name, content := range files {
		w.clone.Write(name, string(content))
	}
	w.clone.Git("add", "--all")
	w.clone.Git("commit", "--quiet", "--message", "Everything")
	w.clone.Git("push", "--quiet", "origin", "HEAD:"+realgitea.Main)
	w.repo.Protect(w.T, requireStatus)
}

func (w *world) openService() {
	w.Helper()
	config, err := pgxpool.ParseConfig(postgrestest.NewDatabase(w.T, migrate))
	w.must(err)
	config.MaxConns = 2*jobs.MaxWorkers + 4
	w.pool, err = pgxpool.NewWithConfig(w.Context(), config)
	w.must(err)
	w.Cleanup(w.pool.Close)
	queue, err := jobs.Enqueuer(w.pool)
	w.must(err)
	url := w.office.gitea.URL + "/" + w.repo.Owner + "/" + w.repo.Name + ".git"
	mirror, err := gitrepo.Open(w.Context(), gitrepo.Options{Name: repository, URL: url, Branch: realgitea.Main, Dir: w.TempDir(),
		Auth: func(context.Context) (string, string, error) { return "x-access-token", w.office.gitea.BotToken, nil }})
	w.must(err)
	host, err := gitea.New(gitea.Options{Server: w.office.gitea.URL, Owner: w.repo.Owner, Repository: w.repo.Name, BaseBranch: realgitea.Main,
		Token: func(context.Context) (string, error) { return w.office.gitea.BotToken, nil }})
	w.must(err)
	w.service = &promotion.Service{
		Store: postgres.NewStore(w.pool, queue.InsertTx), Clusters: map[string]promotion.Cluster{clusterName: w.cluster},
		Sites:    map[string]promotion.Site{repository: {URL: url, BaseBranch: realgitea.Main, Repository: mirror, Host: host}},
		Registry: registry.New(registry.Options{UserAgent: "sluice/test"}), Manifests: overlays.Overlays{}, Engine: argocd.Engine{},
		Linter: lint.Linter{Now: time.Now}, Policies: policy.Reader{}, Now: time.Now, Identify: identify, People: rolesOf, PublicURL: publicURL, Log: w.log(),
	}
	workers, err := jobs.Workers(w.pool, w.service, func(context.Context) (string, error) { return "", nil }, []string{repository},
		jobs.Intervals{Repositories: never, Promotions: never, Sealing: never, Drift: never, Reminders: never}, w.log())
	w.must(err)
	w.must(workers.Start(context.WithoutCancel(w.Context())))
	w.Cleanup(func() {
		if err := workers.Stop(context.WithoutCancel(w.Context())); err != nil {
			w.Errorf("stop the workers: %v", err)
		}
		w.story()
	})
}

func migrate(ctx context.Context, url string) error {
	return postgres.Migrate(ctx, url, migrations.Files)
}

func (w *world) log() *slog.Logger { return slog.New(slog.NewTextHandler(w.Output(), nil)) }

// story says what happened, when the test has failed.
func (w *world) story() {
	if !w.Failed() {
		return
	}
	ctx := context.WithoutCancel(w.Context())
	rows, err := w.pool.Query(ctx, "SELECT at, object, actor, action, message FROM audit_events ORDER BY id")
	if err != nil {
		w.Error(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		w.Logf("%v %v", values, err)
	}
	all, err := w.service.Store.Promotions(ctx, promotion.PromotionFilter{Limit: 100})
	for _, p := range all {
		w.Logf("promotion %d of %s to %s is %s; %s", p.ID, p.Target.Application, p.Target.Environment, p.State(), p.WaitsFor)
	}
	if err != nil {
		w.Error(err)
	}
}

// listen opens the door for webhooks and has Gitea use it.
func (w *world) listen() {
	w.Helper()
	door, err := webhook.New([]webhook.Host{{Name: "gitea", Secrets: []string{secret}}}, w, w.log())
	w.must(err)
	server := httptest.NewServer(door)
	w.Cleanup(server.Close)
	w.repo.Hook(w.T, server.URL+"/webhooks/gitea", secret)
}

// Receive implements webhook.Receiver.
func (w *world) Receive(ctx context.Context, e webhook.Event) error {
	err := w.service.Told(ctx, promotion.Tidings{Host: e.Host, Delivery: e.Delivery, Repository: repository, Refs: e.Refs, PullRequest: e.PullRequest})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told[e.PullRequest]++
	return err
}

// handled does something to a pull request at Gitea and waits until Sluice was told of it, and has done what follows.
func (w *world) handled(number int, do func()) {
	w.Helper()
	received := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.told[number]
	}
	before := received()
	do()
	w.eventually("Gitea tells of it", func() bool { return received() > before })
	w.eventually("Sluice has looked", func() bool {
		var left int
		w.must(w.pool.QueryRow(w.Context(), `SELECT count(*) FROM river_job WHERE state IN ('available', 'running', 'retryable')
			OR state = 'scheduled' AND scheduled_at < now() + interval '5 seconds'`).Scan(&left))
		return left == 0
	})
}

func (w *world) eventually(what string, is func() bool) {
	w.Helper()
	realgitea.Eventually(w.T, what, is)
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// push pushes shop/name in a version and returns its digest.
func (w *world) push(name, version string) string {
	w.Helper()
	digest, err := demoregistry.PushImage(w.Context(), w.images, "shop/"+name, version, []string{"linux/amd64"})
	w.must(err)
	return digest
}
