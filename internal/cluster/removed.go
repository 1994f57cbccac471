package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Removed tells, until ctx ends, that what runs in clusters is unknown that were watched once and are not among the configured
// any more. One that another server watches still, such as during a change of the configuration, waits until that has ended.
func Removed(ctx context.Context, o Options, configured []string) {
	for ctx.Err() == nil {
		if err := disbelieveAllBut(ctx, o, configured); err != nil && ctx.Err() == nil {
			o.Log.Warn("what runs in clusters that were taken out of the configuration is not told to be unknown yet", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(unwatched):
		}
	}
}

func disbelieveAllBut(ctx context.Context, o Options, configured []string) error {
	known, err := o.Record.Deployments(ctx, "", "")
	if err != nil {
		return fmt.Errorf("list the known Applications: %w", err)
	}
	for _, d := range known {
		if slices.Contains(configured, d.Key.Cluster) {
			continue
		}
		watched, err := o.Record.WatchedUntil(ctx, d.Key.Cluster, "")
		if err != nil {
			return fmt.Errorf("read until when %s was watched: %w", d.Key.Cluster, err)
		}
		now := o.Now()
		if now.Sub(watched) < unwatched {
			continue
		}
		if watched.IsZero() {
			watched = now
		}
		c := &Cluster{Options: o, told: map[cache.ObjectName]promotion.Observation{}}
		c.Name = d.Key.Cluster
		why := "the server's configuration has it no more. Put it back, or delete its Applications before it is taken out."
		if err := c.disbelieve(ctx, d.Observation, absence{watched, why}); err != nil {
			return err
		}
	}
	return nil
}
