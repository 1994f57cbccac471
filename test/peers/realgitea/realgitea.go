// Package realgitea runs a real Gitea for tests: the one that `make peers` has
// built, on a real PostgreSQL, with users, tokens and repositories of the tests.
package realgitea

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"code.gitea.io/sdk/gitea"

	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
)

//go:embed go.mod.txt
var module string

// Accounts of every server.
const (
	Bot    = "sluice" // what Sluice is to Gitea
	Person = "pat"
	owner  = "acme"
	admin  = "root-of-tests"

	password = "a-password-of-tests-1"
)

// patience is how long Gitea may take for its first start on a busy machine.
const patience = 2 * time.Minute

// Server is a running Gitea.
type Server struct {
	URL string
	// BotToken and PersonToken are the accounts' API tokens.
	BotToken, PersonToken string

	admin *gitea.Client
}

// Start runs a Gitea for as long as the test. It fails the test when there is none to run.
func Start(t testing.TB) *Server {
	t.Helper()
	home := built(t)
	database := postgrestest.NewDatabase(t, nil)
	p, err := newProcess(t, home, database)
	if err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	if err := p.configure(address, database); err != nil {
		t.Fatal(err)
	}
	p.serve(t, "http://"+address+"/api/healthz")
	s := &Server{URL: "http://" + address}
	if out, err := p.run(t.Context(), "admin", "user", "create", "--admin", "--username", admin, "--password", password,
		"--email", admin+"@example.test", "--must-change-password=false"); err != nil {
		t.Fatalf("make Gitea's first user: %v\n%s", err, out)
	}
	s.admin = s.client(t, gitea.SetBasicAuth(admin, password))
	if _, _, err := s.admin.CreateOrg(gitea.CreateOrgOption{Name: owner}); err != nil {
		t.Fatalf("make an organisation: %v", err)
	}
	s.BotToken, s.PersonToken = s.newAccount(t, Bot), s.newAccount(t, Person)
	return s
}

// built is the folder that `make peers` fills.
func built(t testing.TB) string {
	t.Helper()
	version := regexp.MustCompile(`(?m)^require code.gitea.io/gitea v(.+)$`).FindStringSubmatch(module)[1]
	peers := os.Getenv("SLUICE_PEERS")
	if peers == "" {
		cache, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		peers = filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(cache, ".cache")), "sluice-peers")
	}
	home := filepath.Join(peers, "gitea-"+version)
	if _, err := os.Stat(filepath.Join(home, "gitea")); err != nil {
		t.Fatalf("this test runs a real Gitea %s, and there is none in %s: build it with `make peers`", version, home)
	}
	return home
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (s *Server) client(t testing.TB, as gitea.ClientOption) *gitea.Client {
	t.Helper()
	c, err := gitea.NewClient(s.URL, as)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// As is a client of Gitea's API with a token.
func (s *Server) As(t testing.TB, token string) *gitea.Client {
	return s.client(t, gitea.SetToken(token))
}

// newAccount makes a user and returns a token for repositories.
func (s *Server) newAccount(t testing.TB, name string) (token string) {
	t.Helper()
	_, _, err := s.admin.AdminCreateUser(gitea.CreateUserOption{Username: name, Email: name + "@example.test", Password: password,
		MustChangePassword: new(false)})
	if err != nil {
		t.Fatalf("make user %s: %v", name, err)
	}
	return s.Token(t, name, "write:repository", "write:issue")
}

// Token makes an API token of an account.
func (s *Server) Token(t testing.TB, account string, scopes ...gitea.AccessTokenScope) string {
	t.Helper()
	made, _, err := s.client(t, gitea.SetBasicAuth(account, password)).CreateAccessToken(gitea.CreateAccessTokenOption{Name: rand.Text(), Scopes: scopes})
	if err != nil {
		t.Fatalf("make a token of %s: %v", account, err)
	}
	return made.Token
}

// remote is what git clones and pushes to with a token.
func (s *Server) remote(user, token, repository string) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err)
	}
	u.User = url.UserPassword(user, token)
	u.Path = fmt.Sprintf("/%s/%s.git", owner, repository)
	return u.String()
}
