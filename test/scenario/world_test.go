// Package scenario_test plays what happens to releases and promotions from the first commit of a config repository to the
// running containers: against PostgreSQL, git over smart HTTP and an OCI registry, all real. The clock and the cluster are
// played by the test, and work is done when the test says so, in the order in which it was enqueued.
package scenario_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/migration"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run gives the images that all tests share a folder.
func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sluice-scenario-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system cleans up what is left
	openImages(dir)
	return m.Run()
}

const (
	repository = "shop-config"
	publicURL  = "https://sluice.example.test"
)

// The people and programs of every scenario.
var (
	ci   = promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	rita = promotion.Actor{Name: "rita", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleReleaseManager}}
	ada  = promotion.Actor{Name: "ada", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}}
	otto = promotion.Actor{Name: "otto", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleAdmin}}
	vera = promotion.Actor{Name: "vera", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleViewer}}
)

// world is one Sluice with its database, config repository, registry, cluster and clock.
type world struct {
	testing.TB
	pool     *pgxpool.Pool
	service  *promotion.Service
	host     *builtin.Host
	images   *images
	cluster  *cluster
	policies *policies
	clock    *clock
	remote   string                   // what rita's git clones and pushes to
	clone    func() *prhosttest.Clone // her working copy, made when first asked for
	due      map[int64]time.Time      // when promotions are to be looked at again
	seen     map[promotion.DeploymentKey]promotion.Observation
	watched  time.Time                   // up to when the clusters were watched
	people   map[string][]promotion.Role // who holds which roles now
}

// newWorld starts with the example config repository looked at, and nothing posted yet.
func newWorld(t *testing.T) *world { return newWorldOf(t, func(map[string][]byte) {}) }

// newProdWorld is one in which prod is web's only environment, for scenarios of prod alone: nothing has to be verified before.
func newProdWorld(t *testing.T) *world { return newWorldOf(t, onlyProd) }

func onlyProd(files map[string][]byte) {
	maps.DeleteFunc(files, func(name string, _ []byte) bool {
		return name == overlay("web", "dev") || name == overlay("web", "staging")
	})
}

func newWorldOf(t testing.TB, edit func(files map[string][]byte)) *world {
	t.Helper()
	if test, is := t.(*testing.T); is {
		test.Parallel()
	}
	w := &world{TB: t, policies: &policies{}, clock: newClock(), cluster: &cluster{}, due: map[int64]time.Time{}, seen: map[promotion.DeploymentKey]promotion.Observation{},
		people: map[string][]promotion.Role{}}
	for _, a := range []promotion.Actor{rita, ada, otto, vera, gil} {
		w.people[a.Name] = a.Roles
	}
	w.watched = w.clock.now()
	w.images = newImages(t)
	w.openDatabase()
	w.openHost(edit)
	mirror, err := gitrepo.Open(t.Context(), gitrepo.Options{Name: repository, URL: w.host.CloneURL(repository), Branch: builtin.MainBranch,
		Dir: t.TempDir(), Auth: func(context.Context) (string, string, error) { return "sluice", serviceToken, nil }})
	w.must(err)
	w.service = &promotion.Service{
		Store: postgres.NewStore(w.pool, enqueue), Sites: map[string]promotion.Site{repository: {URL: w.host.CloneURL(repository),
			BaseBranch: builtin.MainBranch, Repository: mirror, Host: w.host.Repository(repository)}},
		Clusters: map[string]promotion.Cluster{clusterName: w.cluster}, Registry: w.images.client, Manifests: overlays.Overlays{}, Engine: argocd.Engine{}, Linter: lint.Linter{Now: w.clock.now},
		Policies: w.policies, Migrations: migration.Reader{}, People: func(name string) []promotion.Role { return w.people[name] },
		Now: w.clock.now, PublicURL: publicURL, Log: slog.New(slog.DiscardHandler),
	}
	w.look()
	w.settle()
	return w
}

func (w *world) openDatabase() {
	w.Helper()
	config, err := pgxpool.ParseConfig(postgrestest.NewDatabase(w.TB, migrate))
	w.must(err)
	config.MaxConns = 12
	w.pool, err = pgxpool.NewWithConfig(w.Context(), config)
	w.must(err)
	w.Cleanup(w.pool.Close)
	w.Cleanup(w.everyChangeIsAudited)
}

const serviceToken = "a-service-token"

// openHost serves the built-in host over HTTP, as the product does: every push has the repository looked at.
func (w *world) openHost(edit func(map[string][]byte)) {
	w.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	var err error
	w.host, err = builtin.Open(w.Context(), builtin.Options{
		Pool: w.pool, Dir: w.TempDir(), BaseURL: server.URL, ServiceToken: serviceToken, RequiredStatus: promotion.StatusContext,
		Authenticate: authenticate, Clock: w.clock.now, Pushed: w.pushed, Log: slog.New(slog.DiscardHandler),
	})
	w.must(err)
	mux.Handle("/git/", http.StripPrefix("/git", w.host.Handler()))
	files, err := demo.Files(w.Context(), w.images.host, func(_ context.Context, i demo.Image) (string, error) {
		return w.images.push(w.TB, i.Name, i.Version, ""), nil
	})
	w.must(err)
	edit(files)
	w.must(w.host.Create(w.Context(), repository, files, promotion.Signature{Name: "Olga Ops", Email: "olga@example.test", When: w.clock.now()}))
	w.remote = strings.Replace(w.host.CloneURL(repository), "http://", "http://rita:rita-s-token@", 1)
	w.clone = sync.OnceValue(func() *prhosttest.Clone { return prhosttest.NewClone(w.TB, w.remote) })
}

func authenticate(_ context.Context, username, password string) (promotion.Actor, error) {
	if username == rita.Name && password == "rita-s-token" {
		return rita, nil
	}
	return promotion.Actor{}, &promotion.Error{Kind: promotion.Unauthenticated, Code: "invalid-token", Message: "wrong name or password"}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// same fails the test unless what was found is as wanted.
func same[T comparable](w *world, what string, got, want T) {
	w.Helper()
	if got != want {
		w.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// contains fails the test unless a sentence says all the parts.
func (w *world) contains(what, sentence string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		if !strings.Contains(sentence, part) {
			w.Fatalf("%s is %q, which does not say %q", what, sentence, part)
		}
	}
}

// refused fails the test unless err is a refusal with this code, and returns it.
func (w *world) refused(err error, code string) promotion.Error {
	w.Helper()
	var refusal *promotion.Error
	if !errors.As(err, &refusal) || refusal.Code != code {
		w.Fatalf("answer is %v, want a refusal with code %s", err, code)
	}
	if len(refusal.Message) < 20 {
		w.Fatalf("the refusal %s says only %q", code, refusal.Message)
	}
	return *refusal
}

// clock moves a millisecond with every look at it, and further when told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { return c.pass(time.Millisecond) }

func (c *clock) pass(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return c.at
}
