package health_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for refusal, want := range map[string]string{
		`error when creating "/dev/shm/12": pods "web" is forbidden: exceeded quota: compute, requested: cpu=2`:                                                      "Quota compute",
		`deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'two-replicas' with binding 'all' denied request: too few`:                                   "Admission policy two-replicas",
		`error when patching "/dev/shm/12": admission webhook "images.example.test" denied the request: unsigned`:                                                    "Admission webhook images.example.test refuses",
		`Internal error occurred: failed calling webhook "images.example.test": connection refused`:                                                                  "Admission webhook images.example.test does not answer",
		`ingresses.networking.k8s.io is forbidden: User "argo" cannot create resource "ingresses" in API group "networking.k8s.io"`:                                  "Argo CD's account argo lacks the right to create ingresses",
		`The Kubernetes API could not find example.test/Widget for requested resource shop/w. Make sure the "Widget" CRD is installed on the destination cluster.`:   "Install the definition of Widget",
		`The Kubernetes API could not find version "v1beta1" of a.b/C for requested resource shop/c. Version "v1" of a.b/C is installed on the destination cluster.`: "in version v1 and not in v1beta1",
		`namespaces "shop" not found`: "Create namespace shop",
		`Deployment.apps "web" is invalid: spec.selector: Invalid value: {}: field is immutable`:   "cannot be changed in place",
		`Apply failed with 1 conflict: conflict with "helm" using apps/v1: .spec.replicas`:         "helm owns",
		`Deployment.apps "web" is invalid: spec.template.spec.containers[0].image: Required value`: "image: Required value.",
	} {
		o := concludeRefused(refusal)
		if !strings.Contains(o.Message, want) || strings.Contains(o.Message, "/dev/shm") {
			t.Errorf("%s\n is said as: %s\n which lacks: %s", refusal, o.Message, want)
		}
		if o.Sync != promotion.OutOfSync || o.Operation != "Failed" {
			t.Errorf("%s: sync %s, operation %s", refusal, o.Sync, o.Operation)
		}
	}
}

func concludeRefused(message string) promotion.Observation {
	return health.Conclude(health.Objects{Application: &unstructured.Unstructured{Object: map[string]any{
		"status": map[string]any{
			"sync": map[string]any{"status": "OutOfSync"}, "health": map[string]any{"status": "Healthy"},
			"operationState": map[string]any{"phase": "Failed", "syncResult": map[string]any{"resources": []any{
				map[string]any{"kind": "Deployment", "name": "web", "status": "SyncFailed", "message": message}}}},
		}}}})
}

func TestWhyAnImageCannotBePulledIsToldApart(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`rpc error: code = NotFound desc = failed to resolve reference "r/web:2": r/web:2: not found`:      "check repository, tag or digest",
		`failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized`:        "check the pull secret",
		`pull access denied, repository does not exist or may require authorization: authorization failed`: "check the pull secret",
		`failed to do request: Head "https://r/v2/web": dial tcp: lookup r on 10.0.0.10:53: no such host`:  "check the network",
		`failed to do request: Head "https://r/v2/web": dial tcp 10.1.1.1:443: i/o timeout`:                "check the network",
		`something that nobody has seen before`:                                                            "that the pull secret is valid",
	} {
		pod := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web-1"},
			"status": map[string]any{"containerStatuses": []any{map[string]any{"name": "web", "image": "r/web:2",
				"state": map[string]any{"waiting": map[string]any{"reason": "ErrImagePull", "message": message}}}}}}}
		if said := concludePod(pod); !strings.Contains(said, want) {
			t.Errorf("%s\n is said as: %s\n which lacks: %s", message, said, want)
		}
	}
}

func TestWhyAPodFindsNoNodeIsToldApart(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"0/1 nodes are available: 1 Insufficient cpu.":                                               "Lower its requests",
		"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.":              "node selector and affinity",
		"0/1 nodes are available: 1 node(s) had untolerated taint(s) {gpu: true}.":                   "tolerate the taint",
		"0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.": "Nodes are not ready",
		`0/1 nodes are available: persistentvolumeclaim "data" not found.`:                           "Check its volumes",
		"0/1 nodes are available: something new.":                                                    "Look at its events",
	} {
		pod := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "web-1"},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}}}}}
		if said := concludePod(pod); !strings.Contains(said, want) {
			t.Errorf("%s\n is said as: %s\n which lacks: %s", message, said, want)
		}
	}
}

func concludePod(pod *unstructured.Unstructured) string {
	return health.Conclude(health.Objects{Application: &unstructured.Unstructured{Object: map[string]any{}},
		Pods: []*unstructured.Unstructured{pod}}).Message
}
