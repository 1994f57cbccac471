//go:build peers

package kube_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/cluster"
	"github.com/sluicehq/sluice/test/peers/realkube"
)

const image = "registry.example.test/shop/web@sha256:00000000000000000000000000000000000000000000000000000000000000aa"

// web is a Deployment with more in the pod's spec, and with more documents.
func web(podSpec string, more ...string) string {
	text := fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  progressDeadlineSeconds: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      %s
      containers: [{name: web, image: "%s"}]
`, podSpec, image)
	for _, m := range more {
		text += "\n---\n" + m
	}
	return text
}

const (
	settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {level: info}\n"
	budget   = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\nspec: {minAvailable: 1, selector: {matchLabels: {app: web}}}\n"
	widget   = "apiVersion: example.test/v1\nkind: Widget\nmetadata: {name: one}\nspec: {size: 1}\n"
)

// healthy is the first deployment of each scenario, which works.
func (w *world) healthy(name, manifests string) {
	w.Helper()
	w.createNamespace(name)
	w.push(name, manifests)
	w.deploys(name)
	w.becomes(name, "Synced", "Healthy")
}

func TestWhatIsWrongIsSaidAndRecovers(t *testing.T) {
	w := newWorld(t, nil)
	in := func(name string, play func(w *world, name string)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(w.within(t), name)
		})
	}
	for name, c := range fates {
		in(name, func(w *world, name string) {
			w.createNamespace(name)
			w.kubelet.In(name, func(string) realkube.Fate { return c.fate })
			w.push(name, web(""))
			w.deploys(name)
			w.becomes(name, "Synced", "Degraded", c.says...)
			w.kubelet.In(name, func(string) realkube.Fate { return realkube.Fate{} })
			w.becomes(name, "Synced", "Healthy")
		})
	}
	for name, c := range pending {
		in(name, func(w *world, name string) {
			w.healthy(name, web(""))
			w.push(name, web(c.podSpec))
			w.becomes(name, "Synced", "Degraded", c.says...)
			w.push(name, web(""))
			w.becomes(name, "Synced", "Healthy")
		})
	}
	for name, play := range refusals {
		in(name, play)
	}
}

// fates are troubles of running containers.
var fates = map[string]struct {
	fate realkube.Fate
	says []string
}{
	"image-unknown": {realkube.Fate{Pull: "rpc error: code = NotFound desc = failed to resolve reference: not found"},
		[]string{"cannot pull image " + image, "The registry does not have it"}},
	"image-credentials": {realkube.Fate{Pull: "failed to authorize: failed to fetch oauth token: unexpected status: 401 Unauthorized"},
		[]string{"cannot pull image", "check the pull secret"}},
	"image-network": {realkube.Fate{Pull: `failed to do request: Head "https://registry.example.test/v2/": dial tcp: lookup registry.example.test: no such host`},
		[]string{"cannot pull image", "The node does not reach the registry"}},
	"crash-loop":    {realkube.Fate{Exit: 3}, []string{"crashes again and again (exit code 3)", "kubectl logs --previous"}},
	"out-of-memory": {realkube.Fate{Exit: 137, OOM: true}, []string{"uses more memory than its limit"}},
	"never-ready":   {realkube.Fate{Unready: true}, []string{"Deployment web made no progress within its deadline", "runs and is not ready", "readiness probe"}},
}

// pending are pods that the real scheduler finds no node for.
var pending = map[string]struct {
	podSpec string
	says    []string
}{
	"too-large":      {"initContainers: [{name: large, image: example/large:1, resources: {requests: {cpu: \"64\"}}}]", []string{"finds no node", "Insufficient cpu", "Lower its requests"}},
	"wrong-selector": {"nodeSelector: {disk: fast}", []string{"finds no node", "node selector"}},
	"no-volume":      {"volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", []string{"finds no node", `"data" not found`, "Check its volumes"}},
}

// refusals are syncs that the real API server refuses.
var refusals = map[string]func(w *world, name string){
	"no-rights": func(w *world, name string) {
		w.healthy(name, web(""))
		w.push(name, web("", settings, budget))
		w.becomes(name, "OutOfSync", "Healthy", "failed", "PodDisruptionBudget web", account+" lacks the right to create poddisruptionbudgets", "Applied all the same", "ConfigMap settings")
		w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: argo-budgets}\nrules: [{apiGroups: [policy], resources: [poddisruptionbudgets], verbs: ['*']}]\n" +
			"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: argo-budgets}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: argo-budgets}\n" +
			"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: '" + account + "'}]\n")
		w.syncs(name)
		w.becomes(name, "Synced", "Healthy")
	},
	"no-definition": func(w *world, name string) {
		w.healthy(name, web(""))
		w.push(name, web("", widget))
		w.becomes(name, "OutOfSync", "Healthy", "failed", "Widget one", "Install the definition of Widget")
		w.must(w.kube.Define(w.Context(), "example.test", "v1", "widgets", "Widget"))
		w.syncs(name)
		w.becomes(name, "Synced", "Healthy")
	},
	"policy": func(w *world, name string) {
		w.healthy(name, web(""))
		w.apply(fmt.Sprintf(admission, name))
		denied := web("", settings)
		w.refuses(name, "huge", map[string]any{"size": "huge"}, "no huge ones")
		w.push(name, denied+"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: huge, labels: {size: huge}}\n")
		w.becomes(name, "OutOfSync", "Healthy", "failed", "ConfigMap huge", "no huge ones", "Admission policy "+name, "Applied all the same", "ConfigMap settings")
		w.push(name, denied)
		w.becomes(name, "Synced", "Healthy")
	},
	"webhook": func(w *world, name string) {
		hook := w.mutates()
		hook.in(w, name)
		w.healthy(name, web(""))
		w.push(name, web("", settings)+"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: unsigned}\n")
		w.becomes(name, "OutOfSync", "Healthy", "failed", "ConfigMap unsigned", "it is not signed", "Admission webhook mesh.example.test refuses it", "Applied all the same", "ConfigMap settings")
		w.push(name, web("", settings))
		w.becomes(name, "Synced", "Healthy")
		hook.CloseClientConnections()
		hook.Close()
		w.push(name, web("", settings, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"))
		w.becomes(name, "OutOfSync", "Healthy", "failed", "ConfigMap more", "Admission webhook mesh.example.test does not answer")
		w.delete(mutatingWebhooks, "", name)
		w.syncs(name)
		w.becomes(name, "Synced", "Healthy")
	},
	"no-namespace": func(w *world, name string) {
		w.push(name, web(""))
		w.deploys(name)
		w.becomes(name, "OutOfSync", "Missing", "failed", "Create namespace "+name)
		w.createNamespace(name)
		w.syncs(name)
		w.becomes(name, "Synced", "Healthy")
	},
	"selector": func(w *world, name string) {
		w.healthy(name, web(""))
		w.push(name, other)
		w.becomes(name, "OutOfSync", "Healthy", "failed", "Deployment web", "field is immutable", "delete the object")
		w.delete(cluster.Deployments, name, "web")
		w.syncs(name)
		w.becomes(name, "Synced", "Healthy")
	},
}

// other is web with another selector.
const other = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}}
    spec: {containers: [{name: web, image: "` + image + `"}]}
`

// admission is a policy that refuses some ConfigMaps of a namespace.
const admission = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]}
  validations: [{expression: "!has(object.metadata.labels) || !('size' in object.metadata.labels)", message: no huge ones}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}}}
`

// refuses waits until the API server refuses a ConfigMap with these words: it takes a moment to learn of policies and webhooks.
func (w *world) refuses(namespace, name string, labels map[string]any, words string) {
	w.Helper()
	configMaps := w.kube.Client.Resource(configMaps).Namespace(namespace)
	w.eventually("ConfigMap "+name+" is refused: "+words, func() (bool, string) {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name, "labels": labels}}}
		_, err := configMaps.Create(w.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), words), fmt.Sprint(err)
	})
}
