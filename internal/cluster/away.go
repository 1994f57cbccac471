package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Times of asking whether a cluster is still there. A watch alone does not tell: it is as silent when nothing happens as when its
// connection is dead, and it goes on with a token that has expired.
const (
	askInterval = 5 * time.Second
	askTimeout  = 5 * time.Second
	askAgain    = time.Second     // while the cluster does not answer
	grace       = 2 * time.Second // without an answer before what is known counts as unknown
)

// absence is a time in which nothing is known of a cluster.
type absence struct {
	since time.Time // when it last answered
	why   string
}

// watchOver asks the API server regularly, and at once after a watch has failed, whether what the caches hold is still true. It records
// that the cluster is watched for as long as it is.
func (c *Cluster) watchOver(ctx context.Context) {
	ticker := time.NewTicker(askInterval)
	defer ticker.Stop()
	watch := promotion.Watch{Cluster: c.Name, Server: c.Server, From: c.Now(), To: c.Now()}
	for ctx.Err() == nil {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err = c.ask(ctx)
		case <-c.doubt:
			err = c.compare(ctx)
		}
		gap := err != nil && c.outlast(ctx, watch.To, err)
		watch.To = c.Now()
		if gap {
			watch.From = watch.To
		}
		if c.save(ctx, watch) {
			watch.From = watch.To
		}
	}
}

// save records a watch. What could not be recorded is part of the next one.
func (c *Cluster) save(ctx context.Context, w promotion.Watch) bool {
	if c.Record == nil || ctx.Err() != nil {
		return false
	}
	err := c.Record.SaveWatch(ctx, w)
	if err != nil {
		c.warnUnless(ctx, "that a cluster is watched is not recorded yet", err)
	}
	return err == nil
}

// outlast waits until the cluster answers and the caches hold what it says. What lasts longer than a moment is a gap in the watch, and
// makes everything unknown from when the cluster was last seen, unless another server sees it: that one tells what it sees.
func (c *Cluster) outlast(ctx context.Context, answered time.Time, err error) (gap bool) {
	why := reasonOf(err)
	for {
		select {
		case <-ctx.Done():
			return true
		case <-time.After(askAgain):
		}
		if c.compare(ctx) == nil {
			c.goAway(nil)
			return gap
		}
		now := c.Now()
		if ctx.Err() != nil || now.Sub(answered) < grace {
			continue
		}
		gap = true
		if others := c.othersSaw(ctx); now.Sub(others) > askInterval+grace {
			c.goAway(&absence{later(answered, others), why})
		}
	}
}

// othersSaw is when another server was last known to see the cluster; zero when none is known to.
func (c *Cluster) othersSaw(ctx context.Context) time.Time {
	if c.Record == nil {
		return time.Time{}
	}
	at, err := c.Record.WatchedUntil(ctx, c.Name, c.Server)
	if err != nil {
		c.warnUnless(ctx, "whether another server sees a cluster is not known", err)
	}
	return at
}

// goAway has everything told anew, as unknown or as it is. The first reason of an absence stays.
func (c *Cluster) goAway(a *absence) {
	c.mu.Lock()
	same := (c.away == nil) == (a == nil)
	if !same {
		c.away = a
	}
	c.mu.Unlock()
	if same {
		return
	}
	if a != nil {
		c.Log.Warn("a cluster does not answer; what it runs is unknown", "cluster", c.Name, "since", a.since, "why", a.why)
	} else {
		c.Log.Info("a cluster answers again", "cluster", c.Name)
	}
	for _, obj := range c.informers[Applications].GetStore().List() {
		c.lookAtApplication(obj)
	}
}

// unknown is what is told of an Application while its cluster is away: what it deploys, and nothing of how that is. It
// counts from when the cluster last answered, since nothing was seen after that.
func (c *Cluster) unknown(o promotion.Observation, a absence) promotion.Observation {
	return promotion.Observation{Key: o.Key, Simulated: o.Simulated, EngineObject: o.EngineObject, RepositoryURL: o.RepositoryURL, Path: o.Path,
		TargetRevision: o.TargetRevision, AutomatedSync: o.AutomatedSync, Sync: promotion.SyncUnknown, Health: promotion.HealthUnknown,
		Message: fmt.Sprintf("Cluster %s cannot be watched since %s: %s What runs there is unknown until it answers again.",
			c.Name, a.since.UTC().Format("2006-01-02 15:04:05 UTC"), a.why),
		ObservedAt: a.since}
}

// reasonOf says why a cluster does not answer, without addresses that change.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("it does not answer within %s. Check the network and the API server.", askTimeout)
	case apierrors.IsUnauthorized(err):
		return "it does not accept Sluice's credentials. Renew the token."
	case apierrors.IsForbidden(err):
		return "Sluice lacks a right to read: " + err.Error() + "."
	}
	return err.Error() + "."
}

// ask is a small question that only a working API server with its store behind it can answer.
func (c *Cluster) ask(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	_, err := c.Client.Resource(Applications).List(ctx, metav1.ListOptions{Limit: 1})
	return err
}

var errBehind = errors.New("the watch has not caught up yet")

// compare lists everything that is watched and fails unless the caches are as new as that.
func (c *Cluster) compare(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, askTimeout)
	defer done()
	for gvr, informer := range c.informers {
		list, err := c.Client.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list %s: %w", gvr.Resource, err)
		}
		listed := make(map[string]bool, len(list.Items))
		for i := range list.Items {
			o := &list.Items[i]
			key := o.GetNamespace() + "/" + o.GetName()
			listed[key] = true
			held, there, err := informer.GetStore().GetByKey(key)
			if err != nil {
				return err
			}
			if cached := objectOf(held); !there || cached == nil || older(cached.GetResourceVersion(), o.GetResourceVersion()) {
				return fmt.Errorf("%w: %s %s", errBehind, gvr.Resource, key)
			}
		}
		for _, held := range informer.GetStore().List() {
			o := objectOf(held)
			if o != nil && !listed[o.GetNamespace()+"/"+o.GetName()] && !older(list.GetResourceVersion(), o.GetResourceVersion()) {
				return fmt.Errorf("%w: %s %s is gone", errBehind, gvr.Resource, o.GetName())
			}
		}
	}
	return nil
}

// older compares resource versions: decimal numbers of any length.
func older(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
