package builtin_test

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/migrations"
)

const repository = "platform-config"

func TestHostConforms(t *testing.T) {
	t.Parallel()
	prhosttest.Run(t, func(t *testing.T) prhosttest.Fixture {
		s := newSite(t, func(o *builtin.Options) { o.RequiredStatus = prhosttest.Status })
		return prhosttest.Fixture{Host: s.port, Remote: s.remote("rita", "rita-s-token"), Comments: s.comments}
	})
}

// As after a crash, or with a push that another server took: nobody tells this
// host that refs moved, and every answer has to come from looking.
func TestHostConformsWithoutBeingTold(t *testing.T) {
	t.Parallel()
	prhosttest.Run(t, func(t *testing.T) prhosttest.Fixture {
		s := newSite(t)
		return prhosttest.Fixture{Host: s.port, Remote: filepath.Join(s.dir, repository+".git"), Comments: s.comments}
	})
}

func (s *site) comments(t testing.TB, number int) []string {
	t.Helper()
	page, err := s.host.PullRequest(t.Context(), repository, number)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, c := range page.Comments {
		all = append(all, c.Body)
	}
	return all
}

// site is a host that is reachable over HTTP, with one repository.
type site struct {
	host   *builtin.Host
	port   promotion.PullRequestHost
	pool   *pgxpool.Pool
	server *httptest.Server
	dir    string

	mu     sync.Mutex
	pushed [][]builtin.RefChange
}

const serviceToken = "a-service-token"

func newSite(t testing.TB, options ...func(*builtin.Options)) *site {
	t.Helper()
	s := &site{dir: t.TempDir()}
	pool, err := pgxpool.New(t.Context(), postgrestest.NewDatabase(t, migrate))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s.pool = pool
	mux := http.NewServeMux()
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	o := builtin.Options{Pool: pool, Dir: s.dir, BaseURL: s.server.URL, Authenticate: authenticate, ServiceToken: serviceToken,
		Log: slog.New(slog.DiscardHandler),
		Pushed: func(_ context.Context, name string, refs []builtin.RefChange) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if name == repository {
				s.pushed = append(s.pushed, refs)
			}
		}}
	for _, set := range options {
		set(&o)
	}
	if s.host, err = builtin.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	mux.Handle("/git/", http.StripPrefix("/git", s.host.Handler()))
	files := map[string][]byte{"README.md": []byte("# Config\n"), "apps/shop/base/kustomization.yaml": []byte("resources: []\n")}
	if err := s.host.Create(t.Context(), repository, files, author()); err != nil {
		t.Fatal(err)
	}
	s.port = s.host.Repository(repository)
	return s
}

func author() promotion.Signature {
	return promotion.Signature{Name: "Ada", Email: "ada@example.test", When: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// remote is the repository's URL with a user's credentials; empty: anonymous.
func (s *site) remote(username, password string) string {
	u, err := url.Parse(s.host.CloneURL(repository))
	if err != nil {
		panic(err)
	}
	if username != "" {
		u.User = url.UserPassword(username, password)
	}
	return u.String()
}

// moved is what Pushed was told so far.
func (s *site) moved() [][]builtin.RefChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pushed
}

// main is what main's ref holds.
func (s *site) main(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(s.dir, repository+".git", "refs/heads/main"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// packet is a line of Git's protocol.
func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

// authenticate knows rita, a release manager, and victor, a viewer.
func authenticate(_ context.Context, username, password string) (promotion.Actor, error) {
	roles := map[string]promotion.Role{"rita": promotion.RoleReleaseManager, "victor": promotion.RoleViewer}
	role, known := roles[username]
	if !known || password != username+"-s-token" {
		return promotion.Actor{}, &promotion.Error{Kind: promotion.Unauthenticated, Code: "unauthenticated", Message: "wrong user name or token"}
	}
	return promotion.Actor{Name: username, Kind: promotion.Person, Roles: []promotion.Role{role}}, nil
}

// migrate runs the host's own migrations only: it needs no others.
func migrate(ctx context.Context, url string) error {
	names, err := fs.Glob(migrations.Files, "*_builtin_*.sql")
	if err != nil {
		return err
	}
	own := fstest.MapFS{}
	for _, name := range names {
		content, err := migrations.Files.ReadFile(name)
		if err != nil {
			return err
		}
		own[name] = &fstest.MapFile{Data: content}
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // nothing is lost with it
	provider, err := goose.NewProvider(goose.DialectPostgres, db, own)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
