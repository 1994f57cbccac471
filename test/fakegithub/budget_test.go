// Package fakegithub_test drives the domain, with a real database and real git, against the adapter and the fake.
package fakegithub_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/prhost/github"
	"github.com/sluicehq/sluice/internal/prhost/prhosttest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/migrations"
	"github.com/sluicehq/sluice/test/fakegithub"
)

const (
	name  = "shop-config"
	image = "registry.example.test/shop/web"
)

var (
	ci   = promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	rita = promotion.Actor{Name: "rita", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleReleaseManager}}
	ada  = promotion.Actor{Name: "ada", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}}
)

// sluice is one whose config repository is on the fake GitHub, and whose work is done when the test says so.
type sluice struct {
	*testing.T
	github  *fakegithub.Server
	service *promotion.Service
	git     *prhosttest.Clone
	pool    *pgxpool.Pool

	mu  sync.Mutex
	due []promotion.Work
}

// whole answers for every image: it is there.
type whole struct{}

func (whole) Image(context.Context, string) (promotion.ImageFacts, error) {
	return promotion.ImageFacts{Present: true}, nil
}

func (whole) Held(context.Context, string, []string) (bool, error) { return true, nil }

func digest(n int) string { return fmt.Sprintf("sha256:%064x", n) }

func newSluice(t *testing.T) *sluice {
	t.Helper()
	s := &sluice{T: t, github: fakegithub.New(t)}
	s.github.DismissStale()
	s.git = prhosttest.NewClone(t, s.github.Remote)
	for file, text := range map[string]string{
		"apps/web/base/kustomization.yaml":          "resources: [deployment.yaml]\n",
		"apps/web/base/deployment.yaml":             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - {name: web, image: " + image + "}\n",
		"apps/web/overlays/prod/kustomization.yaml": "resources: [../../base]\nimages:\n- name: " + image + "\n  digest: " + digest(1) + "\n",
	} {
		s.git.Write(file, text)
	}
	s.git.Push("main", "README.md", "# Shop\n")

	app, err := github.NewApp(github.AppOptions{ID: fakegithub.AppID, PrivateKey: s.github.App(map[string]string{"contents": "write"}),
		Owner: fakegithub.Owner, Repository: fakegithub.Repository, BaseURL: s.github.URL})
	s.must(err)
	host, err := github.New(github.Options{Owner: fakegithub.Owner, Repository: fakegithub.Repository, BaseBranch: fakegithub.Main,
		BaseURL: s.github.URL, AppID: fakegithub.AppID, Token: app.Token, Refused: app.Refused})
	s.must(err)
	mirror, err := gitrepo.Open(t.Context(), gitrepo.Options{Name: name, URL: s.github.Remote, Branch: fakegithub.Main, Dir: t.TempDir() + "/mirror"})
	s.must(err)
	s.pool, err = pgxpool.New(t.Context(), postgrestest.NewDatabase(t, func(ctx context.Context, url string) error {
		return postgres.Migrate(ctx, url, migrations.Files)
	}))
	s.must(err)
	t.Cleanup(s.pool.Close)
	s.service = &promotion.Service{
		Store: postgres.NewStore(s.pool, s.enqueue), Clusters: map[string]promotion.Cluster{}, Registry: whole{}, Manifests: overlays.Overlays{},
		Sites:  map[string]promotion.Site{name: {URL: s.github.Remote, BaseBranch: fakegithub.Main, Repository: mirror, Host: host, Sources: host}},
		Engine: argocd.Engine{}, Linter: lint.Linter{Now: time.Now}, Policies: policy.Reader{}, Now: time.Now,
		PublicURL: "https://sluice.example.test", Log: slog.New(slog.DiscardHandler),
		People: func(name string) []promotion.Role {
			return map[string][]promotion.Role{rita.Name: rita.Roles, ada.Name: ada.Roles}[name]
		},
		Identify: func(_, login string) (promotion.Actor, bool) { return ada, login == ada.Name },
	}
	s.look()
	return s
}

func (s *sluice) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *sluice) enqueue(_ context.Context, _ pgx.Tx, work []promotion.Work) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due = append(s.due, work...)
	return nil
}

// look is the periodic look, and all that follows from it.
func (s *sluice) look() {
	s.Helper()
	_, err := s.service.LookAtRepository(s.Context(), name)
	s.must(err)
	s.must(s.service.AdvanceAll(s.Context()))
	s.settle()
}

func (s *sluice) settle() {
	s.Helper()
	const most = 200
	for range most {
		s.mu.Lock()
		if len(s.due) == 0 {
			s.mu.Unlock()
			return
		}
		work := s.due[0]
		s.due = s.due[1:]
		s.mu.Unlock()
		var err error
		if work.Kind == promotion.WorkLook {
			_, err = s.service.LookAtRepository(s.Context(), name)
		} else {
			_, _, err = s.service.Advance(s.Context(), work.PromotionID)
		}
		s.must(err)
	}
	s.Fatal("work without end")
}

// is fails the test unless the promotion is in a state, and says what it waits for if not.
func (s *sluice) is(id int64, state promotion.State) promotion.Promotion {
	s.Helper()
	p, err := s.service.Store.Promotion(s.Context(), id)
	s.must(err)
	if p.State() != state {
		s.Fatalf("promotion %d is %s, want %s: %s", id, p.State(), state, p.WaitsFor)
	}
	return p
}

// asked is rita's promotion of a new release to prod, whose pull request is open.
func (s *sluice) asked() promotion.Promotion {
	s.Helper()
	built, _, err := s.service.RecordBuild(s.Context(), ci, promotion.BuildRequest{Version: "1.1.0",
		Artifacts: []promotion.BuildArtifact{{Repository: image, Digest: digest(2)}},
		Source:    promotion.Source{Repository: "https://git.example.test/shop", Commit: strings.Repeat("a", 40)},
		CI:        promotion.CIRun{Provider: "example", RunURL: "https://ci.example.test/runs/1"}})
	s.must(err)
	s.settle()
	p, err := s.service.Promote(s.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod",
		Release: fmt.Sprint(built.Releases[0].ID), Reason: "the weekly release"})
	s.must(err)
	s.settle()
	return s.is(p.ID, promotion.StateOpen)
}

// The ordinary way to prod fits into GitHub's limits: opened, reviewed by a person there, merged.
func TestBudgetOfAPromotion(t *testing.T) {
	t.Parallel()
	s := newSluice(t)
	p := s.asked()
	s.look()
	s.github.Review(p.Number, ada.Name, "APPROVED", "fine")
	s.look()
	s.look() // sees what it has written itself
	full, _ := s.github.Reads()
	for range 5 { // while nothing happens, nothing is written, and reads are free
		s.look()
	}
	if now, unchanged := s.github.Reads(); now != full || unchanged == 0 {
		t.Errorf("%d reads were answered in full although nothing had changed", now-full)
	}
	_, err := s.service.Merge(t.Context(), rita, p.ID)
	s.must(err)
	s.settle()
	s.look()
	merged := s.is(p.ID, promotion.StateMerged)
	if main := s.git.Remote("main"); merged.MergeSHA != main || s.git.Remote(p.Branch) != "" {
		t.Errorf("merged as %s, main is %s; the branch is at %q", merged.MergeSHA, main, s.git.Remote(p.Branch))
	}

	writes := s.github.Writes()
	creating := slices.DeleteFunc(slices.Clone(writes), func(call string) bool { return !strings.HasPrefix(call, http.MethodPost+" ") })
	const most, mostCreating = 6, 3
	if len(writes) > most || len(creating) > mostCreating {
		t.Errorf("%d writing calls, of which %d create something, are more than %d and %d: %q", len(writes), len(creating), most, mostCreating, writes)
	}
}

// A person's own pull request that changes what prod runs is told about in one comment and its status.
func TestBudgetOfAPersonsPullRequest(t *testing.T) {
	t.Parallel()
	s := newSluice(t)
	s.git.Push("more", "apps/web/overlays/prod/kustomization.yaml", "resources: [../../base]\nnamePrefix: eu-\nimages:\n- name: "+image+"\n  digest: "+digest(1)+"\n")
	number := s.github.Open("pat", "more")
	s.look()
	s.look()
	gates := s.github.Status(s.git.Remote("more"), promotion.StatusContext)
	if comments := s.github.Comments(number); gates.State == "success" || len(comments) != 1 {
		t.Fatalf("the status is %+v, comments are %q", gates, comments)
	}
	s.github.Review(number, ada.Name, "APPROVED", "fine")
	s.look()
	if gates := s.github.Status(s.git.Remote("more"), promotion.StatusContext); gates.State != "success" {
		t.Fatalf("the status is %+v after a review", gates)
	}
	// GitHub dismisses the approval after a push of the same content, and it still counts.
	s.git.Git("commit", "--quiet", "--amend", "--message", "Said better")
	s.git.Git("push", "--quiet", "--force", "origin", "more")
	s.look()
	if gates := s.github.Status(s.git.Remote("more"), promotion.StatusContext); gates.State != "success" {
		t.Fatalf("the status is %+v after a push of equal content", gates)
	}
	s.github.Person().Merge(t, number, "squash")
	s.look()
	counts := map[string]int{}
	for _, call := range s.github.Writes() {
		method, path, _ := strings.Cut(call, " ")
		kind, _, _ := strings.Cut(path, "/")
		counts[method+" "+kind]++
	}
	if want := map[string]int{"POST issues": 1, "PATCH issues": counts["PATCH issues"], "POST statuses": 3}; !maps.Equal(counts, want) || counts["PATCH issues"] > 3 {
		t.Errorf("writing calls are %v: %q", counts, s.github.Writes())
	}
}
