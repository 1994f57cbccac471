package simulation

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
)

// client answers client-go's dynamic interface from a store. written is called after each write
// and before it is answered.
type client struct {
	store   *store
	written func() error
}

var _ dynamic.Interface = (*client)(nil)

// Resource implements dynamic.Interface.
func (c *client) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return &objects{client: c, resource: gvr}
}

// IsWatchListSemanticsUnSupported makes informers list and watch in two calls.
func (c *client) IsWatchListSemanticsUnSupported() bool { return true }

func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(kind)
	return plural
}

func keyOf(o *unstructured.Unstructured) objectKey {
	return objectKey{resourceOf(o.GroupVersionKind()), o.GetNamespace(), o.GetName()}
}

func byIdentity(a, b *unstructured.Unstructured) int {
	return cmp.Or(cmp.Compare(a.GetAPIVersion(), b.GetAPIVersion()), cmp.Compare(a.GetKind(), b.GetKind()),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// objects are those of one resource, in one namespace or in all.
type objects struct {
	*client
	resource  schema.GroupVersionResource
	namespace string
}

func (r *objects) key(name string) objectKey { return objectKey{r.resource, r.namespace, name} }

// Namespace implements dynamic.NamespaceableResourceInterface.
func (r *objects) Namespace(namespace string) dynamic.ResourceInterface {
	return &objects{r.client, r.resource, namespace}
}

// Create implements dynamic.ResourceInterface.
func (r *objects) Create(_ context.Context, o *unstructured.Unstructured, _ metav1.CreateOptions, _ ...string) (*unstructured.Unstructured, error) {
	created, err := r.store.create(r.key(o.GetName()), o)
	return created, cmp.Or(err, r.after(err))
}

// Update implements dynamic.ResourceInterface.
func (r *objects) Update(_ context.Context, o *unstructured.Unstructured, _ metav1.UpdateOptions, _ ...string) (*unstructured.Unstructured, error) {
	updated, err := r.store.update(r.key(o.GetName()), o)
	return updated, cmp.Or(err, r.after(err))
}

// Delete implements dynamic.ResourceInterface.
func (r *objects) Delete(_ context.Context, name string, _ metav1.DeleteOptions, _ ...string) error {
	err := r.store.delete(r.key(name))
	return cmp.Or(err, r.after(err))
}

func (r *objects) after(err error) error {
	if err != nil {
		return nil
	}
	return r.written()
}

// Get implements dynamic.ResourceInterface.
func (r *objects) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	return r.store.get(r.key(name))
}

// List implements dynamic.ResourceInterface.
func (r *objects) List(_ context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	selected, err := labels.Parse(o.LabelSelector)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	found, version := r.store.list(r.resource, r.namespace)
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": r.resource.GroupVersion().String(), "kind": "List"}}
	list.SetResourceVersion(strconv.FormatInt(version, 10))
	for _, o := range found {
		if selected.Matches(labels.Set(o.GetLabels())) {
			list.Items = append(list.Items, o)
		}
	}
	return list, nil
}

// Watch implements dynamic.ResourceInterface. Without a resource version it starts now; selectors are not supported.
func (r *objects) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	if o.LabelSelector != "" || o.FieldSelector != "" {
		return nil, r.unsupported("watch with a selector")
	}
	_, version := r.store.list(r.resource, r.namespace)
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		var err error
		if version, err = strconv.ParseInt(o.ResourceVersion, 10, 64); err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("resource version %q is not a number", o.ResourceVersion))
		}
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{events: make(chan watch.Event), stop: stop}
	go func() {
		defer close(w.events)
		r.follow(ctx, version, w.events)
	}()
	return w, nil
}

type watcher struct {
	events chan watch.Event
	stop   func()
}

func (w *watcher) Stop()                          { w.stop() }
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// follow sends the changes after a version until the watcher stops, or is so far behind that it has to list again.
func (r *objects) follow(ctx context.Context, version int64, events chan<- watch.Event) {
	for {
		changes, next, expired := r.store.since(version)
		if expired {
			gone := apierrors.NewResourceExpired("these changes are no longer known").Status()
			send(ctx, events, watch.Event{Type: watch.Error, Object: &gone})
			return
		}
		for _, c := range changes {
			version = c.version
			if c.key.resource != r.resource || r.namespace != "" && r.namespace != c.key.namespace {
				continue
			}
			if !send(ctx, events, watch.Event{Type: c.event.Type, Object: c.event.Object.DeepCopyObject()}) {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-next:
		}
	}
}

func send(ctx context.Context, events chan<- watch.Event, e watch.Event) bool {
	select {
	case <-ctx.Done():
		return false
	case events <- e:
		return true
	}
}

func (r *objects) unsupported(verb string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed,
		Reason: metav1.StatusReasonMethodNotAllowed, Message: "the simulated cluster does not support: " + verb}}
}

// UpdateStatus implements dynamic.ResourceInterface.
func (r *objects) UpdateStatus(context.Context, *unstructured.Unstructured, metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return nil, r.unsupported("update of the status alone")
}

// DeleteCollection implements dynamic.ResourceInterface.
func (r *objects) DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error {
	return r.unsupported("deletion of a collection")
}

// Patch implements dynamic.ResourceInterface.
func (r *objects) Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (*unstructured.Unstructured, error) {
	return nil, r.unsupported("patch")
}

// ApplyStatus implements dynamic.ResourceInterface.
func (r *objects) ApplyStatus(context.Context, string, *unstructured.Unstructured, metav1.ApplyOptions) (*unstructured.Unstructured, error) {
	return nil, r.unsupported("server-side apply")
}
