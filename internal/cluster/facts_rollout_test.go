package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluicehq/sluice/internal/promotion"
)

const canary = `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: shop}
spec: {replicas: 4, selector: {matchLabels: {app: web}}, strategy: {canary: {steps: [{setWeight: 20}, {pause: {}}, {setWeight: 60}]}}}
status: {observedGeneration: "1", stableRS: aaa, currentPodHash: bbb, currentStepIndex: 1, pauseConditions: [{reason: CanaryPauseStep, startTime: "2026-03-01T10:00:00Z"}],
  canary: {weights: {canary: {weight: 20}}}}
`

const blueGreen = `
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: shop}
spec: {replicas: 4, paused: true, strategy: {blueGreen: {activeService: web}}}
status: {observedGeneration: "1", stableRS: aaa, currentPodHash: bbb, abort: true, blueGreen: {activeSelector: aaa, previewSelector: bbb}}
`

// stacksOfWeb are the old pods, which leave, and the new ones.
var stacksOfWeb = []string{`
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-aaa, namespace: shop, labels: {rollouts-pod-template-hash: aaa}, annotations: {argo-rollouts.argoproj.io/scale-down-deadline: "2026-03-01T10:00:30Z"},
  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, uid: r1}]}
spec: {template: {spec: {containers: [{name: web, image: "web:1.1.0"}, {name: proxy, image: "proxy:3"}]}}}
status: {readyReplicas: 4}
`, `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web-bbb, namespace: shop, labels: {rollouts-pod-template-hash: bbb}, ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: web, uid: r1}]}
spec: {template: {spec: {containers: [{name: web, image: "web:1.2.0"}]}}}
`}

func TestRolloutsOfACluster(t *testing.T) {
	t.Parallel()
	stacks := []promotion.Stack{{Hash: "aaa", Images: []string{"web:1.1.0", "proxy:3"}, Ready: 4, Leaving: true}, {Hash: "bbb", Images: []string{"web:1.2.0"}}}
	twenty, four := 20, 4
	for name, test := range map[string]struct {
		rollout string
		want    promotion.LiveWorkload
		unread  string
	}{
		"canary": {canary, promotion.LiveWorkload{Present: true, Replicas: &four, Selector: map[string]string{"app": "web"}, Switches: []promotion.Switch{{Cluster: "prod-eu",
			Read: true, Stable: "aaa", Current: "bbb", Step: 1, Steps: 3, Weight: &twenty, Pause: "CanaryPauseStep", Stacks: stacks}}}, ""},
		"blue-green": {blueGreen, promotion.LiveWorkload{Present: true, Replicas: &four, Switches: []promotion.Switch{{Cluster: "prod-eu", Read: true, BlueGreen: true,
			Stable: "aaa", Current: "bbb", Active: "aaa", Preview: "bbb", Held: true, Aborted: true, Stacks: stacks}}}, ""},
		"not looked at yet": {strings.Replace(canary, `"1"`, `"0"`, 1), promotion.LiveWorkload{Present: true, Replicas: &four,
			Selector: map[string]string{"app": "web"}, Switches: []promotion.Switch{{Cluster: "prod-eu"}}}, "has not seen the last change"},
		"not there": {strings.Replace(canary, "name: web,", "name: other,", 1), promotion.LiveWorkload{Switches: []promotion.Switch{{Cluster: "prod-eu", Read: true}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := apiServer(t, webProd)
				uid := string(create(t, client, test.rollout).GetUID())
				for _, stack := range stacksOfWeb {
					create(t, client, strings.Replace(stack, "uid: r1", "uid: "+uid, 1))
				}
				f := factsOf(t, client, promotion.Needs{Workloads: []promotion.Workload{{Kind: "Rollout", Name: "web"}}})
				got := f.Workloads["Rollout/web"]
				got.Room = ""
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
				if said := strings.Join(f.Unread, "\n"); test.unread != "" && !strings.Contains(said, test.unread) {
					t.Errorf("%q does not say %q", said, test.unread)
				}
			})
		})
	}
}

func TestARolloutThatCannotBeReadIsUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := &failing{Interface: apiServer(t, webProd, canary), only: map[string]bool{"rollouts": true},
			fail: func(context.Context) error {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "rollouts"}, "web", errors.New("rbac"))
			}}
		f := factsOf(t, client, promotion.Needs{Workloads: []promotion.Workload{{Kind: "Rollout", Name: "web"}}})
		got := f.Workloads["Rollout/web"]
		if !got.Present || len(got.Switches) != 1 || got.Switches[0].Read {
			t.Errorf("taken for read: %+v", got)
		}
		if said := strings.Join(f.Unread, "\n"); !strings.Contains(said, "Rollout web could not be read: Sluice may not read it there") {
			t.Errorf("it says %q", said)
		}
	})
}
