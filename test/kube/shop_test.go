//go:build peers

package kube_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/demo"
	"github.com/sluicehq/sluice/internal/gitrepo"
	"github.com/sluicehq/sluice/internal/jobs"
	"github.com/sluicehq/sluice/internal/lint"
	"github.com/sluicehq/sluice/internal/migration"
	"github.com/sluicehq/sluice/internal/overlays"
	"github.com/sluicehq/sluice/internal/policy"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/prhost/builtin"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/registry"
	"github.com/sluicehq/sluice/internal/registry/demoregistry"
	"github.com/sluicehq/sluice/test/peers/realkube"
)

var (
	ci   = promotion.Actor{Name: "ci", Kind: promotion.Token, Roles: []promotion.Role{promotion.RoleCI}}
	rita = promotion.Actor{Name: "rita", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleReleaseManager}}
	ada  = promotion.Actor{Name: "ada", Kind: promotion.Person, Roles: []promotion.Role{promotion.RoleApprover}}
)

const (
	configRepository = "shop-config"
	lookInterval     = time.Second
	never            = time.Hour
)

// shop is a world with the whole of Sluice: web goes from CI through dev, which Argo CD syncs client-side by itself, to prod, which
// Sluice has synced, server-side.
type shop struct {
	*world
	service *promotion.Service
	host    *builtin.Host
	url     string   // of the config repository
	images  string   // the registry's host
	pulled  sync.Map // by an image's reference, what a node of linux/arm64 pulls
}

func newShop(w *world) *shop { return newShopOf(w, func(map[string][]byte) {}) }

// newShopOf is one whose config repository begins with other files.
func newShopOf(w *world, change func(files map[string][]byte)) *shop {
	w.Helper()
	s := &shop{world: w}
	ctx := w.startControlPlane()
	w.openDatabase()
	s.openRegistry()
	queue, err := jobs.Enqueuer(w.pool)
	w.must(err)
	people := map[string][]promotion.Role{rita.Name: rita.Roles, ada.Name: ada.Roles}
	s.service = &promotion.Service{Store: postgres.NewStore(w.pool, queue.InsertTx), Registry: registry.New(registry.Options{UserAgent: "sluice/test"}),
		Manifests: overlays.Overlays{}, Engine: argocd.Engine{}, Linter: lint.Linter{Now: time.Now}, Policies: policy.Reader{}, Migrations: migration.Reader{}, Now: time.Now,
		People: func(name string) []promotion.Role { return people[name] }, PublicURL: "https://sluice.example.test", Log: slog.New(slog.DiscardHandler),
		Inspectors: map[string]promotion.Inspector{clusterName: w.inspector()}}
	site := s.openRepository(change)
	s.service.Sites = map[string]promotion.Site{configRepository: site}
	s.engineFor(ctx, site.Repository)
	w.watch(ctx, s.service, nil)
	s.service.Clusters, s.service.Readers = map[string]promotion.Cluster{clusterName: w.cluster}, map[string]promotion.ClusterReader{clusterName: w.cluster}
	s.work()
	for _, environment := range []string{"dev", "prod"} {
		w.createNamespace("shop-" + environment)
		w.kubelet.In("shop-"+environment, s.fate)
	}
	return s
}

func (s *shop) openRegistry() {
	s.Helper()
	handler, err := demoregistry.Open(s.TempDir())
	s.must(err)
	server := httptest.NewServer(handler)
	s.Cleanup(server.Close)
	s.images = strings.TrimPrefix(server.URL, "http://")
}

// engineFor has Argo CD's stand-in render the config repository.
func (s *shop) engineFor(ctx context.Context, repository promotion.ConfigRepository) {
	s.Helper()
	s.startEngine(ctx, repository.Fetch, func(ctx context.Context, revision, path string) ([]*unstructured.Unstructured, error) {
		tree, err := repository.Tree(ctx, revision)
		if err != nil {
			return nil, err
		}
		return overlays.Overlays{}.Objects(tree, path)
	})
}

// files are those of web in dev and in prod.
func (s *shop) files() map[string][]byte {
	s.Helper()
	files, err := demo.Files(s.Context(), s.images, func(_ context.Context, i demo.Image) (string, error) { return s.push(i.Name, i.Version), nil })
	s.must(err)
	maps.DeleteFunc(files, func(name string, _ []byte) bool {
		return strings.HasPrefix(name, "apps/") && !strings.HasPrefix(name, "apps/web/") || strings.HasPrefix(name, "apps/web/overlays/staging/")
	})
	return files
}

// openRepository makes the config repository on the built-in host.
func (s *shop) openRepository(change func(files map[string][]byte)) promotion.Site {
	s.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	host, err := builtin.Open(s.Context(), builtin.Options{Pool: s.pool, Dir: s.TempDir(), BaseURL: server.URL, ServiceToken: "sesame",
		RequiredStatus: promotion.StatusContext, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
		Authenticate: func(context.Context, string, string) (promotion.Actor, error) { return rita, nil },
		Pushed:       func(context.Context, string, []builtin.RefChange) {}})
	s.must(err)
	s.host = host
	mux.Handle("/git/", http.StripPrefix("/git", host.Handler()))
	files := s.files()
	change(files)
	s.must(host.Create(s.Context(), configRepository, files, promotion.Signature{Name: "Olga Ops", Email: "olga@example.test", When: time.Now()}))
	s.url = host.CloneURL(configRepository)
	return promotion.Site{URL: s.url, BaseBranch: builtin.MainBranch, Repository: s.mirror("sluice", "sesame"), Host: host.Repository(configRepository)}
}

func (s *shop) mirror(name, secret string) *gitrepo.Mirror {
	s.Helper()
	mirror, err := gitrepo.Open(s.Context(), gitrepo.Options{Name: configRepository, URL: s.url, Branch: builtin.MainBranch, Dir: s.TempDir(),
		Auth: func(context.Context) (string, string, error) { return name, secret, nil }})
	s.must(err)
	return mirror
}

// work looks at the repository and then does what is enqueued, as the server does.
func (s *shop) work() {
	s.Helper()
	workers, err := jobs.Workers(s.pool, s.service, func(context.Context) (string, error) { return "", nil }, []string{configRepository},
		jobs.Intervals{Repositories: lookInterval, Promotions: lookInterval, Sealing: never, Drift: never, Reminders: never}, slog.New(slog.DiscardHandler))
	s.must(err)
	_, err = s.service.LookAtRepository(s.Context(), configRepository)
	s.must(err)
	s.must(workers.Start(context.WithoutCancel(s.Context())))
	s.Cleanup(func() {
		if err := workers.Stop(context.WithoutCancel(s.Context())); err != nil {
			s.Errorf("stop the workers: %v", err)
		}
		s.story()
	})
}

// story says what happened, when the test has failed.
func (s *shop) story() {
	if !s.Failed() {
		return
	}
	for _, name := range []string{"web-dev", "web-prod"} {
		for _, o := range s.history(name) {
			s.Logf("%s was %s and %s from %s: %s", name, o.sync, o.health, o.from.Format(time.TimeOnly), o.message)
		}
	}
	rows, err := s.pool.Query(context.WithoutCancel(s.Context()), "SELECT at, object, actor, message FROM audit_events ORDER BY id")
	if err != nil {
		s.Error(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		s.Log(values, err)
	}
}

// push pushes an image for two platforms and gives the digest of its index.
func (s *shop) push(image, version string) string {
	s.Helper()
	digest, err := demoregistry.PushImage(s.Context(), s.images, "shop/"+image, version, []string{"linux/amd64", "linux/arm64"})
	s.must(err)
	reference := s.images + "/shop/" + image + "@" + digest
	facts, err := registry.New(registry.Options{UserAgent: "a-node"}).Image(s.Context(), reference)
	s.must(err)
	for _, m := range facts.Manifests {
		if m.Platform == "linux/arm64" {
			s.pulled.Store(reference, s.images+"/shop/"+image+"@"+m.Digest)
		}
	}
	return digest
}

// posts has CI post a build of web with a new image, and gives the release and what pods ask for.
func (s *shop) posts(version string, m *promotion.Migrations) (promotion.Release, []promotion.Promotion, string) {
	s.Helper()
	digest := s.push("web", version)
	out, _, err := s.service.RecordBuild(s.Context(), ci, promotion.BuildRequest{Version: version, Migrations: m,
		Source:    promotion.Source{Repository: "https://git.example.test/shop/web", Commit: strings.Repeat("c0", 20)},
		Artifacts: []promotion.BuildArtifact{{Repository: s.images + "/shop/web", Digest: digest}}})
	s.must(err)
	return out.Releases[0], out.Promotions, s.images + "/shop/web@" + digest
}

// toProd has people take a release to prod, and waits until it has arrived.
func (s *shop) toProd(r promotion.Release, reference string) promotion.Promotion {
	s.Helper()
	asked, err := s.service.Promote(s.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: fmt.Sprint(r.ID), Reason: "the weekly release"})
	s.must(err)
	return s.goes(asked.ID, reference)
}

// goes has people approve and merge a promotion, and waits until it has arrived.
func (s *shop) goes(id int64, reference string) promotion.Promotion {
	s.Helper()
	s.is(id, promotion.StateOpen)
	_, err := s.service.Decide(s.Context(), ada, promotion.DecideRequest{PromotionID: id, Decision: "approve", Comment: "looks right"})
	s.must(err)
	s.eventually("it is merged", func() (bool, string) { // once main's newest is looked at
		_, err := s.service.Merge(s.Context(), rita, id)
		return err == nil, fmt.Sprint(err)
	})
	p := s.is(id, promotion.StateVerified)
	s.arrives(p, reference)
	return p
}

// fate is that of containers on a node which runs the manifest of its own platform, and says so.
func (s *shop) fate(image string) realkube.Fate {
	if id, known := s.pulled.Load(image); known {
		return realkube.Fate{ImageID: id.(string)}
	}
	return realkube.Fate{Pull: "failed to resolve reference: not found"}
}

// argo makes the Application that deploys web in an environment. policy is YAML in braces.
func (s *shop) argo(environment, policy string) {
	s.Helper()
	s.apply(fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-%[1]s, namespace: argocd}
spec:
  project: default
  source: {repoURL: "%[2]s", path: apps/web/overlays/%[1]s, targetRevision: main}
  destination: {server: "https://kubernetes.default.svc", namespace: shop-%[1]s}
  syncPolicy: %[3]s
`, environment, s.url, policy))
}

// is waits until a promotion is in a state.
func (s *shop) is(id int64, state promotion.State) (p promotion.Promotion) {
	s.Helper()
	s.eventually(fmt.Sprintf("promotion %d is %s", id, state), func() (bool, string) {
		var err error
		p, err = s.service.Store.Promotion(s.Context(), id)
		s.must(err)
		return p.State() == state, fmt.Sprintf("%s: %s; %s", p.State(), p.WaitsFor, s.recorded("web-"+p.Target.Environment))
	})
	return p
}
