package cluster

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/health"
)

// Indexes of the caches: objects by the uid of what owns them, Applications by the namespaces they deploy to.
const (
	byOwner     = "owner"
	byNamespace = "deploys-to"
)

func owners(obj any) ([]string, error) {
	o := objectOf(obj)
	if o == nil {
		return nil, nil
	}
	var uids []string
	for _, r := range o.GetOwnerReferences() {
		uids = append(uids, string(r.UID))
	}
	return uids, nil
}

func deploysTo(obj any) ([]string, error) {
	app := objectOf(obj)
	if app == nil {
		return nil, nil
	}
	destination, _, _ := unstructured.NestedString(app.Object, "spec", "destination", "namespace")
	namespaces := []string{destination}
	for _, r := range resourcesOf(app) {
		namespaces = append(namespaces, r.namespace)
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces), nil
}

type deployed struct {
	group, version, kind, namespace, name string
	hook                                  bool
}

// resourcesOf is what Argo CD lists as deployed by an Application.
func resourcesOf(app *unstructured.Unstructured) []deployed {
	listed, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
	var all []deployed
	for _, r := range listed {
		m, _ := r.(map[string]any)
		field := func(name string) string { s, _ := m[name].(string); return s }
		all = append(all, deployed{field("group"), field("version"), field("kind"), field("namespace"), field("name"), m["hook"] == true})
	}
	return all
}

// workloadKinds are the kinds that own pods.
var workloadKinds = map[string]schema.GroupVersionResource{"Deployment": Deployments, "StatefulSet": StatefulSets, "DaemonSet": DaemonSets}

// objectsOf finds an Application's workloads by what Argo CD lists as its resources, and their pods by ownership.
func (c *Cluster) objectsOf(app *unstructured.Unstructured) health.Objects {
	objects := health.Objects{Application: app, Jobs: c.jobsOf(app), Near: c.near(app)}
	for _, r := range resourcesOf(app) {
		informer, watched := c.informers[workloadKinds[r.kind]]
		if !watched || r.group != "apps" {
			continue
		}
		obj, exists, err := informer.GetStore().GetByKey(cache.NewObjectName(r.namespace, r.name).String())
		if w, ok := obj.(*unstructured.Unstructured); ok && exists && err == nil {
			objects.Workloads = append(objects.Workloads, w)
			objects.Pods = append(objects.Pods, c.podsOf(string(w.GetUID()))...)
		}
	}
	objects.Logs = c.logsOf(app, objects.Pods)
	return objects
}

func (c *Cluster) podsOf(uid string) []*unstructured.Unstructured {
	pods := c.owned(Pods, uid)
	for _, set := range c.owned(ReplicaSets, uid) {
		pods = append(pods, c.owned(Pods, string(set.GetUID()))...)
	}
	return pods
}

// owned lists what an object owns, by name, so that the same state always gives the same Observation.
func (c *Cluster) owned(gvr schema.GroupVersionResource, uid string) []*unstructured.Unstructured {
	found, err := c.informers[gvr].GetIndexer().ByIndex(byOwner, uid)
	if err != nil {
		return nil // only for an index that does not exist, and prepare made it
	}
	return byName(found)
}

func byName(found []any) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, 0, len(found))
	for _, obj := range found {
		if o, ok := obj.(*unstructured.Unstructured); ok {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all
}
