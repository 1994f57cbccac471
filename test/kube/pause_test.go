//go:build peers

package kube_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestAutomaticSyncIsPausedAndResumed(t *testing.T) {
	w := newWorld(t, nil)
	key := promotion.DeploymentKey{Cluster: clusterName, Namespace: "argocd", Name: "shop"}
	w.healthy("shop", web("", settings))
	w.must(w.cluster.PauseSync(t.Context(), key))
	w.must(w.cluster.PauseSync(t.Context(), key))
	w.push("shop", web(""))
	w.becomes("shop", "OutOfSync", "Healthy")
	w.must(w.cluster.ResumeSync(t.Context(), key))
	w.must(w.cluster.ResumeSync(t.Context(), key))
	w.becomes("shop", "Synced", "Healthy")
	if _, err := w.kube.Client.Resource(configMaps).Namespace("shop").Get(t.Context(), "settings", metav1.GetOptions{}); err == nil {
		t.Error("the policy has not come back as it was: it does not prune")
	}
}
