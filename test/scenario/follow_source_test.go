package scenario_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	api "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"

	watched "github.com/sluicehq/sluice/internal/cluster"
)

// source lists and watches as an API server does: Applications, each with a Deployment, its ReplicaSet and a pod. What was changed is
// sent to whoever watches, in order; somebody slow has it wait and loses nothing.
type source struct {
	dynamic.Interface // for what nobody asks of it
	repositoryURL     string

	mu       sync.Mutex
	version  int64
	objects  map[api.GroupVersionResource]map[string]*unstructured.Unstructured
	watchers map[*sourceWatch]bool
	sent     map[int]time.Time // by number of the change
}

func newSource(repositoryURL string) *source {
	return &source{repositoryURL: repositoryURL, objects: map[api.GroupVersionResource]map[string]*unstructured.Unstructured{},
		watchers: map[*sourceWatch]bool{}, sent: map[int]time.Time{}}
}

// IsWatchListSemanticsUnSupported makes informers list and watch in two calls.
func (s *source) IsWatchListSemanticsUnSupported() bool { return true }

func (s *source) Resource(gvr api.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &sourceObjects{source: s, resource: gvr}
}

// put stores an object and sends it to whoever watches.
func (s *source) put(gvr api.GroupVersionResource, content map[string]any) {
	o := &unstructured.Unstructured{Object: content}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	o.SetResourceVersion(strconv.FormatInt(s.version, 10))
	if s.objects[gvr] == nil {
		s.objects[gvr] = map[string]*unstructured.Unstructured{}
	}
	key, kind := o.GetNamespace()+"/"+o.GetName(), watch.Added
	if s.objects[gvr][key] != nil {
		kind = watch.Modified
	}
	s.objects[gvr][key] = o
	for w := range s.watchers {
		if w.resource == gvr {
			w.send(watch.Event{Type: kind, Object: o.DeepCopy()})
		}
	}
}

type sourceObjects struct {
	dynamic.NamespaceableResourceInterface // for what nobody asks of it
	*source
	resource api.GroupVersionResource
}

func (r *sourceObjects) Namespace(string) dynamic.ResourceInterface { return r }

func (r *sourceObjects) List(_ context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": r.resource.GroupVersion().String(), "kind": "List"}}
	list.SetResourceVersion(strconv.FormatInt(r.version, 10))
	for _, held := range r.objects[r.resource] {
		if o.Limit == 1 && len(list.Items) == 1 {
			break // that of a question whether anybody is there
		}
		list.Items = append(list.Items, *held.DeepCopy())
	}
	return list, nil
}

func (r *sourceObjects) Watch(context.Context, metav1.ListOptions) (watch.Interface, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &sourceWatch{source: r.source, resource: r.resource, events: make(chan watch.Event, 100), stopped: make(chan struct{})}
	r.watchers[w] = true
	return w, nil
}

type sourceWatch struct {
	*source
	resource api.GroupVersionResource
	events   chan watch.Event
	stopped  chan struct{}
	once     sync.Once
}

func (w *sourceWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *sourceWatch) Stop() {
	w.once.Do(func() {
		close(w.stopped) // first: a send may hold the lock
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.watchers, w)
	})
}

func (w *sourceWatch) send(e watch.Event) {
	select {
	case w.events <- e:
	case <-w.stopped:
	}
}

// fill puts an Application there that runs. change gives it another state.
func (s *source) fill(name string) {
	labels := map[string]any{"app": name}
	meta := func(object string, owner map[string]any) map[string]any {
		m := map[string]any{"name": object, "namespace": name, "uid": object, "generation": int64(1), "labels": labels}
		if owner != nil {
			m["ownerReferences"] = []any{owner}
		}
		return m
	}
	image := "registry.example.com/" + name + "@sha256:aa"
	template := map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image}}}}
	s.put(watched.Deployments, map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(name, nil),
		"spec": map[string]any{"replicas": int64(1), "template": template},
		"status": map[string]any{"observedGeneration": int64(1), "replicas": int64(1), "updatedReplicas": int64(1), "readyReplicas": int64(1), "availableReplicas": int64(1),
			"conditions": []any{map[string]any{"type": "Available", "status": "True"}, map[string]any{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}}}})
	s.put(watched.ReplicaSets, map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet",
		"metadata": meta(name+"-1", map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": name}), "spec": map[string]any{"template": template}})
	s.put(watched.Pods, map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
		"metadata": meta(name+"-1-x", map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name + "-1", "uid": name + "-1"}),
		"status":   map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{"name": "main", "image": image, "imageID": image, "ready": true}}}})
	s.change(name, 0)
}

// change says of an Application what it has said never before.
func (s *source) change(name string, number int) {
	const commit = "0123456789012345678901234567890123456789"
	s.mu.Lock()
	s.sent[number] = time.Now()
	s.mu.Unlock()
	s.put(watched.Applications, map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
		"metadata": map[string]any{"name": name, "namespace": "argocd", "uid": "application-" + name},
		"spec": map[string]any{"project": "default", "destination": map[string]any{"namespace": name},
			"source": map[string]any{"repoURL": s.repositoryURL, "targetRevision": "main", "path": "apps/" + name + "/overlays/prod"}},
		"status": map[string]any{"sync": map[string]any{"status": "Synced", "revision": commit},
			"health":    map[string]any{"status": "Degraded", "message": fmt.Sprintf("change %d", number)},
			"resources": []any{map[string]any{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": name, "name": name, "status": "Synced"}}}})
}

// since is how long ago a change was made.
func (s *source) since(number int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.sent[number])
}
