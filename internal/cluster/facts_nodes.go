package cluster

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// askNodes finds the platforms that pods may land on, and what the cluster has of each workload.
func (l *look) askNodes(ctx context.Context, workloads []promotion.Workload) {
	nodes, err := l.Client.Resource(nodesResource).List(ctx, metav1.ListOptions{})
	if err == nil && len(nodes.Items) == 0 {
		err = errors.New("it has none")
	}
	if err != nil {
		l.unread("its nodes", err)
		nodes = &unstructured.UnstructuredList{}
	}
	limits, quotaErr := l.Client.Resource(quotas).Namespace(l.namespace).List(ctx, metav1.ListOptions{})
	if quotaErr != nil {
		l.unread("the quotas of namespace "+l.namespace, quotaErr)
	}
	var platforms []string
	for _, w := range workloads {
		fit := slices.DeleteFunc(slices.Clone(nodes.Items), func(n unstructured.Unstructured) bool { return !mayLand(w, n) })
		for _, n := range fit {
			platforms = append(platforms, platformOf(n))
		}
		live := l.live(ctx, w)
		live.Room = rollback.Unread
		if err == nil && quotaErr == nil {
			live.Room = l.room(w, fit, limits.Items)
		}
		l.mu.Lock()
		l.facts.Workloads[w.Kind+"/"+w.Name] = live
		l.mu.Unlock()
	}
	slices.Sort(platforms)
	if platforms = slices.Compact(platforms); len(platforms) > 0 && !slices.Contains(platforms, "") {
		l.mu.Lock()
		l.facts.Platforms = platforms
		l.mu.Unlock()
	}
}

// errNotSeen: what is not in a cache that was never filled may well be in the cluster.
var errNotSeen = errors.New("not all of its kind has been seen yet; may Sluice's service account list and watch them?")

// stored is a workload as it was last seen; nil when it is not there, or is of a kind that is not watched.
func (l *look) stored(w promotion.Workload) (*unstructured.Unstructured, error) {
	informer, watched := l.informers[workloadKinds[w.Kind]]
	switch {
	case !watched:
		return nil, nil
	case !informer.HasSynced():
		return nil, errNotSeen
	}
	obj, exists, err := informer.GetStore().GetByKey(cache.NewObjectName(l.namespace, w.Name).String())
	if err != nil || !exists {
		return nil, nil //nolint:nilerr // a store of objects has no other error than a name that it cannot have
	}
	o, _ := obj.(*unstructured.Unstructured)
	return o, nil
}

// live is what the cluster has of a workload.
func (l *look) live(ctx context.Context, w promotion.Workload) promotion.LiveWorkload {
	if w.Kind == "Rollout" {
		return l.rollout(ctx, w.Name)
	}
	o, err := l.stored(w)
	if err != nil {
		l.unread(w.Kind+" "+w.Name, err)
	}
	if _, watched := l.informers[workloadKinds[w.Kind]]; o == nil {
		return promotion.LiveWorkload{Present: err != nil || !watched} // and nothing is known of it
	}
	return describe(o)
}

// describe is what a workload's object says.
func describe(o *unstructured.Unstructured) promotion.LiveWorkload {
	live := promotion.LiveWorkload{Present: true, Replicas: podsWanted(o)}
	if more, _, _ := unstructured.NestedSlice(o.Object, "spec", "selector", "matchExpressions"); len(more) == 0 {
		live.Selector, _, _ = unstructured.NestedStringMap(o.Object, "spec", "selector", "matchLabels")
	}
	return live
}

// podsWanted is how many pods a workload is to have; nil when it does not say.
func podsWanted(o *unstructured.Unstructured) *int {
	field := []string{"spec", "replicas"}
	if o.GetKind() == "DaemonSet" {
		field = []string{"status", "desiredNumberScheduled"}
	}
	n, found, err := unstructured.NestedInt64(o.Object, field...)
	if !found || err != nil {
		return nil
	}
	pods := int(n)
	return &pods
}

// mayLand tells whether a workload's pods may run on a node that takes pods.
func mayLand(w promotion.Workload, node unstructured.Unstructured) bool {
	if cordoned, _, _ := unstructured.NestedBool(node.Object, "spec", "unschedulable"); cordoned {
		return false
	}
	taints, _, _ := unstructured.NestedSlice(node.Object, "spec", "taints")
	kept := slices.ContainsFunc(taints, func(t any) bool { m, _ := t.(map[string]any); return m["effect"] != "PreferNoSchedule" })
	return (w.Tolerates || !kept) && labels.SelectorFromSet(w.NodeSelector).Matches(labels.Set(node.GetLabels()))
}

// platformOf is a node's os/architecture, empty when it does not say.
func platformOf(node unstructured.Unstructured) string {
	info := func(name string) string {
		value, _, _ := unstructured.NestedString(node.Object, "status", "nodeInfo", name)
		return value
	}
	if info("operatingSystem") == "" || info("architecture") == "" {
		return ""
	}
	return info("operatingSystem") + "/" + info("architecture")
}
