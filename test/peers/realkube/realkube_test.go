//go:build peers

package realkube_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/test/peers/realkube"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example/web:1}]}
`

func TestADeploymentRollsOut(t *testing.T) {
	c, err := realkube.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.StartKubelet(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(deployment), &o.Object); err != nil {
		t.Fatal(err)
	}
	at := c.Client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).Namespace("default")
	if _, err := at.Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	available := int64(0)
	for deadline := time.After(time.Minute); available < 3; {
		select {
		case <-deadline:
			t.Fatalf("%d of 3 replicas are available\n%s", available, c.Logs())
		case <-time.After(100 * time.Millisecond):
		}
		live, err := at.Get(t.Context(), "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		available, _, _ = unstructured.NestedInt64(live.Object, "status", "availableReplicas")
	}
}
