package cluster_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestWhatRunsInARemovedClusterIsUnknown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		configured []string
		watched    time.Duration // before the start; zero: never
		failures   int
		after      time.Duration // the start, is it told; -1: never
		since      time.Duration // before the start
	}{
		"nobody watches it":                     {configured: []string{"prod-us"}, watched: time.Hour, after: time.Second, since: time.Hour},
		"another server watches it for a while": {configured: []string{"prod-us"}, watched: 10 * time.Second, after: 90 * time.Second, since: 10 * time.Second},
		"it was never watched":                  {after: time.Second},
		"the database is away at first":         {watched: time.Hour, failures: 1, after: 90 * time.Second, since: time.Hour},
		"it is configured":                      {configured: []string{"prod-us", "prod-eu"}, watched: time.Hour, after: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				left := &record{known: []promotion.Deployment{healthyBefore(start.Add(-2 * time.Hour))}, failures: test.failures}
				if test.watched > 0 {
					left.watches = []promotion.Watch{watchOf("before", start.Add(-test.watched))}
				}
				seen := &told{}
				ctx, stop := context.WithCancel(t.Context())
				go cluster.Removed(ctx, cluster.Options{Now: time.Now, Observe: seen.observe, Record: left, Log: slog.New(slog.DiscardHandler)}, test.configured)
				defer stop()
				time.Sleep(max(test.after, time.Second))
				about := seen.about("web-prod")
				if test.after < 0 {
					time.Sleep(time.Hour)
					if about = seen.about("web-prod"); len(about) != 0 {
						t.Errorf("told %s", brief(about))
					}
					return
				}
				if len(about) != 1 {
					t.Fatalf("told %d times: %s", len(about), brief(about))
				}
				if o := about[0]; o.Sync != promotion.SyncUnknown || o.Health != promotion.HealthUnknown || len(o.RunningImages) != 0 ||
					!o.ObservedAt.Equal(start.Add(-test.since)) || !strings.Contains(o.Message, "configuration has it no more") {
					t.Errorf("told %+v", o)
				}
			})
		})
	}
}
