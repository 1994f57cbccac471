// Package cluster watches Argo CD Applications and their workloads in one Kubernetes cluster, tells what
// it sees as Observations, and starts syncs. While a cluster does not answer, what it runs is told to be unknown. It acts only through the
// engine, never on workloads.
package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

// The resources that are watched, in all namespaces.
var (
	Applications = schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"}
	Deployments  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	StatefulSets = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	DaemonSets   = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}
	ReplicaSets  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}
	Pods         = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// Options say which cluster is watched and who is told.
type Options struct {
	Name      string
	Client    dynamic.Interface
	Simulated bool
	Now       func() time.Time
	// Observe is told of each Application's state whenever it differs from what
	// was told last, and once after a start. A failure is tried again.
	//
	// An Application that is gone is told of once more, with Health Missing and nothing else known.
	Observe func(context.Context, promotion.Observation) error
	// Record is what was told before, so that Applications that were deleted while nobody watched are told to be gone, and
	// nothing is believed that nobody sees. May be nil: then there is nothing before.
	Record Record
	Server string // what Record knows this server by; no two that run at once have the same
	// Served lists the kinds that the API server serves in an API version; none for a version that it does not serve. May
	// be nil: then what it serves is not known.
	Served func(ctx context.Context, apiVersion string) (kinds []string, err error)
	// Output reads what a container wrote before it ended, not masked yet. May be nil: then it is not known.
	Output func(context.Context, health.Crash) (string, error)
	Log    *slog.Logger
}

// Cluster is one watched cluster.
type Cluster struct {
	Options
	informers map[schema.GroupVersionResource]cache.SharedIndexInformer // nothing is told before they have seen all
	optional  map[schema.GroupVersionResource]*optional
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]

	questions workqueue.TypedInterface[logQuestion]

	doubt chan struct{} // has whether the caches are true looked at

	mu   sync.Mutex
	told map[cache.ObjectName]promotion.Observation
	away *absence // nil while the cluster answers
	logs map[health.Crash]health.Log
}

var _ promotion.Cluster = (*Cluster)(nil)

// Times of a cluster's watch.
const (
	sweepInterval = time.Minute            // between looks at every Application, should an event have been missed
	firstRetry    = 100 * time.Millisecond // after Observe has failed, doubled each time
	lastRetry     = 30 * time.Second
)

// New prepares the watch; Run starts it.
func New(o Options) *Cluster {
	retries := workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](firstRetry, lastRetry)
	c := &Cluster{Options: o, told: map[cache.ObjectName]promotion.Observation{}, doubt: make(chan struct{}, 1),
		informers: map[schema.GroupVersionResource]cache.SharedIndexInformer{}, optional: map[schema.GroupVersionResource]*optional{},
		queue: workqueue.NewTypedRateLimitingQueue(retries), questions: workqueue.NewTyped[logQuestion](), logs: map[health.Crash]health.Log{}}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(o.Client, 0)
	for _, gvr := range []schema.GroupVersionResource{Applications, Deployments, StatefulSets, DaemonSets, ReplicaSets, Pods} {
		c.informers[gvr] = factory.ForResource(gvr).Informer()
	}
	for gvr := range nearby {
		c.optional[gvr] = &optional{SharedIndexInformer: factory.ForResource(gvr).Informer()}
	}
	return c
}

// Run watches until ctx ends. What cannot be watched is logged and tried again; nothing is told before all of it is seen.
func (c *Cluster) Run(ctx context.Context) error {
	for gvr, informer := range c.informers {
		if err := c.prepare(gvr, informer); err != nil {
			return fmt.Errorf("watch %s in %s: %w", gvr.Resource, c.Name, err)
		}
	}
	for gvr, o := range c.optional {
		if err := c.prepareNear(gvr, o); err != nil {
			return fmt.Errorf("watch %s in %s: %w", gvr.Resource, c.Name, err)
		}
	}
	var running sync.WaitGroup
	for _, o := range c.optional {
		running.Go(func() { o.RunWithContext(ctx) })
	}
	for _, informer := range c.informers {
		running.Go(func() { informer.RunWithContext(ctx) })
	}
	stop := context.AfterFunc(ctx, func() {
		c.queue.ShutDown()
		c.questions.ShutDown()
	})
	defer stop()
	running.Go(func() { c.readLogs(ctx) })
	c.begin(ctx)
	running.Go(func() { c.sweepRegularly(ctx) })
	running.Go(func() { c.watchOver(ctx) })
	for c.next(ctx) {
	}
	running.Wait()
	return nil
}

func (c *Cluster) prepare(gvr schema.GroupVersionResource, informer cache.SharedIndexInformer) error {
	index, look := cache.Indexers{byOwner: owners}, c.lookAtNamespace
	if gvr == Applications {
		index, look = cache.Indexers{byNamespace: deploysTo, byResource: consistsOf}, c.lookAtApplication
	}
	if err := informer.AddIndexers(index); err != nil {
		return err
	}
	if err := informer.SetTransform(withoutManagers); err != nil {
		return err
	}
	failed := func(_ context.Context, _ *cache.Reflector, err error) {
		c.Log.Warn("a cluster cannot be watched; is Argo CD installed, and may Sluice list and watch this?",
			"cluster", c.Name, "resource", gvr.GroupResource().String(), "err", err)
		select {
		case c.doubt <- struct{}{}:
		default: // it is looked at already
		}
	}
	if err := informer.SetWatchErrorHandlerWithContext(failed); err != nil {
		return err
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: look, UpdateFunc: func(_, now any) { look(now) }, DeleteFunc: look})
	return err
}

// withoutManagers drops what takes half of an object's memory and is not asked for.
func withoutManagers(obj any) (any, error) {
	if o, ok := obj.(*unstructured.Unstructured); ok {
		o.SetManagedFields(nil)
	}
	return obj, nil
}

func (c *Cluster) lookAtApplication(obj any) {
	if o := objectOf(obj); o != nil {
		c.queue.Add(cache.MetaObjectToName(o))
	}
}

// lookAtNamespace looks at the Applications that deploy to an object's namespace.
func (c *Cluster) lookAtNamespace(obj any) {
	o := objectOf(obj)
	if o == nil {
		return
	}
	apps, err := c.informers[Applications].GetIndexer().ByIndex(byNamespace, o.GetNamespace())
	if err != nil {
		return // only for an index that does not exist, and prepare made it
	}
	for _, app := range apps {
		c.lookAtApplication(app)
	}
}

func objectOf(obj any) *unstructured.Unstructured {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	o, _ := obj.(*unstructured.Unstructured)
	return o
}

func (c *Cluster) sweepRegularly(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		if err := c.sweep(ctx); err != nil {
			c.warnUnless(ctx, "Applications that are gone were not looked for and will be", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sweep has every Application looked at, those known to have been there included.
func (c *Cluster) sweep(ctx context.Context) error {
	for _, obj := range c.informers[Applications].GetStore().List() {
		c.lookAtApplication(obj)
	}
	if c.Record == nil {
		return nil
	}
	known, err := c.known(ctx)
	for _, o := range known {
		c.queue.Add(cache.NewObjectName(o.Key.Namespace, o.Key.Name))
	}
	return err
}

// Look tells everything anew, whether it differs from what was told before or not.
func (c *Cluster) Look(ctx context.Context) error {
	c.mu.Lock()
	clear(c.told)
	c.mu.Unlock()
	return c.sweep(ctx)
}

// Applications lists what is there, as last seen, by namespace and name.
func (c *Cluster) Applications() []promotion.DeploymentKey {
	var keys []promotion.DeploymentKey
	for _, obj := range c.informers[Applications].GetStore().List() {
		if o := objectOf(obj); o != nil {
			keys = append(keys, promotion.DeploymentKey{Cluster: c.Name, Namespace: o.GetNamespace(), Name: o.GetName()})
		}
	}
	slices.SortFunc(keys, func(a, b promotion.DeploymentKey) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return keys
}
