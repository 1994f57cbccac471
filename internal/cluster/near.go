package cluster

import (
	"context"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/health"
)

// What is watched beside workloads, to say why something that is synced does not work. Where Sluice may not, nothing is said of it.
var (
	services   = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	ingresses  = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets    = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	jobs       = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// nearby are their kinds.
var nearby = map[schema.GroupVersionResource]string{services: "Service", ingresses: "Ingress", configMaps: "ConfigMap", secrets: "Secret", jobs: "Job"}

// optional is the watch of something that Sluice can do without.
type optional struct {
	cache.SharedIndexInformer
	failed atomic.Bool // once, at least
}

// settled tells whether it is known what there is, or that it may not be known.
func (o *optional) settled() bool { return o.HasSynced() || o.failed.Load() }

func (c *Cluster) prepareNear(gvr schema.GroupVersionResource, o *optional) error {
	transform := withoutManagers
	if gvr == configMaps || gvr == secrets {
		transform = withoutValues
	}
	if err := o.SetTransform(transform); err != nil {
		return err
	}
	failed := func(_ context.Context, _ *cache.Reflector, err error) {
		if !o.failed.Swap(true) {
			c.Log.Info("a cluster does not let Sluice watch this, so it is not looked at for why something does not work",
				"cluster", c.Name, "resource", gvr.GroupResource().String(), "err", err)
		}
	}
	if err := o.SetWatchErrorHandlerWithContext(failed); err != nil {
		return err
	}
	_, err := o.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.lookAtNamespace,
		UpdateFunc: func(_, now any) { c.lookAtNamespace(now) }, DeleteFunc: c.lookAtNamespace})
	return err
}

// withoutValues keeps the names of keys and who wrote them when. Annotations may hold what was applied, values included.
func withoutValues(obj any) (any, error) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	o.SetAnnotations(nil)
	for _, field := range []string{"data", "binaryData", "stringData"} {
		held, _ := o.Object[field].(map[string]any)
		for key := range held {
			held[key] = ""
		}
	}
	return o, nil
}

// near finds what lies around an Application's objects. What is not seen yet, or may not be, is left out.
func (c *Cluster) near(app *unstructured.Unstructured) health.Near {
	found := health.Near{Read: map[string]bool{}}
	for gvr, informer := range c.optional {
		found.Read[nearby[gvr]] = informer.HasSynced()
	}
	namespaces, _ := deploysTo(app) //nolint:errcheck // it never fails
	for _, namespace := range namespaces {
		found.Pods = append(found.Pods, within(c.informers[Pods], namespace)...)
		found.Services = append(found.Services, within(c.optional[services], namespace)...)
		found.Ingresses = append(found.Ingresses, within(c.optional[ingresses], namespace)...)
		found.ConfigMaps = append(found.ConfigMaps, within(c.optional[configMaps], namespace)...)
		found.Secrets = append(found.Secrets, within(c.optional[secrets], namespace)...)
	}
	return found
}

// jobsOf are the Jobs that an Application lists, or has run as hooks.
func (c *Cluster) jobsOf(app *unstructured.Unstructured) []*unstructured.Unstructured {
	results, _, _ := unstructured.NestedSlice(app.Object, "status", "operationState", "syncResult", "resources") //nolint:errcheck // a list, or not there
	named := resourcesOf(app)
	for _, r := range results {
		m, _ := r.(map[string]any)
		if m["kind"] == "Job" {
			namespace, _ := m["namespace"].(string)
			name, _ := m["name"].(string)
			named = append(named, deployed{group: "batch", kind: "Job", namespace: namespace, name: name})
		}
	}
	var all []*unstructured.Unstructured
	for _, r := range named {
		if r.kind != "Job" || r.group != "batch" {
			continue
		}
		obj, there, err := c.optional[jobs].GetStore().GetByKey(cache.NewObjectName(r.namespace, r.name).String())
		if job, ok := obj.(*unstructured.Unstructured); ok && there && err == nil && !slices.Contains(all, job) {
			all = append(all, job)
		}
	}
	return all
}

// within lists what an informer has of a namespace, by name.
func within(informer cache.SharedIndexInformer, namespace string) []*unstructured.Unstructured {
	found, err := informer.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return nil // only for an index that does not exist
	}
	return byName(found)
}
