package cluster

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sluicehq/sluice/internal/promotion"
)

// askBudgets says of workloads whose pods somebody has to take away how many of them may be evicted. Others are not asked about: what
// a rollout deletes no disruption budget holds up.
func (l *look) askBudgets(ctx context.Context, workloads []promotion.Workload) {
	workloads = slices.DeleteFunc(slices.Clone(workloads), func(w promotion.Workload) bool { return !w.ReplacedByHand() })
	if len(workloads) == 0 {
		return
	}
	listed, err := l.Client.Resource(budgets).Namespace(l.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		l.unread("the disruption budgets of namespace "+l.namespace, err)
		return
	}
	for _, w := range workloads {
		o, err := l.stored(w)
		if err != nil || o == nil {
			continue // said with the workload itself
		}
		e := evictable(o, listed.Items)
		l.mu.Lock()
		l.facts.Evictions[w.Kind+"/"+w.Name] = e
		l.mu.Unlock()
	}
}

// evictable is what the budgets for the pods of a workload allow now. Pods that more than one is for cannot be evicted at all; without
// any, nothing but their number limits how many can.
func evictable(workload *unstructured.Unstructured, all []unstructured.Unstructured) promotion.Evictions {
	template, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "template", "metadata", "labels")
	var names []string
	var e promotion.Evictions
	for _, b := range all {
		selects, err := isFor(b, template)
		if err != nil {
			return promotion.Evictions{}
		}
		if !selects {
			continue
		}
		names = append(names, b.GetName())
		allowed, said, _ := unstructured.NestedInt64(b.Object, "status", "disruptionsAllowed")
		seen, _, _ := unstructured.NestedInt64(b.Object, "status", "observedGeneration")
		if e.Allowed = nil; said && seen >= b.GetGeneration() { // otherwise its controller has not reckoned yet
			n := int(allowed)
			e.Allowed = &n
		}
	}
	switch len(names) {
	case 0:
		pods := 1
		if wanted := podsWanted(workload); wanted != nil {
			pods = *wanted
		}
		return promotion.Evictions{Allowed: &pods}
	case 1:
	default:
		none := 0
		e.Allowed = &none
	}
	slices.Sort(names)
	e.Budget = strings.Join(names, " and ")
	return e
}

// isFor tells whether a budget's selector matches labels of pods. One without a selector is for none.
func isFor(budget unstructured.Unstructured, pods map[string]string) (bool, error) {
	field, found, err := unstructured.NestedMap(budget.Object, "spec", "selector")
	if err != nil || !found {
		return false, err
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(field, &selector); err != nil {
		return false, err
	}
	matches, err := metav1.LabelSelectorAsSelector(&selector)
	return err == nil && matches.Matches(labels.Set(pods)), err
}
