package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/simulation"
)

const (
	merge = "f47540228c1067f171ba7bc18f34627c9fcf351d"
	other = "6e4f3be3b3f91ef19ede96c51a00081a7db4a6b2"
)

var request = promotion.SyncRequest{PromotionID: 7, Revision: merge, InitiatedBy: "rita"}

// apiServer is a cluster's API with these objects, in which nothing moves by itself.
func apiServer(t *testing.T, objects ...string) dynamic.Interface {
	t.Helper()
	s, err := simulation.Open(simulation.Options{File: filepath.Join(t.TempDir(), "cluster.json"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range objects {
		create(t, s.Client(), text)
	}
	return s.Client()
}

func resourceOf(o *unstructured.Unstructured) schema.GroupVersionResource {
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	return resource
}

func create(t *testing.T, client dynamic.Interface, text string) *unstructured.Unstructured {
	t.Helper()
	json, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	created, err := client.Resource(resourceOf(o)).Namespace(o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

const webProd = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod, namespace: argocd}
spec:
  source: {repoURL: https://git.example.com/shop/config.git, path: overlays/prod, targetRevision: main}
  destination: {namespace: shop}
  syncPolicy: {syncOptions: [ServerSideApply=true], retry: {limit: 5}}
`

var webProdKey = promotion.DeploymentKey{Cluster: "prod-eu", Namespace: "argocd", Name: "web-prod"}

func syncWith(t *testing.T, client dynamic.Interface) error {
	t.Helper()
	return cluster.New(cluster.Options{Name: "prod-eu", Client: client}).Sync(t.Context(), webProdKey, request)
}

func operationOf(t *testing.T, client dynamic.Interface) map[string]any {
	t.Helper()
	app, err := client.Resource(cluster.Applications).Namespace("argocd").Get(t.Context(), "web-prod", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	operation, _, _ := unstructured.NestedMap(app.Object, "operation")
	return operation
}

func TestSyncWritesTheOperation(t *testing.T) {
	t.Parallel()
	client := apiServer(t, webProd)
	if err := syncWith(t, client); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"initiatedBy": map[string]any{"username": "rita"},
		"info":        []any{map[string]any{"name": "sluice-promotion", "value": "7"}},
		"sync":        map[string]any{"revision": merge, "prune": true, "syncOptions": []any{"ServerSideApply=true"}},
		"retry":       map[string]any{"limit": int64(5)},
	}
	if diff := cmp.Diff(want, operationOf(t, client)); diff != "" {
		t.Errorf("operation (-want +got):\n%s", diff)
	}
}

func TestSyncOfSeveralSourcesMovesOnlyTheFollowedOne(t *testing.T) {
	t.Parallel()
	client := apiServer(t, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod, namespace: argocd}
spec:
  sources:
  - {repoURL: https://charts.example.com, chart: web, targetRevision: 1.2.3}
  - {repoURL: https://git.example.com/shop/config.git, path: overlays/prod, targetRevision: main}
`)
	for range 2 { // the second time it runs already
		if err := syncWith(t, client); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]any{"prune": true, "revisions": []any{"1.2.3", merge}}
	if diff := cmp.Diff(want, operationOf(t, client)["sync"]); diff != "" {
		t.Errorf("sync (-want +got):\n%s", diff)
	}
}

func TestSyncOverAnEarlierOperation(t *testing.T) {
	t.Parallel()
	ours := `{info: [{name: sluice-promotion, value: "7"}], sync: {revision: ` + merge + `}}`
	bobs := `{initiatedBy: {username: bob}, sync: {revision: ` + merge + `}}`
	for name, c := range map[string]struct {
		app     string // what Argo CD wrote
		started bool   // a new operation
		err     error
	}{
		"ours waits":             {app: "operation: " + ours},
		"ours runs":              {app: "operation: " + ours + "\nstatus: {operationState: {phase: Running, operation: " + ours + "}}"},
		"ours has succeeded":     {app: "status: {operationState: {phase: Succeeded, operation: " + ours + ", syncResult: {revision: " + merge + "}}}"},
		"ours has failed":        {app: "status: {operationState: {phase: Failed, operation: " + ours + "}}", started: true},
		"bob's waits":            {app: "operation: " + bobs, err: promotion.ErrOperationRunning},
		"bob's runs":             {app: "operation: " + bobs + "\nstatus: {operationState: {phase: Running, operation: " + ours + "}}", err: promotion.ErrOperationRunning},
		"bob's is being stopped": {app: "status: {operationState: {phase: Terminating, operation: " + bobs + "}}", err: promotion.ErrOperationRunning},
		"bob's has succeeded":    {app: "status: {operationState: {phase: Succeeded, operation: " + bobs + ", syncResult: {revision: " + merge + "}}}", started: true},
		// Argo CD merges an operation's state over that of the one before: bob named no revision and applied another.
		"bob's has succeeded and still carries our mark": {
			app: "status: {operationState: {phase: Succeeded, operation: " + ours + ", syncResult: {revision: " + other + "}}}", started: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := apiServer(t, webProd+c.app+"\n")
			before := operationOf(t, client)
			if err := syncWith(t, client); !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			after := operationOf(t, client)
			if started := !cmp.Equal(before, after); started != c.started {
				t.Errorf("started %v, want %v: %v", started, c.started, after)
			}
		})
	}
}

// contested lets somebody else write the Application right before each of the first updates.
type contested struct {
	dynamic.Interface
	times int
	write func(ctx context.Context, apps dynamic.ResourceInterface) error
}

func (c *contested) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &contestedResource{c.Interface.Resource(gvr), c}
}

type contestedResource struct {
	dynamic.NamespaceableResourceInterface
	c *contested
}

func (r *contestedResource) Namespace(namespace string) dynamic.ResourceInterface {
	return &contestedObjects{r.NamespaceableResourceInterface.Namespace(namespace), r.c}
}

type contestedObjects struct {
	dynamic.ResourceInterface
	c *contested
}

func (o *contestedObjects) Update(ctx context.Context, u *unstructured.Unstructured, options metav1.UpdateOptions, sub ...string) (*unstructured.Unstructured, error) {
	if o.c.times > 0 {
		o.c.times--
		if err := o.c.write(ctx, o.ResourceInterface); err != nil {
			return nil, err
		}
	}
	return o.ResourceInterface.Update(ctx, u, options, sub...)
}

// write sets a field of the Application.
func write(value any, fields ...string) func(context.Context, dynamic.ResourceInterface) error {
	written := 0
	return func(ctx context.Context, apps dynamic.ResourceInterface) error {
		app, err := apps.Get(ctx, "web-prod", metav1.GetOptions{})
		if err != nil {
			return err
		}
		written++
		wanted := value
		if text, ok := value.(string); ok {
			wanted = fmt.Sprint(text, written) // another one each time
		}
		if err := unstructured.SetNestedField(app.Object, wanted, fields...); err != nil {
			return err
		}
		_, err = apps.Update(ctx, app, metav1.UpdateOptions{})
		return err
	}
}

func TestSyncLooksAgainWhenTheApplicationChanged(t *testing.T) {
	t.Parallel()
	t.Run("a status written meanwhile is no hindrance", func(t *testing.T) {
		t.Parallel()
		client := &contested{Interface: apiServer(t, webProd), times: 2, write: write("moment", "status", "reconciledAt")}
		if err := syncWith(t, client); err != nil || operationOf(t, client)["sync"] == nil {
			t.Errorf("sync: %v", err)
		}
	})
	t.Run("an operation written meanwhile is not replaced", func(t *testing.T) {
		t.Parallel()
		bobs := map[string]any{"initiatedBy": map[string]any{"username": "bob"}, "sync": map[string]any{}}
		client := &contested{Interface: apiServer(t, webProd), times: 1, write: write(bobs, "operation")}
		if err := syncWith(t, client); !errors.Is(err, promotion.ErrOperationRunning) {
			t.Errorf("sync: %v", err)
		}
		if diff := cmp.Diff(bobs, operationOf(t, client)); diff != "" {
			t.Errorf("bob's operation (-want +got):\n%s", diff)
		}
	})
	t.Run("it gives up in the end", func(t *testing.T) {
		t.Parallel()
		client := &contested{Interface: apiServer(t, webProd), times: 1000, write: write("moment", "status", "reconciledAt")}
		if err := syncWith(t, client); !apierrors.IsConflict(errors.Unwrap(err)) {
			t.Errorf("sync: %v", err)
		}
	})
}

// What was applied before is applied once more to restore live objects; while that runs, asking again changes nothing.
func TestSyncRestoresWhatWasApplied(t *testing.T) {
	t.Parallel()
	client := apiServer(t, webProd+`status:
  operationState:
    phase: Succeeded
    operation: {sync: {revision: `+merge+`}, info: [{name: sluice-promotion, value: restores live objects}]}
    syncResult: {revision: `+merge+`}
`)
	c := cluster.New(cluster.Options{Name: "prod-eu", Client: client})
	restore := promotion.SyncRequest{Revision: merge, InitiatedBy: "rita", Restores: true}
	for range 2 {
		if err := c.Sync(t.Context(), webProdKey, restore); err != nil {
			t.Fatal(err)
		}
		if operationOf(t, client) == nil {
			t.Fatal("nothing was started")
		}
	}
}
