package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// store keeps objects the way an API server does: every write has a resource version that rises over all kinds
// and guards updates, and every change can be watched from any recent version on, however slowly.
//
// client-go's fake client is not used: it checks no resource versions, keeps a copy of every call that was ever made,
// and panics when a watcher is a hundred events behind.
type store struct {
	now func() time.Time

	mu      sync.Mutex
	version int64
	objects map[objectKey]*unstructured.Unstructured
	changes []change      // the newest ones, oldest first
	changed chan struct{} // closed at the next change
}

type objectKey struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

type change struct {
	version int64
	key     objectKey
	event   watch.Event
}

// keptChanges is how many changes a watcher may be behind before it has to list again.
const keptChanges = 4096

func newStore(now func() time.Time) *store {
	return &store{now: now, objects: map[objectKey]*unstructured.Unstructured{}, changed: make(chan struct{})}
}

// load puts an object back as it was saved.
func (s *store) load(o *unstructured.Unstructured) error {
	version, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return fmt.Errorf("%s %s has no resource version", o.GetKind(), o.GetName())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = max(s.version, version)
	s.objects[keyOf(o)] = o
	return nil
}

// all lists copies of every object, in a stable order, and the version they were seen at.
func (s *store) all() ([]*unstructured.Unstructured, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*unstructured.Unstructured, 0, len(s.objects))
	for _, o := range s.objects {
		all = append(all, o.DeepCopy())
	}
	slices.SortFunc(all, byIdentity)
	return all, s.version
}

func (s *store) get(key objectKey) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, exists := s.objects[key]
	if !exists {
		return nil, apierrors.NewNotFound(key.resource.GroupResource(), key.name)
	}
	return o.DeepCopy(), nil
}

// list gives the objects of one resource, of all namespaces if it is empty, and the version they were seen at.
func (s *store) list(resource schema.GroupVersionResource, namespace string) ([]unstructured.Unstructured, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []unstructured.Unstructured
	for key, o := range s.objects {
		if key.resource == resource && (namespace == "" || namespace == key.namespace) {
			found = append(found, *o.DeepCopy())
		}
	}
	slices.SortFunc(found, func(a, b unstructured.Unstructured) int { return byIdentity(&a, &b) })
	return found, s.version
}

func (s *store) create(key objectKey, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o = o.DeepCopy()
	if key.name == "" && o.GetGenerateName() != "" {
		key.name = o.GetGenerateName() + rand.String(5)
		o.SetName(key.name)
	}
	if _, exists := s.objects[key]; exists {
		return nil, apierrors.NewAlreadyExists(key.resource.GroupResource(), key.name)
	}
	o.SetNamespace(key.namespace)
	o.SetUID(uuid.NewUUID())
	o.SetGeneration(1)
	o.SetCreationTimestamp(metav1.NewTime(s.now().UTC().Truncate(time.Second)))
	return s.put(key, o, watch.Added), nil
}

// update replaces an object whose resource version is the given one. What changes nothing is no change.
func (s *store) update(key objectKey, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live, exists := s.objects[key]
	if !exists {
		return nil, apierrors.NewNotFound(key.resource.GroupResource(), key.name)
	}
	if given := o.GetResourceVersion(); given != "" && given != live.GetResourceVersion() {
		return nil, apierrors.NewConflict(key.resource.GroupResource(), key.name,
			fmt.Errorf("the object is at resource version %s and the update was made from %s", live.GetResourceVersion(), given))
	}
	o = o.DeepCopy()
	o.SetUID(live.GetUID())
	o.SetCreationTimestamp(live.GetCreationTimestamp())
	o.SetResourceVersion(live.GetResourceVersion())
	o.SetGeneration(live.GetGeneration())
	if equality.Semantic.DeepEqual(o.Object, live.Object) {
		return o, nil
	}
	if err := keepsSelector(live, o); err != nil {
		return nil, err
	}
	// An Application has no status subresource, so that a new status counts as well.
	if o.GetKind() == "Application" || !equality.Semantic.DeepEqual(o.Object["spec"], live.Object["spec"]) {
		o.SetGeneration(live.GetGeneration() + 1)
	}
	return s.put(key, o, watch.Modified), nil
}

func (s *store) delete(key objectKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, exists := s.objects[key]
	if !exists {
		return apierrors.NewNotFound(key.resource.GroupResource(), key.name)
	}
	delete(s.objects, key)
	s.record(key, o, watch.Deleted)
	return nil
}

func (s *store) put(key objectKey, o *unstructured.Unstructured, event watch.EventType) *unstructured.Unstructured {
	s.record(key, o, event)
	s.objects[key] = o
	return o.DeepCopy()
}

// record gives the object the next version and tells watchers.
func (s *store) record(key objectKey, o *unstructured.Unstructured, event watch.EventType) {
	s.version++
	if event == watch.Deleted {
		o = o.DeepCopy()
	}
	o.SetResourceVersion(strconv.FormatInt(s.version, 10))
	if len(s.changes) >= 2*keptChanges {
		s.changes = slices.Clone(s.changes[keptChanges:])
	}
	s.changes = append(s.changes, change{s.version, key, watch.Event{Type: event, Object: o}})
	close(s.changed)
	s.changed = make(chan struct{})
}

// since lists the changes after a version, and a channel that closes at the next one. expired
// tells that older changes than these are no longer known.
func (s *store) since(version int64) (changes []change, next <-chan struct{}, expired bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if version >= s.version {
		return nil, s.changed, false
	}
	if len(s.changes) == 0 || s.changes[0].version > version+1 {
		return nil, s.changed, true
	}
	first, _ := slices.BinarySearchFunc(s.changes, version+1, func(c change, v int64) int { return int(c.version - v) })
	return slices.Clone(s.changes[first:]), s.changed, false
}

// keepsSelector refuses what an API server refuses most often: a workload's selector cannot change.
func keepsSelector(live, next *unstructured.Unstructured) error {
	old, had, _ := unstructured.NestedMap(live.Object, "spec", "selector", "matchLabels")
	selector, _, _ := unstructured.NestedMap(next.Object, "spec", "selector", "matchLabels")
	if !had || equality.Semantic.DeepEqual(old, selector) {
		return nil
	}
	kind := schema.GroupKind{Group: live.GroupVersionKind().Group, Kind: live.GetKind()}
	return apierrors.NewInvalid(kind, live.GetName(), field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), selector, "field is immutable")})
}
