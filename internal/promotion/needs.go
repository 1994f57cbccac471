package promotion

import (
	"fmt"
	"slices"
	"strings"
)

// Needs is what a rendered target asks of the cluster that runs it.
type Needs struct {
	APIs            []string            // apiVersion/Kind of each kind of object
	Refs            []ObjectRef         // what its pods refer to
	Provides        map[string][]string // the ConfigMaps and Secrets that it renders: Kind/name, without a generated suffix, to keys
	Workloads       []Workload
	Services        []Selection
	ExternalSecrets []string
	SealedSecrets   []string
}

// ObjectRef is an object, or one key of a ConfigMap or Secret, that pods refer to.
type ObjectRef struct {
	Kind, Name, Key string // Key is empty for the whole object
	Optional        bool
}

func (r ObjectRef) object() string { return r.Kind + "/" + r.Name }

// Workload is something that owns pods.
type Workload struct {
	Kind, Name     string
	Strategy       string // RollingUpdate, Recreate, OnDelete, BlueGreen or Canary
	Replicas       *int   // nil when it does not say: something else scales it
	MaxUnavailable string // pods, or per cent; empty for Kubernetes' own
	MaxSurge       string
	Selector       map[string]string // nil when it is more than equal labels
	Labels         map[string]string // of its pods
	Probed         bool              // every long-running container of a pod says when it is ready
	Images         []string          // of the containers, in their order
	Template       string            // hash of what its pods are made from
	Requests       []PodRequest      // of one pod, a container each
	NodeSelector   map[string]string // that its pods ask of nodes
	Tolerates      bool              // its pods may land on tainted nodes
}

// PodRequest is what one container of a pod asks for, in Kubernetes' notation; empty for nothing.
type PodRequest struct {
	CPU, Memory string
}

func (w Workload) key() string { return w.Kind + "/" + w.Name }

// ReplacedByHand tells whether its pods stay as they are until somebody takes them away, by deleting or by evicting them.
func (w Workload) ReplacedByHand() bool { return w.Strategy == "OnDelete" }

// Selection is a Service and the labels of the pods that it leads to.
type Selection struct {
	Name     string
	Selector map[string]string
}

func (s Selection) leadsTo(w Workload) bool {
	for key, value := range s.Selector {
		if w.Labels[key] != value {
			return false
		}
	}
	return true
}

// room names what the pods ask of the nodes: needs of the same room can be asked about together. Empty for needs that are not known.
func (n *Needs) room() string {
	if n == nil {
		return ""
	}
	room := "the room of"
	for _, w := range n.Workloads {
		room += fmt.Sprintf("\n%s %+v %v %v", w.key(), w.Requests, w.NodeSelector, w.Tolerates)
	}
	return room
}

// mergedNeeds is one question for the cluster instead of many.
func mergedNeeds(all []Needs) Needs {
	var one Needs
	for _, n := range all {
		one.APIs = append(one.APIs, n.APIs...)
		one.Refs = append(one.Refs, n.Refs...)
		one.ExternalSecrets = append(one.ExternalSecrets, n.ExternalSecrets...)
		one.SealedSecrets = append(one.SealedSecrets, n.SealedSecrets...)
		for _, w := range n.Workloads {
			if !slices.ContainsFunc(one.Workloads, func(o Workload) bool { return o.key() == w.key() }) {
				one.Workloads = append(one.Workloads, w)
			}
		}
	}
	one.APIs, one.ExternalSecrets, one.SealedSecrets = distinct(one.APIs), distinct(one.ExternalSecrets), distinct(one.SealedSecrets)
	slices.SortFunc(one.Refs, compareRefs)
	one.Refs = slices.Compact(one.Refs)
	return one
}

func compareRefs(a, b ObjectRef) int {
	if c := strings.Compare(a.object(), b.object()); c != 0 {
		return c
	}
	if c := strings.Compare(a.Key, b.Key); c != 0 || a.Optional == b.Optional {
		return c
	}
	if a.Optional {
		return 1
	}
	return -1
}

// distinct sorts a list in its place and keeps each once.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}
