package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Record is what is kept of clusters from one server's life to the next's.
type Record interface {
	// Deployments are as they were told of last.
	Deployments(ctx context.Context, application, environment string) ([]promotion.Deployment, error)
	// WatchedUntil is up to when servers watched a cluster, besides one of them; zero: none ever did. Up to then what is recorded
	// was seen to be so.
	WatchedUntil(ctx context.Context, cluster, besides string) (time.Time, error)
	// SaveWatch records that a cluster was watched without a gap.
	SaveWatch(ctx context.Context, w promotion.Watch) error
}

// Times of a start.
const (
	unwatched = time.Minute            // without a note that it is still so, until what is recorded is not believed any more
	firstLook = 10 * time.Second       // until all is seen, or another server has seen it
	beginPoll = 100 * time.Millisecond // between looks whether all is seen
)

// begin waits until everything is seen that is watched. What an earlier server recorded is told to be unknown when nobody has
// watched for a while, or when the cluster does not answer this one either.
func (c *Cluster) begin(ctx context.Context) {
	started := c.Now()
	since, next := started.Add(-unwatched), started
	for believed := c.Record != nil; ctx.Err() == nil; {
		pause := beginPoll
		if now := c.Now(); believed && !now.Before(next) {
			var err error
			if believed, err = c.believe(ctx, since, started); err != nil {
				c.warnUnless(ctx, "whether what is recorded of a cluster is still so is not known yet", err)
				pause = askAgain
			} else {
				since, next = now, now.Add(firstLook)
			}
		}
		if pause == beginPoll && c.seesAll() {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (c *Cluster) warnUnless(ctx context.Context, message string, err error) {
	if ctx.Err() == nil {
		c.Log.Warn(message, "cluster", c.Name, "err", err)
	}
}

// believe tells whether a server has seen what is recorded since a moment. When none has, it is told to be unknown. What was never
// noted counts from the start. An error leaves it believed, to be tried again.
func (c *Cluster) believe(ctx context.Context, since, started time.Time) (bool, error) {
	answered, err := c.Record.WatchedUntil(ctx, c.Name, "")
	if err != nil {
		return true, fmt.Errorf("read until when %s was watched: %w", c.Name, err)
	}
	if answered.IsZero() {
		answered = started
	}
	if answered.After(since) {
		return true, nil
	}
	known, err := c.known(ctx)
	if err != nil {
		return true, err
	}
	gone := absence{answered, "no server of Sluice has seen it since."}
	for _, o := range known {
		if err := c.disbelieve(ctx, o, gone); err != nil {
			return true, err
		}
	}
	if len(known) > 0 {
		c.Log.Warn("what a cluster runs is unknown until it is seen again", "cluster", c.Name, "since", gone.since)
	}
	return false, nil
}

// disbelieve tells that what was recorded of an Application is unknown by now.
func (c *Cluster) disbelieve(ctx context.Context, o promotion.Observation, gone absence) error {
	unknown := o.Sync == promotion.SyncUnknown && o.Health == promotion.HealthUnknown && o.Revision == "" && len(o.RunningImages) == 0
	if unknown || len(o.EngineObject) == 0 {
		return nil
	}
	now := c.unknown(o, gone)
	now.ObservedAt = later(now.ObservedAt, o.ObservedAt)
	if err := c.Observe(ctx, now); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told[cache.NewObjectName(o.Key.Namespace, o.Key.Name)] = now
	return nil
}

// known is what was recorded last of each of this cluster's Applications.
func (c *Cluster) known(ctx context.Context) ([]promotion.Observation, error) {
	all, err := c.Record.Deployments(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("list the known Applications of %s: %w", c.Name, err)
	}
	var known []promotion.Observation
	for _, d := range all {
		if d.Key.Cluster == c.Name {
			known = append(known, d.Observation)
		}
	}
	return known, nil
}

// seesAll tells whether all is seen that is watched, but for what Sluice may not watch and can do without.
func (c *Cluster) seesAll() bool {
	for _, informer := range c.informers {
		if !informer.HasSynced() {
			return false
		}
	}
	for _, o := range c.optional {
		if !o.settled() {
			return false
		}
	}
	return true
}
