//go:build peers

package kube_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/internal/promotion"
)

// TestADigestTravelsToProd takes a build from CI's post to running and healthy pods of another platform, in dev and in prod, and then
// has people and an autoscaler change what runs.
func TestADigestTravelsToProd(t *testing.T) {
	t.Parallel()
	s := newShop(&world{T: t})
	s.argo("dev", "{automated: {prune: true}}")
	s.argo("prod", "{syncOptions: [ServerSideApply=true]}")
	s.becomes("web-dev", "Synced", "Healthy")

	release, started, reference := s.posts("1.1.0", nil)
	s.arrives(s.is(started[0].ID, promotion.StateVerified), reference)
	p := s.toProd(release, reference)
	gates, err := s.service.Store.Gates(t.Context(), p.ID)
	s.must(err)
	if !slices.ContainsFunc(gates, func(g promotion.GateResult) bool {
		return g.Gate == promotion.GateServerDryRun && g.Verdict == promotion.Pass && strings.Contains(g.Reason, "the API server takes 3 objects")
	}) {
		t.Errorf("no dry run of three objects is among the gates: %+v", gates)
	}

	s.undoIsRecognised()
	s.oscillationIsSeen()
}

// arrives fails unless the chain's last links hold: what was merged is what Argo CD applied, and what runs is the release's own digest.
func (s *shop) arrives(p promotion.Promotion, reference string) {
	s.Helper()
	all, err := s.service.Store.DeploymentsOf(s.Context(), p.Target.ID)
	s.must(err)
	if len(all) != 1 {
		s.Fatalf("%d deployments of %s", len(all), p.Target.Path)
	}
	d := all[0]
	id, _ := s.pulled.Load(reference)
	if p.Number == 0 || d.Revision != p.MergeSHA || d.ReleaseID != p.Release.ID || d.Sync != promotion.Synced || d.Health != promotion.Healthy ||
		!slices.Equal(s.recorded(d.Key.Name).images, []string{id.(string)}) {
		s.Errorf("promotion %d of #%d, merged as %s, has arrived as %+v, running %v", p.ID, p.Number, p.MergeSHA, d, s.recorded(d.Key.Name).images)
	}
}

// undoIsRecognised: somebody puts back what ran before in dev, past Git. kubectl names no manager for this.
func (s *shop) undoIsRecognised() {
	s.Helper()
	s.heals() // or Argo CD, which has not tried main's newest commit yet, would sync at once
	before := s.images + "/shop/web@" + s.push("web", "1.0.0")
	s.kubectl("", "shop-dev", types.JSONPatchType, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"`+before+`"}]`)
	s.looksForDrift("the undo is named", func(look promotion.DriftLook, open []promotion.Drift) bool {
		return strings.Contains(look.Rollback, "runs, an earlier release; Git says 1.1.0") && strings.Contains(look.Rollback, "`kubectl rollout undo` of Deployment.apps shop-dev/web") &&
			len(open) == 1 && open[0].Class == promotion.DriftHuman
	})
	s.heals()
}

// oscillationIsSeen: an autoscaler and a sync disagree on a number, and take turns once Argo CD heals by itself. That is no person's doing.
func (s *shop) oscillationIsSeen() {
	s.Helper()
	autoscalers := schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	began := time.Now()
	s.apply("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop-dev}\n" +
		"spec: {minReplicas: 4, maxReplicas: 6, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}\n")
	scaled := func(open []promotion.Drift) bool {
		return len(open) == 1 && open[0].Class == promotion.DriftAutoscaler && open[0].Path == "spec.replicas" && open[0].Want == "2" && open[0].Have == "4"
	}
	s.looksForDrift("the autoscaler is seen", func(look promotion.DriftLook, open []promotion.Drift) bool {
		return scaled(open) && !open[0].Oscillates() && !look.SelfHeal
	})
	s.argo("dev", "{automated: {prune: true, selfHeal: true}}")
	s.looksForDrift("it is seen to take turns with Argo CD", func(look promotion.DriftLook, open []promotion.Drift) bool {
		return scaled(open) && open[0].Oscillates() && open[0].Owner == "a HorizontalPodAutoscaler" && look.SelfHeal
	})
	s.delete(autoscalers, "shop-dev", "web")
	s.argo("dev", "{automated: {prune: true}}")
	s.heals()
	target, err := s.service.Store.TargetNamed(s.Context(), "web", "dev")
	s.must(err)
	all, err := s.service.Store.Drifts(s.Context(), target.ID, false, 100)
	s.must(err)
	for _, d := range all {
		if d.FirstSeen.After(began) && d.Class != promotion.DriftAutoscaler {
			s.Errorf("the turns of two programs are drift by %s: %+v", d.Class, d)
		}
	}
}

// heals has dev synced once more to what Git says, and waits until nothing drifts.
func (s *shop) heals() {
	s.Helper()
	s.restored("web-dev")
	s.looksForDrift("nothing drifts", func(look promotion.DriftLook, open []promotion.Drift) bool {
		return len(open) == 0 && look.Rollback == "" && look.Problem == ""
	})
	s.becomes("web-dev", "Synced", "Healthy")
}

// restored has an Application synced to main, and waits until that has ended.
func (s *shop) restored(application string) {
	s.Helper()
	head, err := s.service.Sites[configRepository].Repository.Fetch(s.Context())
	s.must(err)
	s.eventually("a sync is asked for", func() (bool, string) {
		err := s.cluster.Sync(s.Context(), keyOf(application), promotion.SyncRequest{Revision: head, InitiatedBy: rita.Name, Restores: true})
		return err == nil, fmt.Sprint(err)
	})
	s.eventually("the sync has ended", func() (bool, string) { // or it would undo what the test changes next
		app, err := s.kube.Client.Resource(cluster.Applications).Namespace("argocd").Get(s.Context(), application, metav1.GetOptions{})
		s.must(err)
		_, asked := app.Object["operation"]
		phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase")
		return !asked && phase == "Succeeded", fmt.Sprint("asked for: ", asked, "; ", phase)
	})
}

// looksForDrift looks at dev until it is as wanted.
func (s *shop) looksForDrift(what string, wanted func(promotion.DriftLook, []promotion.Drift) bool) {
	s.Helper()
	target, err := s.service.Store.TargetNamed(s.Context(), "web", "dev")
	s.must(err)
	s.eventually(what, func() (bool, string) {
		s.must(s.service.LookForDriftOf(s.Context(), "web", "dev", keyOf("web-dev")))
		looks, err := s.service.Store.DriftLooks(s.Context(), target.ID)
		s.must(err)
		open, err := s.service.Store.Drifts(s.Context(), target.ID, true, 10)
		s.must(err)
		return len(looks) == 1 && wanted(looks[0], open), fmt.Sprintf("%+v %+v", looks, open)
	})
}
