//go:build peers

// Package kube_test has Sluice watch a real API server on which a stand-in for Argo CD deploys, and checks what it
// records in PostgreSQL. Controllers and scheduler are Kubernetes' own; only nodes are played.
package kube_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/jobs"
	"github.com/sluicehq/sluice/internal/postgres"
	"github.com/sluicehq/sluice/internal/postgres/postgrestest"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/simulation"
	"github.com/sluicehq/sluice/migrations"
	"github.com/sluicehq/sluice/test/peers/realkube"
)

const (
	clusterName = "real"
	account     = "system:serviceaccount:argocd:argocd-application-controller" // what Argo CD is to the API server
	patience    = time.Minute                                                  // that a busy machine is given; what is so is seen at once
)

// world is a control plane with its nodes, Argo CD's stand-in, and a Sluice that watches.
type world struct {
	*testing.T
	kube    *realkube.ControlPlane
	kubelet *realkube.Kubelet
	cluster *cluster.Cluster
	pool    *pgxpool.Pool
	git     *repository
}

// repository is what main holds: manifests by path. A push is of one path.
type repository struct {
	mu    sync.Mutex
	head  int
	trees map[string]string
}

// newWorld starts everything. Sluice reaches the API server with a configuration that watching may alter.
func newWorld(t *testing.T, watching func(*rest.Config)) *world {
	t.Helper()
	return newWorldWith(t, func(*world) {}, watching)
}

// newWorldWith is one with something prepared before Sluice watches.
func newWorldWith(t *testing.T, prepare func(*world), watching func(*rest.Config)) *world {
	t.Helper()
	w := &world{T: t, git: &repository{trees: map[string]string{}}}
	ctx := w.startControlPlane()
	w.startEngine(ctx, w.git.headNow, w.git.render)
	w.openDatabase()
	prepare(w)
	w.watch(ctx, &promotion.Service{Store: postgres.NewStore(w.pool, nil), Now: time.Now, Log: slog.New(slog.DiscardHandler)}, watching)
	return w
}

// startControlPlane starts Kubernetes and a node. The context ends before it does.
func (w *world) startControlPlane() context.Context {
	w.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(w.Context()))
	var err error
	w.kube, err = realkube.Start(ctx, w.TempDir())
	w.must(err)
	w.Cleanup(w.kube.Close)
	w.Cleanup(stop)
	w.Cleanup(func() {
		if w.Failed() {
			w.Log(w.kube.Logs())
		}
	})
	w.kubelet, err = w.kube.StartKubelet(ctx)
	w.must(err)
	w.createNamespace("argocd")
	return ctx
}

// startEngine has Argo CD's stand-in work with rights of its own: to read everything, and to write what is in most namespaces.
func (w *world) startEngine(ctx context.Context, head func(context.Context) (string, error), render func(ctx context.Context, revision, path string) ([]*unstructured.Unstructured, error)) {
	w.Helper()
	w.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: argo}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list, watch]}
- {apiGroups: [""], resources: [configmaps, services, secrets], verbs: ["*"]}
- {apiGroups: [apps], resources: ["*"], verbs: ["*"]}
- {apiGroups: [argoproj.io, example.test], resources: ["*"], verbs: ["*"]}
`)
	w.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: argo}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: argo}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: "` + account + `"}]
`)
	client := w.as(account)
	kinds, err := discovery.NewDiscoveryClientForConfig(w.kube.Config)
	w.must(err)
	engine := simulation.NewEngine(simulation.EngineOptions{Client: client, Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds)),
		Head: head, Render: render, Now: time.Now})
	log := slog.New(slog.NewTextHandler(w.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if err := engine.Step(ctx); err != nil { // the API server may be away; the next step finds out
				log.Debug("Argo CD stumbled", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	w.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// as is the API server as an account sees it.
func (w *world) as(account string) dynamic.Interface {
	w.Helper()
	config := rest.CopyConfig(w.kube.Config)
	config.Impersonate.UserName = account
	client, err := dynamic.NewForConfig(config)
	w.must(err)
	return client
}

func (r *repository) headNow(context.Context) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%040x", r.head), nil
}

func (r *repository) render(_ context.Context, _, path string) ([]*unstructured.Unstructured, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, there := r.trees[path]
	if !there {
		return nil, errors.New("kustomization.yaml: no such file")
	}
	return decode(text)
}

func decode(text string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

func (w *world) openDatabase() {
	w.Helper()
	config, err := pgxpool.ParseConfig(postgrestest.NewDatabase(w.T, func(ctx context.Context, url string) error {
		return postgres.Migrate(ctx, url, migrations.Files)
	}))
	w.must(err)
	config.MaxConns = 2*jobs.MaxWorkers + 4 // a worker holds its lock on one while it works on another
	w.pool, err = pgxpool.NewWithConfig(w.Context(), config)
	w.must(err)
	w.Cleanup(w.pool.Close)
}

// watch has Sluice watch the cluster, wired as the server does.
func (w *world) watch(ctx context.Context, service *promotion.Service, alter func(*rest.Config)) {
	w.Helper()
	config := rest.CopyConfig(w.kube.Config)
	if alter != nil {
		alter(config)
	}
	client, err := dynamic.NewForConfig(config)
	w.must(err)
	served, err := discovery.NewDiscoveryClientForConfig(config)
	w.must(err)
	w.cluster = cluster.New(cluster.Options{Name: clusterName, Client: client, Served: cluster.Discovery(served), Now: time.Now, Observe: service.Observed,
		Record: service.Store.(*postgres.Store), Server: rand.Text(), Log: slog.New(slog.NewTextHandler(w.Output(), nil))})
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.cluster.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	})
}

// apply creates an object, or replaces it, as an administrator.
func (w *world) apply(text string) {
	w.Helper()
	all, err := decode(text)
	w.must(err)
	kinds, err := discovery.NewDiscoveryClientForConfig(w.kube.Config)
	w.must(err)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))
	for _, o := range all {
		m, err := mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
		w.must(err)
		_, err = w.kube.Client.Resource(m.Resource).Namespace(o.GetNamespace()).Apply(w.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "admin", Force: true})
		w.must(err)
	}
}

func (w *world) createNamespace(name string) {
	w.Helper()
	w.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + "}\n")
}

// push changes what a path holds.
func (w *world) push(path, manifests string) {
	w.git.mu.Lock()
	defer w.git.mu.Unlock()
	w.git.head++
	w.git.trees[path] = manifests
}

// deploys makes an Application that deploys the path of its name into the namespace of its name, by itself.
func (w *world) deploys(name string, options ...string) {
	w.Helper()
	w.apply(fmt.Sprintf(`
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: %[1]s, namespace: argocd}
spec:
  project: default
  source: {repoURL: "https://git.example.test/config.git", path: %[1]s, targetRevision: main}
  destination: {server: "https://kubernetes.default.svc", namespace: %[1]s}
  syncPolicy: {automated: {prune: true}, syncOptions: [%[2]s]}
`, name, strings.Join(options, ", ")))
}

// syncs has a person ask for a sync, as the Argo CD page does.
func (w *world) syncs(name string) {
	w.Helper()
	apps := w.kube.Client.Resource(cluster.Applications).Namespace("argocd")
	w.eventually("a sync of "+name+" is asked for", func() (bool, string) {
		app, err := apps.Get(w.Context(), name, metav1.GetOptions{})
		w.must(err)
		head, _ := w.git.headNow(w.Context())
		app.Object["operation"] = map[string]any{"initiatedBy": map[string]any{"username": "pat"}, "sync": map[string]any{"revision": head, "prune": true}}
		_, err = apps.Update(w.Context(), app, metav1.UpdateOptions{})
		return err == nil, fmt.Sprint(err)
	})
}

func (w *world) delete(gvr schema.GroupVersionResource, namespace, name string) {
	w.Helper()
	w.must(w.kube.Client.Resource(gvr).Namespace(namespace).Delete(w.Context(), name, metav1.DeleteOptions{}))
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) eventually(what string, is func() (bool, string)) {
	w.Helper()
	deadline, tick := time.After(patience), time.NewTicker(100*time.Millisecond)
	defer tick.Stop()
	for {
		so, found := is()
		if so {
			return
		}
		select {
		case <-deadline:
			w.Fatalf("waited %s in vain until %s; it is: %s", patience, what, found)
		case <-tick.C:
		}
	}
}
