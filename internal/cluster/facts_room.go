package cluster

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// amounts are what is counted: by the names that Kubernetes gives them.
type amounts struct{ cpu, memory, pods resource.Quantity }

// room tells whether one more pod fits the quotas and one of the nodes.
func (l *look) room(w promotion.Workload, nodes, limits []unstructured.Unstructured) rollback.State {
	wanted, err := requested(w.Requests)
	if err != nil {
		l.unread("what a pod of "+w.Name+" asks for", err)
		return rollback.Unread
	}
	if state := quotaRoom(wanted, limits); state != rollback.Yes {
		return state
	}
	if !l.informers[Pods].HasSynced() {
		l.unread("what runs on its nodes", errNotSeen)
		return rollback.Unread
	}
	for _, n := range nodes {
		free, err := l.free(n)
		if err != nil {
			l.unread("what is free on node "+n.GetName(), err)
			return rollback.Unread
		}
		if wanted.cpu.Cmp(free.cpu) <= 0 && wanted.memory.Cmp(free.memory) <= 0 && free.pods.Sign() > 0 {
			return rollback.Yes
		}
	}
	return rollback.No
}

func requested(containers []promotion.PodRequest) (amounts, error) {
	var sum amounts
	for _, c := range containers {
		if err := errors.Join(add(&sum.cpu, c.CPU), add(&sum.memory, c.Memory)); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func add(sum *resource.Quantity, text string) error {
	if text == "" {
		return nil
	}
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return fmt.Errorf("%q is no quantity", text)
	}
	sum.Add(q)
	return nil
}

// quotaRoom is unread where a quota limits what is not reckoned here.
func quotaRoom(wanted amounts, limits []unstructured.Unstructured) rollback.State {
	for _, q := range limits {
		hard, _, _ := unstructured.NestedStringMap(q.Object, "status", "hard")
		used, _, _ := unstructured.NestedStringMap(q.Object, "status", "used")
		for name, most := range hard {
			var more resource.Quantity
			switch name {
			case "pods":
				more = resource.MustParse("1")
			case "cpu", "requests.cpu":
				more = wanted.cpu.DeepCopy()
			case "memory", "requests.memory":
				more = wanted.memory.DeepCopy()
			case "limits.cpu", "limits.memory":
				return rollback.Unread
			default:
				continue // objects that a rollout makes none of
			}
			limit, limitErr := resource.ParseQuantity(most)
			now, nowErr := resource.ParseQuantity(used[name])
			if limitErr != nil || nowErr != nil {
				return rollback.Unread
			}
			if more.Add(now); more.Cmp(limit) > 0 {
				return rollback.No
			}
		}
	}
	return rollback.Yes
}

// free is what a node can still give, by what the pods on it have asked for.
func (l *look) free(node unstructured.Unstructured) (amounts, error) {
	var free amounts
	allocatable, _, err := unstructured.NestedStringMap(node.Object, "status", "allocatable")
	if err != nil {
		return free, err
	}
	for name, of := range map[string]*resource.Quantity{"cpu": &free.cpu, "memory": &free.memory, "pods": &free.pods} {
		if *of, err = resource.ParseQuantity(allocatable[name]); err != nil {
			return free, fmt.Errorf("it does not say how much %s it has", name)
		}
	}
	for _, obj := range l.informers[Pods].GetStore().List() {
		pod := objectOf(obj)
		if pod == nil || !onNode(pod, node.GetName()) {
			continue
		}
		taken, err := requested(requestsOf(pod))
		if err != nil {
			return free, err
		}
		free.cpu.Sub(taken.cpu)
		free.memory.Sub(taken.memory)
		free.pods.Sub(resource.MustParse("1"))
	}
	return free, nil
}

func onNode(pod *unstructured.Unstructured, node string) bool {
	on, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	return on == node && phase != "Succeeded" && phase != "Failed"
}

func requestsOf(pod *unstructured.Unstructured) []promotion.PodRequest {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	var all []promotion.PodRequest
	for _, c := range containers {
		m, _ := c.(map[string]any)
		value := func(name string) string {
			q, _, _ := unstructured.NestedFieldNoCopy(m, "resources", "requests", name)
			if q == nil {
				return ""
			}
			return fmt.Sprint(q)
		}
		all = append(all, promotion.PodRequest{CPU: value("cpu"), Memory: value("memory")})
	}
	return all
}
