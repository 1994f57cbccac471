// Package cluster watches Argo CD Applications and their workloads in one Kubernetes cluster, tells what
// it sees as Observations, and starts syncs. It acts only through the engine, never on workloads.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

// The resources that are watched.
var (
	Applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	Deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	StatefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	DaemonSets   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	ReplicaSets  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	Pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// workloads are the kinds that own pods, by kind.
var workloads = map[string]schema.GroupVersionResource{"Deployment": Deployments, "StatefulSet": StatefulSets, "DaemonSet": DaemonSets}

// Options say which cluster is watched and who is told.
type Options struct {
	Name      string
	Client    dynamic.Interface
	Simulated bool
	Now       func() time.Time
	// Observe is told of each Application's state whenever it differs from what
	// was told last, and once after a start. A failure is tried again.
	Observe func(context.Context, promotion.Observation) error
	Log     *slog.Logger
}

// Cluster is one watched cluster.
type Cluster struct {
	Options
	informers map[schema.GroupVersionResource]cache.SharedIndexInformer
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]

	mu   sync.Mutex
	told map[cache.ObjectName]promotion.Observation
}

var _ promotion.Cluster = (*Cluster)(nil)

// byOwner indexes objects by the uid of what owns them.
const byOwner = "owner"

// resync has everything looked at again, should an event have been lost.
const resync = time.Minute

// New prepares the watch; Run starts it.
func New(o Options) *Cluster {
	c := &Cluster{Options: o, told: map[cache.ObjectName]promotion.Observation{},
		informers: map[schema.GroupVersionResource]cache.SharedIndexInformer{},
		queue:     workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](100*time.Millisecond, 30*time.Second))}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(o.Client, resync)
	for _, gvr := range []schema.GroupVersionResource{Applications, Deployments, StatefulSets, DaemonSets, ReplicaSets, Pods} {
		c.informers[gvr] = factory.ForResource(gvr).Informer()
	}
	return c
}

// Run watches until ctx ends.
func (c *Cluster) Run(ctx context.Context) error {
	for gvr, informer := range c.informers {
		if err := informer.AddIndexers(cache.Indexers{byOwner: owners}); err != nil {
			return fmt.Errorf("watch %s in %s: %w", gvr.Resource, c.Name, err)
		}
		look := c.lookAtNamespace
		if gvr == Applications {
			look = c.lookAtApplication
		}
		handler := cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, now any) { look(now) }, DeleteFunc: look}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watch %s in %s: %w", gvr.Resource, c.Name, err)
		}
	}
	var running sync.WaitGroup
	for _, informer := range c.informers {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	for _, informer := range c.informers {
		cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	}
	stop := context.AfterFunc(ctx, c.queue.ShutDown)
	defer stop()
	for c.next(ctx) {
	}
	running.Wait()
	return nil
}

func owners(obj any) ([]string, error) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	var uids []string
	for _, r := range o.GetOwnerReferences() {
		uids = append(uids, string(r.UID))
	}
	return uids, nil
}

func (c *Cluster) lookAtApplication(obj any) {
	if o := objectOf(obj); o != nil {
		c.queue.Add(cache.NewObjectName(o.GetNamespace(), o.GetName()))
	}
}

// lookAtNamespace looks at the Applications that deploy to an object's namespace.
func (c *Cluster) lookAtNamespace(obj any) {
	o := objectOf(obj)
	if o == nil {
		return
	}
	for _, a := range c.informers[Applications].GetStore().List() {
		app, ok := a.(*unstructured.Unstructured)
		if ok && destination(app) == o.GetNamespace() {
			c.lookAtApplication(app)
		}
	}
}

func objectOf(obj any) *unstructured.Unstructured {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	o, _ := obj.(*unstructured.Unstructured)
	return o
}

func destination(app *unstructured.Unstructured) string {
	namespace, _, _ := unstructured.NestedString(app.Object, "spec", "destination", "namespace")
	return namespace
}

func (c *Cluster) next(ctx context.Context) bool {
	name, stopped := c.queue.Get()
	if stopped {
		return false
	}
	defer c.queue.Done(name)
	if err := c.tell(ctx, name); err != nil && ctx.Err() == nil {
		c.Log.Warn("what a cluster does could not be recorded and is tried again", "cluster", c.Name, "application", name.String(), "err", err)
		c.queue.AddRateLimited(name)
		return true
	}
	c.queue.Forget(name)
	return true
}

// tell observes one Application and passes it on if it differs from what was told last.
func (c *Cluster) tell(ctx context.Context, name cache.ObjectName) error {
	o, err := c.observe(name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	last, known := c.told[name]
	c.mu.Unlock()
	last.ObservedAt = o.ObservedAt
	if known && reflect.DeepEqual(last, o) {
		return nil
	}
	if err := c.Observe(ctx, o); err != nil {
		return err
	}
	c.mu.Lock()
	c.told[name] = o
	c.mu.Unlock()
	return nil
}

// observe concludes from the caches. An Application that is gone is Missing, and
// nothing of it is known any more.
func (c *Cluster) observe(name cache.ObjectName) (promotion.Observation, error) {
	key := promotion.DeploymentKey{Cluster: c.Name, Namespace: name.Namespace, Name: name.Name}
	obj, exists, err := c.informers[Applications].GetStore().GetByKey(name.String())
	if err != nil {
		return promotion.Observation{}, err
	}
	app, ok := obj.(*unstructured.Unstructured)
	if !exists || !ok {
		return promotion.Observation{Key: key, Simulated: c.Simulated, Sync: promotion.SyncUnknown, Health: promotion.Missing,
			Message: "The Argo CD Application is gone.", ObservedAt: c.Now()}, nil
	}
	o := health.Conclude(c.objectsOf(app))
	o.Key, o.Simulated, o.ObservedAt = key, c.Simulated, c.Now()
	return o, nil
}

// objectsOf finds an Application's workloads by what Argo CD lists as its resources, and their pods by ownership.
func (c *Cluster) objectsOf(app *unstructured.Unstructured) health.Objects {
	objects := health.Objects{Application: app}
	resources, _, _ := unstructured.NestedSlice(app.Object, "status", "resources")
	for _, r := range resources {
		m, _ := r.(map[string]any)
		kind, _, _ := unstructured.NestedString(m, "kind")
		name, _, _ := unstructured.NestedString(m, "name")
		namespace, _, _ := unstructured.NestedString(m, "namespace")
		informer, watched := c.informers[workloads[kind]]
		if !watched {
			continue
		}
		obj, exists, err := informer.GetStore().GetByKey(cache.NewObjectName(namespace, name).String())
		if w, ok := obj.(*unstructured.Unstructured); ok && exists && err == nil {
			objects.Workloads = append(objects.Workloads, w)
			objects.Pods = append(objects.Pods, c.podsOf(string(w.GetUID()))...)
		}
	}
	return objects
}

func (c *Cluster) podsOf(uid string) []*unstructured.Unstructured {
	pods := c.owned(Pods, uid)
	for _, rs := range c.owned(ReplicaSets, uid) {
		pods = append(pods, c.owned(Pods, string(rs.GetUID()))...)
	}
	return pods
}

func (c *Cluster) owned(gvr schema.GroupVersionResource, uid string) []*unstructured.Unstructured {
	found, err := c.informers[gvr].GetIndexer().ByIndex(byOwner, uid)
	if err != nil {
		return nil // only for an index that does not exist, and New made it
	}
	var all []*unstructured.Unstructured
	for _, obj := range found {
		if o, ok := obj.(*unstructured.Unstructured); ok {
			all = append(all, o)
		}
	}
	return sortedByName(all)
}

// Names lists the Applications that are there.
func (c *Cluster) Names() []string {
	var names []string
	_ = cache.ListAll(c.informers[Applications].GetStore(), labels.Everything(), func(obj any) {
		if o := objectOf(obj); o != nil {
			names = append(names, o.GetName())
		}
	})
	return names
}

// Sync implements promotion.Cluster.
func (c *Cluster) Sync(ctx context.Context, key promotion.DeploymentKey, r promotion.SyncRequest) error {
	apps := c.Client.Resource(Applications).Namespace(key.Namespace)
	app, err := apps.Get(ctx, key.Name, getOptions)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("application %s in %s: %w", key.Name, c.Name, promotion.ErrNotFound)
	} else if err != nil {
		return fmt.Errorf("read application %s in %s: %w", key.Name, c.Name, err)
	}
	started, err := startedAlready(app, r)
	if err != nil || started {
		return err
	}
	if err := setOperation(app, r); err != nil {
		return err
	}
	// The resource version read above guards the write: whoever else changed the Application comes first.
	if _, err := apps.Update(ctx, app, updateOptions); apierrors.IsConflict(err) {
		return errors.Join(promotion.ErrOperationRunning, err)
	} else if err != nil {
		return fmt.Errorf("start the sync of %s in %s: %w", key.Name, c.Name, err)
	}
	return nil
}
