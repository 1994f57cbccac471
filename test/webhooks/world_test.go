package webhooks_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/registry"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
	"github.com/sluicehq/sluice/internal/webhook"
	"github.com/sluicehq/sluice/migrations"
)

const (
	repository   = "shop-config"
	publicURL    = "https://sluice.example.test"
	serviceToken = "a-service-token"
	ritasToken   = "rita-s-token"
	secret       = "what-signs-the-webhooks"
)

var (
	ci   = promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	rita = promotion.Actor{Name: "rita", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleReleaseManager}}
	ada  = promotion.Actor{Name: "ada", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}}
	otto = promotion.Actor{Name: "otto", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleAdmin}}
)

// TestMain has the commits of all worlds made at the same moment, so that they are the same commits.
func TestMain(m *testing.M) {
	for _, name := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"} {
		if err := os.Setenv(name, "2026-03-02T09:00:00Z"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// images is a registry that worlds share, so that they promote the same digests.
type images struct {
	*testing.T
	host   string
	client *registry.Client
}

func openImages(t *testing.T) images {
	t.Helper()
	handler, err := demoregistry.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return images{t, strings.TrimPrefix(server.URL, "http://"), registry.New(registry.Options{UserAgent: "sluice/test"})}
}

func (i images) push(name, version string) string {
	i.Helper()
	digest, err := demoregistry.PushImage(i.Context(), i.host, "shop/"+name, version, []string{"linux/amd64"})
	if err != nil {
		i.Fatal(err)
	}
	return digest
}

// world is one Sluice that hears of what happens by webhooks alone.
type world struct {
	*testing.T
	pool    *pgxpool.Pool
	service *promotion.Service
	builtin *builtin.Host
	host    *host
	repo    *repo
	door    http.Handler
	images  images
	url     string // of the built-in host
	clone   *prhosttest.Clone

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T, i images) *world {
	t.Helper()
	w := &world{T: t, images: i, now: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)}
	config, err := pgxpool.ParseConfig(postgrestest.NewDatabase(t, migrate))
	w.must(err)
	config.MaxConns = 3*senders + 4 // a worker holds a lock by one connection and works by another
	w.pool, err = pgxpool.NewWithConfig(t.Context(), config)
	w.must(err)
	t.Cleanup(w.pool.Close)
	w.openHost()
	w.openService()
	w.door, err = webhook.New([]webhook.Host{{Name: "github", Secrets: []string{secret}}}, w, slog.New(slog.DiscardHandler))
	w.must(err)
	w.must(w.do(promotion.Work{Kind: promotion.WorkLook, Repository: repository}))
	return w
}

// migrate makes the product's schema, and a queue that keeps work until the test has it done.
func migrate(ctx context.Context, url string) error {
	if err := postgres.Migrate(ctx, url, migrations.Files); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is lost with it
	_, err = conn.Exec(ctx, `CREATE SCHEMA test; CREATE TABLE test.work (id bigint GENERATED ALWAYS AS IDENTITY, kind text, promotion_id bigint, repository text)`)
	return err
}

func enqueue(ctx context.Context, tx pgx.Tx, work []promotion.Work) error {
	for _, w := range work {
		if _, err := tx.Exec(ctx, "INSERT INTO test.work (kind, promotion_id, repository) VALUES ($1, $2, $3)", string(w.Kind), w.PromotionID, w.Repository); err != nil {
			return err
		}
	}
	return nil
}

// openHost serves the built-in host, which tells Sluice of no push.
func (w *world) openHost() {
	w.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	w.url = server.URL
	var err error
	w.builtin, err = builtin.Open(w.Context(), builtin.Options{Pool: w.pool, Dir: w.TempDir(), BaseURL: server.URL, ServiceToken: serviceToken,
		RequiredStatus: promotion.StatusContext, Authenticate: authenticate, Clock: w.clock, Log: slog.New(slog.DiscardHandler)})
	w.must(err)
	mux.Handle("/git/", http.StripPrefix("/git", w.builtin.Handler()))
	files, err := demo.Files(w.Context(), w.images.host, func(_ context.Context, i demo.Image) (string, error) { return w.images.push(i.Name, i.Version), nil })
	w.must(err)
	for _, application := range []string{"web", "checkout"} { // nothing has to be verified before prod
		delete(files, overlay(application, "dev"))
		delete(files, overlay(application, "staging"))
	}
	w.must(w.builtin.Create(w.Context(), repository, files, promotion.Signature{Name: "Olga Ops", Email: "olga@example.test", When: w.clock()}))
	w.clone = prhosttest.NewClone(w.T, strings.Replace(w.builtin.CloneURL(repository), "http://", "http://rita:"+ritasToken+"@", 1))
}

func authenticate(_ context.Context, username, password string) (promotion.Actor, error) {
	if username == rita.Name && password == ritasToken {
		return rita, nil
	}
	return promotion.Actor{}, &promotion.Error{Kind: promotion.Unauthenticated, Code: "invalid-token", Message: "wrong name or password"}
}

func (w *world) openService() {
	w.Helper()
	url := w.builtin.CloneURL(repository)
	mirror, err := gitrepo.Open(w.Context(), gitrepo.Options{Name: repository, URL: url, Branch: builtin.MainBranch, Dir: w.TempDir(),
		Auth: func(context.Context) (string, string, error) { return "sluice", serviceToken, nil }})
	w.must(err)
	calls := &calls{made: map[string]int{}}
	w.host = &host{PullRequestHost: w.builtin.Repository(repository), calls: calls, reviews: map[int][]promotion.Review{}}
	w.repo = &repo{ConfigRepository: mirror, calls: calls}
	w.service = &promotion.Service{
		Store: postgres.NewStore(w.pool, enqueue), Clusters: map[string]promotion.Cluster{},
		Sites:    map[string]promotion.Site{repository: {URL: url, BaseBranch: builtin.MainBranch, Repository: w.repo, Host: w.host}},
		Registry: w.images.client, Manifests: overlays.Overlays{}, Engine: argocd.Engine{}, Linter: lint.Linter{Now: w.clock}, Policies: policy.Reader{},
		Now: w.clock, Identify: identify, People: rolesOf, PublicURL: publicURL, Log: slog.New(slog.DiscardHandler),
	}
}

func rolesOf(name string) []promotion.Role {
	return map[string][]promotion.Role{rita.Name: rita.Roles, ada.Name: ada.Roles, otto.Name: otto.Roles}[name]
}

func identify(_, login string) (promotion.Actor, bool) { return ada, login == ada.Name }

// Receive implements webhook.Receiver.
func (w *world) Receive(ctx context.Context, e webhook.Event) error {
	return w.service.Told(ctx, promotion.Tidings{Host: e.Host, Delivery: e.Delivery, Repository: repository, Refs: e.Refs, PullRequest: e.PullRequest})
}

// deliver sends a webhook as the host does. It is called from many goroutines.
func (w *world) deliver(d delivery) {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(d.body))
	r := httptest.NewRequestWithContext(w.Context(), http.MethodPost, "/webhooks/github", strings.NewReader(d.body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	r.Header.Set("X-Github-Delivery", d.id)
	r.Header.Set("X-Github-Event", d.kind)
	answer := httptest.NewRecorder()
	w.door.ServeHTTP(answer, r)
	if answer.Code != http.StatusAccepted {
		w.Errorf("a delivery is answered with %d: %s", answer.Code, answer.Body)
	}
}

// clock stands still until the test moves it.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// takeWork takes all work that waits, oldest first, the same work once.
func (w *world) takeWork() (once []promotion.Work) {
	w.Helper()
	rows, err := w.pool.Query(w.Context(), "WITH taken AS (DELETE FROM test.work RETURNING *) SELECT kind, promotion_id, repository FROM taken ORDER BY id")
	w.must(err)
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (work promotion.Work, err error) {
		return work, row.Scan(&work.Kind, &work.PromotionID, &work.Repository)
	})
	w.must(err)
	for _, work := range all {
		if !slices.Contains(once, work) {
			once = append(once, work)
		}
	}
	return once
}

// settle does what is enqueued, and what that enqueues, until nothing is left; so much of it at once.
func (w *world) settle(atOnce int) {
	w.Helper()
	for work := w.takeWork(); len(work) > 0; work = w.takeWork() {
		var workers errgroup.Group
		workers.SetLimit(atOnce)
		for _, one := range work {
			workers.Go(func() error { return w.do(one) })
		}
		w.must(workers.Wait())
	}
}

// do does some work, or has it done later when another worker is at it.
func (w *world) do(work promotion.Work) (err error) {
	var busy bool
	if work.Kind == promotion.WorkLook {
		busy, err = w.service.LookAtRepository(w.Context(), work.Repository)
	} else {
		_, busy, err = w.service.Advance(w.Context(), work.PromotionID)
	}
	if err != nil || !busy {
		return err
	}
	return pgx.BeginFunc(w.Context(), w.pool, func(tx pgx.Tx) error { return enqueue(w.Context(), tx, []promotion.Work{work}) })
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func overlay(application, environment string) string {
	return fmt.Sprintf("apps/%s/overlays/%s/kustomization.yaml", application, environment)
}
