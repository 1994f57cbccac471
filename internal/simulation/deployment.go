package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// rollout is one Deployment's pods at one step.
type rollout struct {
	deployment             *unstructured.Unstructured
	set                    *unstructured.Unstructured // of the newest template
	hash                   string
	fresh, old             []*unstructured.Unstructured
	replicas               int
	maxSurge, minAvailable int
	recreate               bool
}

// stepDeployment does one move of a rolling update, within maxSurge and maxUnavailable, and notes how far it is.
func (s *Simulation) stepDeployment(ctx context.Context, d *unstructured.Unstructured, f family) error {
	r, err := s.rolloutOf(ctx, d, f)
	if err != nil {
		return err
	}
	if err := s.scaleDown(ctx, r); err != nil {
		return err
	}
	if err := s.scaleUp(ctx, r); err != nil {
		return err
	}
	if err := s.forgetSets(ctx, r, f); err != nil {
		return err
	}
	s.deploymentStatus(r)
	_, err = s.update(ctx, d)
	return err
}

func (s *Simulation) rolloutOf(ctx context.Context, d *unstructured.Unstructured, f family) (*rollout, error) {
	hash, err := templateHash(d)
	if err != nil {
		return nil, err
	}
	r := &rollout{deployment: d, hash: hash, replicas: replicasOf(d)}
	for _, set := range f.sets[d.GetUID()] {
		if set.GetName() == d.GetName()+"-"+hash {
			r.set = set
			r.fresh = f.pods[set.GetUID()]
		} else {
			r.old = append(r.old, f.pods[set.GetUID()]...)
		}
	}
	kind, _, _ := unstructured.NestedString(d.Object, "spec", "strategy", "type")
	r.recreate = kind == "Recreate"
	if r.maxSurge, r.minAvailable, err = bounds(d, r.replicas); err != nil {
		return nil, err
	}
	if r.set == nil {
		r.set, err = s.createSet(ctx, d, hash, f)
	}
	return r, err
}

// bounds are how many pods there may be too many, and must be available, by Kubernetes' defaults of a quarter.
func bounds(d *unstructured.Unstructured, replicas int) (maxSurge, minAvailable int, err error) {
	scaled := func(field string, up bool) (int, error) {
		value := intstr.FromString("25%")
		raw, found, _ := unstructured.NestedFieldNoCopy(d.Object, "spec", "strategy", "rollingUpdate", field)
		if found {
			value = intstr.Parse(fmt.Sprint(raw))
		}
		n, err := intstr.GetScaledValueFromIntOrPercent(&value, replicas, up)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", field, err)
		}
		return n, nil
	}
	if maxSurge, err = scaled("maxSurge", true); err != nil {
		return 0, 0, err
	}
	unavailable, err := scaled("maxUnavailable", false)
	if err != nil {
		return 0, 0, err
	}
	if maxSurge == 0 && unavailable == 0 {
		unavailable = 1
	}
	return maxSurge, replicas - unavailable, nil
}

// revisionOfSet orders a Deployment's ReplicaSets by age of use.
const revisionOfSet = "deployment.kubernetes.io/revision"

func (s *Simulation) createSet(ctx context.Context, d *unstructured.Unstructured, hash string, f family) (*unstructured.Unstructured, error) {
	newest := 0
	for _, set := range f.sets[d.GetUID()] {
		newest = max(newest, number(set))
	}
	template, _, _ := unstructured.NestedMap(d.Object, "spec", "template")
	set := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"spec": map[string]any{"template": template, "replicas": int64(0)}}}
	set.SetName(d.GetName() + "-" + hash)
	set.SetNamespace(d.GetNamespace())
	set.SetLabels(labelled(nil, hash))
	set.SetOwnerReferences(controlledBy(d))
	annotate(set, revisionOfSet, strconv.Itoa(newest+1))
	return s.create(ctx, set)
}

func number(set *unstructured.Unstructured) int {
	n, _ := strconv.Atoi(set.GetAnnotations()[revisionOfSet])
	return n
}

// scaleDown lets go of old pods: first those that do not work, then as many as availability permits.
func (s *Simulation) scaleDown(ctx context.Context, r *rollout) error {
	broken := len(r.fresh) - count(r.fresh, isReady)
	room := len(r.fresh) + len(r.old) - r.minAvailable - broken
	if r.recreate {
		room = len(r.old)
	}
	slices.SortStableFunc(r.old, func(a, b *unstructured.Unstructured) int { return compareBool(isReady(a), isReady(b)) })
	spare := count(r.fresh, isReady) + count(r.old, isReady) - r.minAvailable
	for len(r.old) > 0 && room > 0 {
		if isReady(r.old[0]) && !r.recreate {
			if spare <= 0 {
				break
			}
			spare--
		}
		if err := s.remove(ctx, r.old[0]); err != nil {
			return err
		}
		r.old, room = r.old[1:], room-1
	}
	slices.SortStableFunc(r.fresh, func(a, b *unstructured.Unstructured) int { return compareBool(isReady(b), isReady(a)) })
	for len(r.fresh) > r.replicas {
		last := len(r.fresh) - 1
		if err := s.remove(ctx, r.fresh[last]); err != nil {
			return err
		}
		r.fresh = r.fresh[:last]
	}
	return nil
}

func (s *Simulation) scaleUp(ctx context.Context, r *rollout) error {
	room := r.replicas + r.maxSurge - len(r.fresh) - len(r.old)
	if r.recreate && len(r.old) > 0 {
		room = 0
	}
	for range min(room, r.replicas-len(r.fresh)) {
		pod, err := s.create(ctx, newPod(r.deployment, r.set, r.hash))
		if err != nil {
			return err
		}
		r.fresh = append(r.fresh, pod)
	}
	return nil
}

// keptSets is how many ReplicaSets without pods are kept to go back to, Kubernetes' default.
const keptSets = 10

// forgetSets notes each ReplicaSet's size and deletes the oldest ones that have no pods.
func (s *Simulation) forgetSets(ctx context.Context, r *rollout, f family) error {
	all := f.sets[r.deployment.GetUID()]
	if !slices.Contains(all, r.set) {
		all = append(slices.Clone(all), r.set)
	}
	var empty []*unstructured.Unstructured
	for _, set := range all {
		members := r.fresh
		if set != r.set {
			members = slices.DeleteFunc(slices.Clone(r.old), func(p *unstructured.Unstructured) bool { return controllerOf(p) != set.GetUID() })
		}
		if set != r.set && len(members) == 0 {
			empty = append(empty, set)
		}
		size := int64(len(members))
		below(set.Object, "spec")["replicas"] = size
		set.Object["status"] = map[string]any{"replicas": size, "readyReplicas": int64(count(members, isReady)), "observedGeneration": set.GetGeneration()}
		if _, err := s.update(ctx, set); err != nil {
			return err
		}
	}
	slices.SortFunc(empty, func(a, b *unstructured.Unstructured) int { return cmp.Compare(number(a), number(b)) })
	for len(empty) > keptSets {
		if err := s.remove(ctx, empty[0]); err != nil {
			return err
		}
		empty = empty[1:]
	}
	return nil
}

func count(all []*unstructured.Unstructured, is func(*unstructured.Unstructured) bool) int {
	n := 0
	for _, o := range all {
		if is(o) {
			n++
		}
	}
	return n
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
