package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

// record is what servers before this one left.
type record struct {
	known []promotion.Deployment

	mu       sync.Mutex
	watches  []promotion.Watch
	failures int // of reading it that are still to come
}

func (r *record) Deployments(context.Context, string, string) ([]promotion.Deployment, error) {
	return r.known, nil
}

func (r *record) WatchedUntil(_ context.Context, _, besides string) (time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failures > 0 {
		r.failures--
		return time.Time{}, errors.New("the database is away")
	}
	var last time.Time
	for _, w := range r.watches {
		if w.Server != besides && w.To.After(last) {
			last = w.To
		}
	}
	return last, nil
}

func (r *record) SaveWatch(_ context.Context, w promotion.Watch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches = append(r.watches, w)
	return nil
}

// watchOf is a server's watch up to a moment.
func watchOf(server string, to time.Time) promotion.Watch {
	return promotion.Watch{Cluster: "prod-eu", Server: server, From: to.Add(-5 * time.Second), To: to}
}

// flaky is a cluster that can be down.
type flaky struct {
	dynamic.Interface
	down *atomic.Bool
}

func (f flaky) Resource(gvr schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	all := f.Interface.Resource(gvr)
	return flakyResource{flakyNamespace{all, f.down}, all}
}

// IsWatchListSemanticsUnSupported is what the simulation's own client says of itself.
func (flaky) IsWatchListSemanticsUnSupported() bool { return true }

type flakyResource struct {
	flakyNamespace
	all dynamic.NamespaceableResourceInterface
}

func (f flakyResource) Namespace(namespace string) dynamic.ResourceInterface {
	return flakyNamespace{f.all.Namespace(namespace), f.down}
}

type flakyNamespace struct {
	dynamic.ResourceInterface
	down *atomic.Bool
}

func (f flakyNamespace) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	if f.down.Load() {
		return nil, errors.New("connection refused")
	}
	return f.ResourceInterface.List(ctx, o)
}

const outOfSync = "status: {sync: {status: OutOfSync}, health: {status: Healthy}}\n"

// healthyBefore is web-prod as an earlier server recorded it.
func healthyBefore(at time.Time) promotion.Deployment {
	return promotion.Deployment{Observation: promotion.Observation{Key: webProdKey, EngineObject: []byte(`{"kind": "Application"}`), Path: "overlays/prod",
		Sync: promotion.Synced, Health: promotion.Healthy, Revision: merge, ObservedAt: at,
		RunningImages: []promotion.ContainerImage{{ImageID: "example/web@sha256:aa"}}}}
}

// brief is what was told, for people.
func brief(all []promotion.Observation) string {
	var lines []string
	for _, o := range all {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", o.ObservedAt.Format(time.DateTime), o.Sync, o.Health, o.Message))
	}
	return strings.Join(lines, "\n")
}

func TestWhatWasRecordedIsNotBelievedWhileNobodySeesIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		noted    time.Duration // before the start; zero: never
		observed time.Duration // before the start
		down     bool
		failures int
		watched  bool          // by another server all the time
		since    time.Duration // before the start is it unknown; -1: it never is
	}{
		"the cluster is down, and nobody has watched for an hour": {noted: time.Hour, observed: 2 * time.Hour, down: true, since: time.Hour},
		"the cluster is down, after a quick restart":              {noted: 10 * time.Second, observed: 2 * time.Hour, down: true, since: 10 * time.Second},
		"the cluster is down, and it was never noted":             {observed: 2 * time.Hour, down: true, since: 0},
		"what is recorded is newer than the note":                 {noted: time.Hour, observed: 59 * time.Minute, down: true, since: 59 * time.Minute},
		"the database is away at first":                           {noted: time.Hour, observed: 2 * time.Hour, down: true, failures: 3, since: time.Hour},
		"the cluster answers, and nobody has watched for an hour": {noted: time.Hour, observed: 2 * time.Hour, since: time.Hour},
		"the cluster answers, after a quick restart":              {noted: 10 * time.Second, observed: 2 * time.Hour, since: -1},
		"another server sees the cluster":                         {noted: 5 * time.Second, observed: 2 * time.Hour, down: true, watched: true, since: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				left := &record{known: []promotion.Deployment{healthyBefore(start.Add(-test.observed))}, failures: test.failures}
				if test.noted > 0 {
					left.watches = []promotion.Watch{watchOf("before", start.Add(-test.noted))}
				}
				var down atomic.Bool
				down.Store(test.down)
				seen := &told{}
				run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: flaky{apiServer(t, webProd+outOfSync), &down}, Now: time.Now, Observe: seen.observe,
					Record: left, Log: slog.New(slog.DiscardHandler)}))
				for range 12 { // a minute
					time.Sleep(5 * time.Second)
					if test.watched {
						_ = left.SaveWatch(t.Context(), watchOf("another", time.Now()))
					}
				}
				unknown := seen.about("web-prod")
				if !test.down {
					if last := unknown[len(unknown)-1]; last.Sync != promotion.OutOfSync {
						t.Errorf("with the cluster there, told %s", brief(unknown))
					}
					unknown = unknown[:len(unknown)-1]
				}
				if test.since < 0 {
					if len(unknown) != 0 {
						t.Errorf("told %s", brief(unknown))
					}
					return
				}
				if len(unknown) != 1 {
					t.Fatalf("told %d times: %s", len(unknown), brief(unknown))
				}
				o := unknown[0]
				if o.Sync != promotion.SyncUnknown || o.Health != promotion.HealthUnknown || o.Revision != "" || len(o.RunningImages) != 0 ||
					o.Path != "overlays/prod" || !o.ObservedAt.Equal(start.Add(-test.since)) || !strings.Contains(o.Message, "cannot be watched since") {
					t.Errorf("told %+v of %s", o, o.EngineObject)
				}
				down.Store(false)
				time.Sleep(time.Minute)
				about := seen.about("web-prod")
				if last := about[len(about)-1]; last.Sync != promotion.OutOfSync || len(about) != 2 {
					t.Errorf("once it answers again, told %s", brief(about))
				}
			})
		})
	}
}

// unbroken are the watches of a server, those that go on from each other as one.
func (r *record) unbroken(server string) (all []promotion.Watch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watches {
		if last := len(all) - 1; w.Server == server && last >= 0 && all[last].To.Equal(w.From) {
			all[last].To = w.To
		} else if w.Server == server {
			all = append(all, w)
		}
	}
	return all
}

func TestHowLongAClusterIsWatchedIsRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		left := &record{}
		run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: flaky{apiServer(t, webProd+outOfSync), &down}, Now: time.Now, Observe: (&told{}).observe,
			Record: left, Server: "sluice-1", Log: slog.New(slog.DiscardHandler)}))
		start := time.Now()
		time.Sleep(time.Minute)
		lost := time.Now()
		down.Store(true)
		time.Sleep(time.Minute)
		found := time.Now()
		down.Store(false)
		time.Sleep(time.Minute)

		watches := left.unbroken("sluice-1")
		if len(watches) != 2 {
			t.Fatalf("watched %v", watches)
		}
		near := func(what string, at, expected time.Time) {
			if off := at.Sub(expected); off < -6*time.Second || off > 6*time.Second {
				t.Errorf("%s is %s off", what, off)
			}
		}
		near("the start", watches[0].From, start)
		near("the loss", watches[0].To, lost)
		near("the return", watches[1].From, found)
		near("now", watches[1].To, time.Now())
		if watches[0].To.After(lost) || watches[1].From.Before(found) {
			t.Errorf("watched %v without a cluster from %s until %s", watches, lost, found)
		}
	})
}

// A server that has lost its wire says nothing of a cluster that another one sees, and is quick to when that one goes too.
func TestAClusterThatAnotherServerSeesIsNotUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		left, seen := &record{}, &told{}
		run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: flaky{apiServer(t, webProd+outOfSync), &down}, Now: time.Now, Observe: seen.observe,
			Record: left, Server: "sluice-1", Log: slog.New(slog.DiscardHandler)}))
		var last time.Time
		another := func() {
			for range 12 {
				last = time.Now()
				_ = left.SaveWatch(t.Context(), watchOf("sluice-2", last))
				time.Sleep(5 * time.Second)
			}
		}
		another()
		down.Store(true)
		another()
		if about := seen.about("web-prod"); len(about) != 1 {
			t.Fatalf("told although another server sees it: %s", brief(about))
		}
		time.Sleep(10 * time.Second)
		about := seen.about("web-prod")
		if len(about) != 2 || about[1].Sync != promotion.SyncUnknown || !about[1].ObservedAt.Equal(last) {
			t.Fatalf("when nobody sees it since %s, told %s", last.Format(time.DateTime), brief(about))
		}
		if watches := left.unbroken("sluice-1"); len(watches) != 1 {
			t.Errorf("watched %v", watches)
		}
	})
}
