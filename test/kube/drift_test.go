//go:build peers

package kube_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

const earlier = "registry.example.test/shop/web@sha256:00000000000000000000000000000000000000000000000000000000000000bb"

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// edits are what happens to live objects past Git: web with two replicas and the ConfigMap settings.
var edits = map[string]struct {
	edit func(w *world, namespace string)
	// finds are what is drift then: object, field, what Git says, what is there, class and owner.
	finds []string
	mend  func(w *world, namespace string) // nil: a sync mends it
}{
	"scale": {edit: func(w *world, n string) { w.patchScale(n, 3) },
		finds: []string{"Deployment.apps NS/web|spec.replicas|2|3|human|kubectl scale"}},
	"image": {edit: func(w *world, n string) {
		w.kubectl("kubectl-set", n, types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"`+earlier+`"}]}}}}`)
	}, finds: []string{"Deployment.apps NS/web|spec.template.spec.containers[web].image|" + image + "|" + earlier + "|human|kubectl set"}},
	"edit": {edit: func(w *world, n string) {
		w.kubectl("kubectl-edit", n, types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"DEBUG","value":"1"}]}]}}}}`)
	}, finds: []string{`Deployment.apps NS/web|spec.template.spec.containers[web].env||[{"name":"DEBUG","value":"1"}]|human|kubectl edit`},
		mend: func(w *world, n string) {
			w.kubectl("kubectl-edit", n, types.JSONPatchType, `[{"op":"remove","path":"/spec/template/spec/containers/0/env"}]`)
		}},
	"undo": {edit: func(w *world, n string) {
		// As kubectl does it: the template of an earlier ReplicaSet takes the place of the newest, and no manager is named.
		w.kubectl("", n, types.JSONPatchType, `[{"op":"replace","path":"/spec/template","value":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"`+earlier+`"}]}}}]`)
	}, finds: []string{"Deployment.apps NS/web|spec.template.spec.containers[web].image|" + image + "|" + earlier + "|human|kubectl rollout undo"}},
	"deleted": {edit: func(w *world, n string) { w.delete(configMaps, n, "settings") },
		finds: []string{"ConfigMap NS/settings||ConfigMap settings||deleted|nobody is named as its owner"}},
	"autoscaler": {edit: func(w *world, n string) {
		w.apply("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: " + n + "}\n" +
			"spec: {minReplicas: 4, maxReplicas: 6, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}\n")
	}, finds: []string{"Deployment.apps NS/web|spec.replicas|2|4|autoscaler|a HorizontalPodAutoscaler"},
		mend: func(w *world, n string) {
			w.delete(schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, n, "web")
			w.restores(n)
		}},
}

func TestDriftIsNamedAndRecovers(t *testing.T) {
	w := newWorld(t, nil)
	hook := w.mutates()
	for _, applied := range []string{"client", "server"} {
		for name, c := range edits {
			t.Run(name+"-"+applied, func(t *testing.T) {
				t.Parallel()
				w, n := w.within(t), name+"-"+applied
				git := w.runs(n, applied)
				c.edit(w, n)
				w.drifts(n, git, c.finds...)
				if c.mend == nil {
					w.restores(n)
				} else {
					c.mend(w, n)
				}
				w.drifts(n, git)
				w.becomes(n, "Synced", "Healthy")
			})
		}
		t.Run("sidecar-"+applied, func(t *testing.T) {
			t.Parallel()
			w, n := w.within(t), "sidecar-"+applied
			hook.in(w, n)
			git := w.runs(n, applied)
			if got := w.containersOf(n); !slices.Equal(got, []string{"web", "mesh"}) {
				t.Fatalf("the webhook was to add a sidecar, and there are %v", got)
			}
			w.drifts(n, git)
			w.patchScale(n, 3)
			w.drifts(n, git, "Deployment.apps NS/web|spec.replicas|2|3|human|kubectl scale")
			w.restores(n)
			w.drifts(n, git)
			w.becomes(n, "Synced", "Healthy")
		})
	}
}

func (w *world) within(t *testing.T) *world {
	return &world{T: t, kube: w.kube, kubelet: w.kubelet, cluster: w.cluster, pool: w.pool, git: w.git}
}

// runs deploys web and settings, applied client-side or server-side, and gives what Git says.
func (w *world) runs(namespace, applied string) (git string) {
	w.Helper()
	git = web("", settings)
	w.createNamespace(namespace)
	w.push(namespace, git)
	var options []string
	if applied == "server" {
		options = []string{"ServerSideApply=true"}
	}
	w.deploys(namespace, options...)
	w.becomes(namespace, "Synced", "Healthy")
	return git
}

// inspector is the product's, wired as the server does.
func (w *world) inspector() cluster.Inspector {
	w.Helper()
	kinds, err := discovery.NewDiscoveryClientForConfig(w.kube.Config)
	w.must(err)
	return cluster.Inspector{Name: clusterName, Client: w.kube.Client, Account: engineAccount, Kinds: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}
}

func keyOf(application string) promotion.DeploymentKey {
	return promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: application}
}

func (w *world) desired(namespace, manifests string) promotion.Desired {
	w.Helper()
	all, err := decode(manifests)
	w.must(err)
	want := promotion.Desired{Namespace: namespace}
	for _, o := range all {
		want.Objects = append(want.Objects, o.Object)
	}
	return want
}

// drifts waits until exactly this is drift. NS stands for the namespace.
func (w *world) drifts(namespace, git string, want ...string) {
	w.Helper()
	want = slices.Clone(want)
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "NS/", namespace+"/")
	}
	inspector := w.inspector()
	w.eventually(fmt.Sprintf("drift in %s is %q", namespace, want), func() (bool, string) {
		found, err := inspector.Differences(w.Context(), keyOf(namespace), w.desired(namespace, git))
		w.must(err)
		var got []string
		for _, d := range found.Differences {
			if d.Counts() {
				got = append(got, strings.Join([]string{d.Object, d.Path, d.Want, d.Have, string(d.Class), d.Owner}, "|"))
			}
		}
		return slices.Equal(got, want) && len(found.Unread)+len(found.Unchecked) == 0, fmt.Sprintf("%q; unread %q, unchecked %q", got, found.Unread, found.Unchecked)
	})
}

// restores has Sluice sync to what Git says.
func (w *world) restores(application string) {
	w.Helper()
	w.eventually("a sync is asked for", func() (bool, string) {
		head, _ := w.git.headNow(w.Context()) //nolint:errcheck // it never fails
		err := w.cluster.Sync(w.Context(), keyOf(application), promotion.SyncRequest{PromotionID: 1, Revision: head, InitiatedBy: "rita"})
		return err == nil, fmt.Sprint(err)
	})
}

// kubectl patches the Deployment web as kubectl does. Where a command gives no manager of its own, its program's name counts.
func (w *world) kubectl(manager, namespace string, kind types.PatchType, patch string, subresource ...string) {
	w.Helper()
	config := rest.CopyConfig(w.kube.Config)
	config.UserAgent = "kubectl/v1.36.3 (linux/amd64) kubernetes/0123456"
	client, err := dynamic.NewForConfig(config)
	w.must(err)
	_, err = client.Resource(cluster.Deployments).Namespace(namespace).Patch(w.Context(), "web", kind, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresource...)
	w.must(err)
}

func (w *world) patchScale(namespace string, replicas int) {
	w.Helper()
	w.kubectl("", namespace, types.MergePatchType, fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas), "scale")
}

func (w *world) containersOf(namespace string) (names []string) {
	w.Helper()
	d, err := w.kube.Client.Resource(cluster.Deployments).Namespace(namespace).Get(w.Context(), "web", metav1.GetOptions{})
	w.must(err)
	all, _, err := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
	w.must(err)
	for _, c := range all {
		names = append(names, fmt.Sprint(c.(map[string]any)["name"]))
	}
	return names
}
