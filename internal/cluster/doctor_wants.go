package cluster

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// want is a right that something Sluice does needs.
type want struct {
	access
	in      []string // the namespaces in which it is used; empty: everywhere
	purpose string
	needed  bool
	next    string
}

// What Sluice needs rights for.
const (
	watches   = "follow what runs"
	syncs     = "start syncs, pause automatic sync"
	compares  = "find drift"
	diagnoses = "say why what is synced does not work"
	readsLogs = "show the last lines of what crashes"
	goesBack  = "rollback verdicts"
	dryRuns   = "dry runs"
	folder    = "deploy/kubernetes/"
	otherKind = ", or for a kind that it does not name a ClusterRole of your own with the label "
)

// wants lists every right that Sluice uses in a cluster that serves these API groups and deploys these kinds.
func wants(served map[string][]string, deployed map[schema.GroupResource][]string, applications []string) []want {
	var all []want
	for _, gvr := range []schema.GroupVersionResource{Applications, Deployments, StatefulSets, DaemonSets, ReplicaSets, Pods} {
		for _, verb := range []string{"list", "watch"} {
			all = append(all, wish(verb, gvr.GroupResource(), watches, "Apply "+folder+"watch.yaml.").mandatory())
		}
	}
	all = append(all, wish("get", Applications.GroupResource(), watches, "Apply "+folder+"watch.yaml.").mandatory())
	all = append(all, wish("list", AppProjects.GroupResource(), watches, "Apply "+folder+"watch.yaml: without it nobody knows whether a window of Argo CD's would hold a sync.").mandatory())
	sync := wish("update", Applications.GroupResource(), syncs, "Apply "+folder+"sync.yaml, in each namespace with Applications.")
	if sync.in = applications; len(applications) == 0 {
		sync.in = []string{"argocd"}
	}
	all = append(append(all, sync), forRollback(served)...)
	for _, gvr := range []schema.GroupVersionResource{services, configMaps, secrets, ingresses, jobs} {
		for _, verb := range []string{"list", "watch"} {
			all = append(all, wish(verb, gvr.GroupResource(), diagnoses, "Apply "+folder+"diagnose.yaml."))
		}
	}
	all = append(all, wish("get", schema.GroupResource{Resource: "pods/log"}, readsLogs, "Apply "+folder+"logs.yaml, or leave it: then a crash is said with its exit code alone."))
	kinds := make([]schema.GroupResource, 0, len(deployed))
	for kind := range deployed {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b schema.GroupResource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	for _, kind := range kinds {
		all = append(all, wish("get", kind, compares, "Apply "+folder+"compare.yaml"+otherKind+`sluice/compare: "true".`).within(deployed[kind]))
	}
	for _, kind := range kinds {
		for _, verb := range []string{"create", "patch"} {
			all = append(all, wish(verb, kind, dryRuns, "Apply "+folder+"dry-run.yaml"+otherKind+`sluice/dry-run: "true".`).within(deployed[kind]))
		}
	}
	return append(all, wish("create", accountReviews.GroupResource(), dryRuns, "Apply "+folder+"dry-run.yaml: without it nobody knows what Argo CD's account may do."))
}

// forRollback are the rights of rollback verdicts; those to kinds that the cluster does not serve are not missed.
func forRollback(served map[string][]string) []want {
	next := "Apply " + folder + "compare.yaml, or what a way back needs stays unknown."
	all := []want{wish("list", nodesResource.GroupResource(), goesBack, next), wish("list", quotas.GroupResource(), goesBack, next),
		wish("list", budgets.GroupResource(), goesBack, next)}
	for _, kind := range []string{"ConfigMap", "PersistentVolumeClaim", "Secret", "ServiceAccount"} {
		all = append(all, wish("get", referred[kind].GroupResource(), goesBack, next))
	}
	for _, gvr := range []schema.GroupVersionResource{externalSecrets, sealedSecrets} {
		if len(served[gvr.Group]) > 0 {
			all = append(all, wish("get", gvr.GroupResource(), goesBack, next))
		}
	}
	return all
}

func wish(verb string, kind schema.GroupResource, purpose, next string) want {
	return want{access: access{verb: verb, group: kind.Group, resource: kind.Resource}, purpose: purpose, next: next}
}

func (w want) mandatory() want {
	w.needed = true
	return w
}

func (w want) within(namespaces []string) want {
	w.in = namespaces
	return w
}
