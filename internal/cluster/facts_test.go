package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// shop is what runs in the cluster of these tests: two nodes beside its own, of which one takes nothing, and a web of two pods.
var shop = []string{webProd, `
apiVersion: v1
kind: Node
metadata: {name: one, labels: {disk: fast}}
status: {nodeInfo: {operatingSystem: linux, architecture: amd64}, allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
`, `
apiVersion: v1
kind: Node
metadata: {name: two}
spec: {unschedulable: true}
status: {nodeInfo: {operatingSystem: linux, architecture: arm64}, allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
`, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {replicas: 3, selector: {matchLabels: {app: web}}}
`, `
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop}
spec: {nodeName: one, containers: [{name: web, image: web, resources: {requests: {cpu: "1500m", memory: 1Gi}}}]}
status: {phase: Running}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data: {LOG_LEVEL: info}
`, `
apiVersion: v1
kind: Secret
metadata: {name: database, namespace: shop}
data: {password: c3dvcmRmaXNo}
`, `
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: database, namespace: shop}
status: {conditions: [{type: Ready, status: "True"}]}
`, `
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: session, namespace: shop}
status: {conditions: [{type: Synced, status: "False"}]}
`}

// asked is one question about each thing that can be asked about.
func asked(change ...func(*promotion.Workload)) promotion.Needs {
	w := promotion.Workload{Kind: "Deployment", Name: "web", NodeSelector: map[string]string{"disk": "fast"}, Requests: []promotion.PodRequest{{CPU: "500m", Memory: "1Gi"}}}
	for _, c := range change {
		c(&w)
	}
	return promotion.Needs{Workloads: []promotion.Workload{w}, APIs: []string{"apps/v1/Deployment", "batch/v1beta1/CronJob"},
		Refs: []promotion.ObjectRef{level, color, password, account}, ExternalSecrets: []string{"database", "gone"}, SealedSecrets: []string{"session"}}
}

var (
	level    = promotion.ObjectRef{Kind: "ConfigMap", Name: "web", Key: "LOG_LEVEL"}
	color    = promotion.ObjectRef{Kind: "ConfigMap", Name: "web", Key: "COLOR"}
	password = promotion.ObjectRef{Kind: "Secret", Name: "database", Key: "password"}
	account  = promotion.ObjectRef{Kind: "ServiceAccount", Name: "web"}
)

func served(_ context.Context, version string) ([]string, error) {
	return map[string][]string{"apps/v1": {"Deployment", "StatefulSet"}}[version], nil
}

// factsOf has a cluster answer a question after its watch has begun.
func factsOf(t *testing.T, client dynamic.Interface, n promotion.Needs) promotion.ClusterFacts {
	t.Helper()
	return watchServed(t, client, served).Facts(t.Context(), webProdKey, n)
}

func watchServed(t *testing.T, client dynamic.Interface, served func(context.Context, string) ([]string, error)) *cluster.Cluster {
	t.Helper()
	return run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: client, Now: time.Now, Observe: (&told{}).observe, Served: served,
		Log: slog.New(slog.DiscardHandler)}))
}

func TestFactsOfACluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		three := 3
		want := promotion.ClusterFacts{Platforms: []string{"linux/amd64"},
			Refs: map[promotion.ObjectRef]rollback.State{level: rollback.Present, color: rollback.KeyAbsent, password: rollback.Present, account: rollback.ObjectAbsent},
			APIs: map[string]rollback.State{"apps/v1/Deployment": rollback.Yes, "batch/v1beta1/CronJob": rollback.No},
			Workloads: map[string]promotion.LiveWorkload{"Deployment/web": {Present: true, Replicas: &three, Selector: map[string]string{"app": "web"},
				Room: rollback.Yes}},
			Evictions: map[string]promotion.Evictions{},
			ExternalSecrets: map[string]rollback.ExternalSecret{"database": {Name: "database", StoreReady: rollback.Yes, RemoteKey: rollback.Present},
				"gone": {Name: "gone", StoreReady: rollback.Unread, RemoteKey: rollback.Unread}},
			SealedSecrets: map[string]rollback.SealedSecret{"session": {Name: "session", Decryptable: rollback.No}},
			Unread:        []string{"cluster prod-eu: ExternalSecret gone could not be read: it is not in namespace shop, so nobody has tried it"}}
		if diff := cmp.Diff(want, factsOf(t, apiServer(t, shop...), asked())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRoomForOneMorePod(t *testing.T) {
	t.Parallel()
	quota := func(name, hard, used string) string {
		return "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nstatus: {hard: {" + name + ": \"" + hard + "\"}, used: {" + name + ": \"" + used + "\"}}\n"
	}
	for name, test := range map[string]struct {
		more   []string
		change func(*promotion.Workload)
		want   rollback.State
	}{
		"all that is left":          {nil, func(*promotion.Workload) {}, rollback.Yes},
		"more CPU than is left":     {nil, func(w *promotion.Workload) { w.Requests[0].CPU = "501m" }, rollback.No},
		"more memory than is left":  {nil, func(w *promotion.Workload) { w.Requests[0].Memory = "3.5Gi" }, rollback.No},
		"two containers":            {nil, func(w *promotion.Workload) { w.Requests = append(w.Requests, promotion.PodRequest{CPU: "1m"}) }, rollback.No},
		"what is no quantity":       {nil, func(w *promotion.Workload) { w.Requests[0].CPU = "half" }, rollback.Unread},
		"no node that it may be on": {nil, func(w *promotion.Workload) { w.NodeSelector = map[string]string{"disk": "slow"} }, rollback.No},
		"a quota with room":         {[]string{quota("pods", "4", "3")}, func(*promotion.Workload) {}, rollback.Yes},
		"a quota that is used up":   {[]string{quota("pods", "3", "3")}, func(*promotion.Workload) {}, rollback.No},
		"a quota of CPU":            {[]string{quota("requests.cpu", "2", "1600m")}, func(*promotion.Workload) {}, rollback.No},
		"a quota of limits":         {[]string{quota("limits.cpu", "2", "0")}, func(*promotion.Workload) {}, rollback.Unread},
		"a quota of other objects":  {[]string{quota("count/secrets", "2", "2")}, func(*promotion.Workload) {}, rollback.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := factsOf(t, apiServer(t, append(test.more, shop...)...), asked(test.change))
				if got := f.Workloads["Deployment/web"].Room; got != test.want {
					t.Errorf("%s, want %s; unread: %s", got, test.want, strings.Join(f.Unread, "; "))
				}
			})
		})
	}
}

// TestAClusterThatFailsIsNeverAYes lets every question fail, one kind of failure after another, each within its time.
func TestAClusterThatFailsIsNeverAYes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail  func(context.Context) error
		cause string
	}{
		"credentials revoked": {func(context.Context) error { return apierrors.NewUnauthorized("the token has expired") }, "does not accept Sluice's credentials"},
		"not allowed": {func(context.Context) error {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("rbac"))
		}, "let its service account get and list this"},
		"no answer": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "gave no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := &failing{Interface: apiServer(t, shop...)}
				c := watchServed(t, client, func(ctx context.Context, _ string) ([]string, error) { return nil, test.fail(ctx) })
				client.fail = test.fail
				began := time.Now()
				f := c.Facts(t.Context(), webProdKey, asked())
				if took := time.Since(began); took > 12*time.Second {
					t.Errorf("it took %s", took)
				}
				if f.Platforms != nil || len(f.Refs) != 0 || len(f.APIs) != 0 || f.Workloads["Deployment/web"].Room != rollback.Unread ||
					f.ExternalSecrets["database"].StoreReady != rollback.Unread || f.SealedSecrets["session"].Decryptable != rollback.Unread {
					t.Errorf("something was taken for read: %+v", f)
				}
				for _, what := range []string{"its nodes", "the quotas of namespace shop", "ConfigMap web", "Secret database", "ServiceAccount web", "apps/v1", "ExternalSecret database", "SealedSecret session"} {
					if !strings.Contains(strings.Join(f.Unread, "\n"), what) {
						t.Errorf("nothing says that %s was not read: %q", what, f.Unread)
					}
				}
				for _, sentence := range f.Unread {
					if !strings.Contains(sentence, test.cause) {
						t.Errorf("%q does not say %q", sentence, test.cause)
					}
				}
			})
		})
	}
}

// TestWhatWasNeverSeenIsNotAbsent: a cache that could not be filled says nothing of what is in the cluster.
func TestWhatWasNeverSeenIsNotAbsent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := &failing{Interface: apiServer(t, shop...), only: map[string]bool{"deployments": true, "pods": true},
			fail: func(context.Context) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("rbac"))
			}}
		f := factsOf(t, client, asked())
		live := f.Workloads["Deployment/web"]
		if !live.Present || live.Selector != nil || live.Room != rollback.Unread {
			t.Errorf("taken for read: %+v", live)
		}
		for _, what := range []string{"Deployment web could not be read", "what runs on its nodes could not be read"} {
			if !strings.Contains(strings.Join(f.Unread, "\n"), what) {
				t.Errorf("nothing says %q: %q", what, f.Unread)
			}
		}
	})
}

// failing is an API server that answers no reading once fail is set, of some resources only if only says so.
type failing struct {
	dynamic.Interface
	fail func(context.Context) error
	only map[string]bool
}

// IsWatchListSemanticsUnSupported makes informers list and watch in two calls, as the API server behind it does.
func (c *failing) IsWatchListSemanticsUnSupported() bool { return true }

// Resource implements dynamic.Interface.
func (c *failing) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	r := c.Interface.Resource(gvr)
	if c.fail == nil || c.only != nil && !c.only[gvr.Resource] {
		return r
	}
	return &failingResource{failingObjects{r, c.fail}, r}
}

type failingResource struct {
	failingObjects
	all dynamic.NamespaceableResourceInterface
}

func (r *failingResource) Namespace(namespace string) dynamic.ResourceInterface {
	return &failingObjects{r.all.Namespace(namespace), r.fail}
}

type failingObjects struct {
	dynamic.ResourceInterface
	fail func(context.Context) error
}

func (o *failingObjects) Get(ctx context.Context, _ string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	return nil, o.fail(ctx)
}

func (o *failingObjects) List(ctx context.Context, _ metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return nil, o.fail(ctx)
}
