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
	answered time.Time
	failures int // of reading it that are still to come
}

func (r *record) Deployments(context.Context, string, string) ([]promotion.Deployment, error) {
	return r.known, nil
}

func (r *record) AnsweredAt(context.Context, string) (time.Time, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failures > 0 {
		r.failures--
		return time.Time{}, errors.New("the database is away")
	}
	return r.answered, nil
}

func (r *record) SaveAnswered(_ context.Context, _ string, at time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = at
	return nil
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
					left.answered = start.Add(-test.noted)
				}
				var down atomic.Bool
				down.Store(test.down)
				seen := &told{}
				run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: flaky{apiServer(t, webProd+outOfSync), &down}, Now: time.Now, Observe: seen.observe,
					Record: left, Log: slog.New(slog.DiscardHandler)}))
				for range 12 { // a minute
					time.Sleep(5 * time.Second)
					if test.watched {
						_ = left.SaveAnswered(t.Context(), "prod-eu", time.Now())
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

func TestAClusterThatAnswersIsNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		left := &record{}
		run(t, cluster.New(cluster.Options{Name: "prod-eu", Client: flaky{apiServer(t, webProd+outOfSync), &down}, Now: time.Now, Observe: (&told{}).observe,
			Record: left, Log: slog.New(slog.DiscardHandler)}))
		noted := func() time.Time {
			at, err := left.AnsweredAt(t.Context(), "prod-eu")
			if err != nil {
				t.Fatal(err)
			}
			return at
		}
		time.Sleep(time.Minute)
		if ago := time.Since(noted()); ago > 5*time.Second {
			t.Errorf("noted %s ago", ago)
		}
		down.Store(true)
		time.Sleep(6 * time.Second)
		last := noted()
		time.Sleep(time.Minute)
		if !noted().Equal(last) {
			t.Errorf("noted at %s although it has not answered since %s", noted(), last)
		}
	})
}
