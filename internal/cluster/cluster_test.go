package cluster_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

// told keeps what Observe was told.
type told struct {
	mu  sync.Mutex
	all []promotion.Observation
}

func (t *told) observe(_ context.Context, o promotion.Observation) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, o)
	return nil
}

func (t *told) about(name string) []promotion.Observation {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.all), func(o promotion.Observation) bool { return o.Key.Name != name })
}

// watch runs a cluster within a bubble until the test ends.
func watch(t *testing.T, client dynamic.Interface, known ...promotion.DeploymentKey) (*cluster.Cluster, *told) {
	t.Helper()
	seen := &told{}
	record := &record{}
	for _, key := range known {
		record.known = append(record.known, promotion.Deployment{Observation: promotion.Observation{Key: key}})
	}
	c := cluster.New(cluster.Options{Name: "prod-eu", Client: client, Now: time.Now, Observe: seen.observe, Log: slog.New(slog.DiscardHandler), Record: record})
	return run(t, c), seen
}

// run has a cluster watch until the test ends.
func run(t *testing.T, c *cluster.Cluster) *cluster.Cluster {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	<-time.After(time.Second) // the caches are asked in intervals whether they are filled
	synctest.Wait()
	return c
}

func TestWhatIsGoneIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := apiServer(t, webProd)
		_, seen := watch(t, client,
			promotion.DeploymentKey{Cluster: "prod-eu", Namespace: "argocd", Name: "deleted-while-nobody-watched"},
			promotion.DeploymentKey{Cluster: "prod-us", Namespace: "argocd", Name: "in-another-cluster"}, webProdKey)
		gone := func(name string) bool {
			about := seen.about(name)
			return len(about) > 0 && about[len(about)-1].Health == promotion.Missing && about[len(about)-1].Sync == promotion.SyncUnknown
		}
		if !gone("deleted-while-nobody-watched") || len(seen.about("in-another-cluster")) != 0 || len(seen.about("web-prod")) != 1 {
			t.Errorf("told %+v", seen.all)
		}
		if err := client.Resource(cluster.Applications).Namespace("argocd").Delete(t.Context(), "web-prod", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !gone("web-prod") || len(seen.about("web-prod")) != 2 {
			t.Errorf("after the deletion told %+v", seen.about("web-prod"))
		}
		<-time.After(5 * time.Minute)
		synctest.Wait()
		if got := len(seen.about("web-prod")) + len(seen.about("deleted-while-nobody-watched")); got != 3 {
			t.Errorf("told %d times in all, want 3", got)
		}
	})
}

func TestPodsOfAStatefulSetAreFoundByOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := apiServer(t, webProd+"status: {resources: [{group: apps, kind: StatefulSet, namespace: shop, name: web}]}\n")
		_, seen := watch(t, client)
		set := create(t, client, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: shop}
spec: {replicas: 1}
`)
		pod := func(name, owner string) {
			create(t, client, `
apiVersion: v1
kind: Pod
metadata: {name: `+name+`, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: "`+owner+`"}]}
spec: {containers: [{name: web, image: example/web:2}]}
status: {containerStatuses: [{name: web, image: example/web:2, imageID: "example/web@sha256:bb", ready: true}]}
`)
		}
		pod("web-0", string(set.GetUID()))
		pod("web-of-another", "another-uid")
		synctest.Wait()
		about := seen.about("web-prod")
		if o := about[len(about)-1]; len(o.RunningImages) != 1 || o.RunningImages[0].Pod != "web-0" || o.Rollout.Desired != 1 {
			t.Errorf("observed %+v", o)
		}
	})
}

func TestApplicationsAreListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _ := watch(t, apiServer(t, webProd))
		if got := c.Applications(); !slices.Equal(got, []promotion.DeploymentKey{webProdKey}) {
			t.Errorf("applications: %v", got)
		}
	})
}
