package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/simulation"
)

const (
	path     = "apps/web/overlays/prod"
	registry = "registry.example.com/shop/web"
)

// digest is a made-up image digest of a version.
func digest(version string) string { return fmt.Sprintf("sha256:%064x", version) }

// commit is a made-up commit, with a number for its content.
func commit(n int) string { return fmt.Sprintf("%040x", n) }

// world is a simulated cluster with everything around it, moved step by step within a synctest bubble.
type world struct {
	t    *testing.T
	file string
	now  time.Time

	head   string
	trees  map[string]string // manifests by commit
	images map[string]simulation.Image
	apps   []simulation.Application

	simulation *simulation.Simulation
	cluster    *cluster.Cluster
	stop       func()

	mu     sync.Mutex
	seen   []promotion.Observation
	refuse error // what Observe answers
}

// inWorld runs a test in a bubble with one Application, web-prod, whose path holds two replicas of web 1.0.0.
func inWorld(t *testing.T, automated bool, test func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cluster.json")
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, file: file, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), trees: map[string]string{}, images: map[string]simulation.Image{}}
		w.apps = []simulation.Application{{Name: "web-prod", Namespace: "argocd", RepoURL: "https://git.example.com/shop/config.git",
			Path: path, DestinationNamespace: "web-prod", Automated: automated, Environment: "prod"}}
		w.push(1, web("1.0.0"))
		w.publish("1.0.0", false)
		w.open()
		defer func() { w.stop() }()
		test(t, w)
	})
}

// open starts the simulation and the watch on it, as a process does.
func (w *world) open() {
	w.t.Helper()
	s, err := simulation.Open(simulation.Options{
		File: w.file,
		Head: func(context.Context) (string, error) { return w.head, nil },
		Render: func(_ context.Context, revision, at string) ([]*unstructured.Unstructured, error) {
			if text, known := w.trees[revision]; known && at == path {
				return decode(text)
			}
			return nil, errors.New("kustomization.yaml: no such file")
		},
		Pull: func(_ context.Context, image string) (simulation.Image, error) {
			if pulled, known := w.images[image]; known {
				return pulled, nil
			}
			return simulation.Image{}, fmt.Errorf("failed to resolve reference %q: not found", image)
		},
		Applications: func(context.Context) ([]simulation.Application, error) { return w.apps, nil },
		Now:          w.clock,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.simulation = s
	w.cluster = cluster.New(cluster.Options{Name: "prod-eu", Client: s.Client(), Simulated: true, Now: w.clock, Observe: w.observe,
		Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- w.cluster.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
	w.wait(time.Second) // the caches are asked in intervals whether they are filled
}

// saved is what the file holds.
func (w *world) saved() []byte {
	w.t.Helper()
	state, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	return state
}

// restart kills everything that runs and starts it again from a state of the file.
func (w *world) restart(state []byte) {
	w.t.Helper()
	w.stop()
	if err := os.WriteFile(w.file, state, 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) observe(_ context.Context, o promotion.Observation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return w.refuse
	}
	w.seen = append(w.seen, o)
	return nil
}

// step moves the cluster a number of steps of a second and lets the watch see each.
func (w *world) step(steps int) {
	w.t.Helper()
	for range steps {
		w.mu.Lock()
		w.now = w.now.Add(time.Second)
		w.mu.Unlock()
		if err := w.simulation.Step(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		synctest.Wait()
	}
}

// settled is enough steps for any rollout of the tests to end.
const settled = 25

// observed are all observations so far.
func (w *world) observed() []promotion.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]promotion.Observation(nil), w.seen...)
}

// wait lets the bubble's time go by.
func (w *world) wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (w *world) last() promotion.Observation {
	w.t.Helper()
	all := w.observed()
	if len(all) == 0 {
		w.t.Fatal("nothing was observed")
	}
	return all[len(all)-1]
}

func (w *world) push(n int, manifests string) {
	w.head = commit(n)
	w.trees[w.head] = manifests
}

// publish makes an image of web pullable.
func (w *world) publish(version string, crashes bool) {
	w.images[registry+"@"+digest(version)] = simulation.Image{ID: registry + "@" + digest(version), Crashes: crashes}
}

func (w *world) sync(promotionID int64, revision string) error {
	return w.cluster.Sync(w.t.Context(), promotion.DeploymentKey{Cluster: "prod-eu", Namespace: "argocd", Name: "web-prod"},
		promotion.SyncRequest{PromotionID: promotionID, Revision: revision, InitiatedBy: "rita"})
}

var applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}

// get reads an object of web-prod; namespaced kinds are looked for where it deploys to.
func (w *world) get(gvr schema.GroupVersionResource, name string) *unstructured.Unstructured {
	w.t.Helper()
	namespace := "web-prod"
	if gvr == applications {
		namespace = "argocd"
	}
	o, err := w.simulation.Client().Resource(gvr).Namespace(namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// change writes an object as a person with kubectl does.
func (w *world) change(o *unstructured.Unstructured, value any, fields ...string) {
	w.t.Helper()
	if err := unstructured.SetNestedField(o.Object, value, fields...); err != nil {
		w.t.Fatal(err)
	}
	gvr := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	if o.GetKind() == "Application" {
		gvr = applications
	}
	if _, err := w.simulation.Client().Resource(gvr).Namespace(o.GetNamespace()).Update(w.t.Context(), o, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

func (w *world) history() []string {
	w.t.Helper()
	history, _, _ := unstructured.NestedSlice(w.get(applications, "web-prod").Object, "status", "history")
	var revisions []string
	for _, h := range history {
		revisions = append(revisions, h.(map[string]any)["revision"].(string))
	}
	return revisions
}

// web is a Deployment and its Service, with two replicas of a version.
func web(version string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: %s@%s}
`, registry, digest(version))
}

func decode(manifests string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, document := range splitDocuments(manifests) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}
