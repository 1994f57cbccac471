package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

// next works on one item of the queue; false when the queue is shut down.
func (c *Cluster) next(ctx context.Context) bool {
	name, stopped := c.queue.Get()
	if stopped {
		return false
	}
	defer c.queue.Done(name)
	if err := c.tell(ctx, name); err != nil && ctx.Err() == nil {
		if errors.Is(err, promotion.ErrOutdated) {
			c.queue.AddAfter(name, firstRetry)
			return true
		}
		c.Log.Warn("what a cluster does could not be recorded and is tried again", "cluster", c.Name, "application", name.String(), "err", err)
		c.queue.AddRateLimited(name)
		return true
	}
	c.queue.Forget(name)
	return true
}

// tell observes one Application and passes it on if it differs from what was told last.
func (c *Cluster) tell(ctx context.Context, name cache.ObjectName) error {
	if err := c.terminateHeld(ctx, name); err != nil {
		return err
	}
	o, err := c.observe(name)
	if err != nil {
		return err
	}
	c.mu.Lock()
	last, known := c.told[name]
	away := c.away
	c.mu.Unlock()
	if away != nil {
		if len(o.EngineObject) == 0 {
			return nil // whether it is really gone is seen when the cluster answers
		}
		o = c.unknown(o, *away)
		o.ObservedAt = later(o.ObservedAt, last.ObservedAt)
	}
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

// observe concludes from the caches.
func (c *Cluster) observe(name cache.ObjectName) (promotion.Observation, error) {
	obj, exists, err := c.informers[Applications].GetStore().GetByKey(name.String())
	if err != nil {
		return promotion.Observation{}, err
	}
	o := promotion.Observation{Sync: promotion.SyncUnknown, Health: promotion.Missing, Message: "The Argo CD Application is gone."}
	if app, ok := obj.(*unstructured.Unstructured); exists && ok {
		o = health.Conclude(c.objectsOf(app))
		if o.EngineObject, err = specOf(app); err != nil {
			return promotion.Observation{}, err
		}
	}
	o.Key = promotion.DeploymentKey{Cluster: c.Name, Namespace: name.Namespace, Name: name.Name}
	o.Simulated, o.ObservedAt = c.Simulated, c.Now()
	return o, nil
}

// specOf is the Application without what changes all the time.
func specOf(app *unstructured.Unstructured) ([]byte, error) {
	metadata := map[string]any{"name": app.GetName(), "namespace": app.GetNamespace()}
	if labels := app.GetLabels(); len(labels) > 0 {
		metadata["labels"] = labels
	}
	return json.Marshal(map[string]any{"apiVersion": app.GetAPIVersion(), "kind": app.GetKind(), "metadata": metadata, "spec": app.Object["spec"]})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
