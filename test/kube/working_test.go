//go:build peers

package kube_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/sluicehq/sluice/test/peers/realkube"
)

const (
	service  = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}\n"
	astray   = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: wbe}, ports: [{port: 80, targetPort: 8080}]}\n"
	unnamed  = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}\n"
	ingress  = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
	wrong    = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {defaultBackend: {service: {name: web, port: {number: 8080}}}}\n"
	nobody   = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web}\nspec: {defaultBackend: {service: {name: shop, port: {number: 80}}}}\n"
	mounted  = "volumes: [{name: level, configMap: {name: settings, items: [{key: level, path: level}]}}]"
	mistaken = "volumes: [{name: level, configMap: {name: settings, items: [{key: lvl, path: level}]}}]"
	lost     = "volumes: [{name: level, configMap: {name: setting}}]"
)

func TestSyncedButNotWorking(t *testing.T) {
	w := newWorld(t, nil)
	w.apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: argo-more}\nrules: [{apiGroups: [networking.k8s.io, batch], resources: ['*'], verbs: ['*']}]\n" +
		"---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: argo-more}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: argo-more}\n" +
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: '" + account + "'}]\n")
	for name, c := range map[string]struct {
		broken, mended string
		says           []string
	}{
		"selects-nothing":   {web("", astray), web("", service), []string{"Service web leads nowhere", "app=wbe", "Those of Deployment web have app=web"}},
		"port-not-named":    {web("", unnamed), web("", service), []string{"Service web has no endpoints for port 80", "of the name http"}},
		"ingress-port":      {web("", service, wrong), web("", service, ingress), []string{"Ingress web leads to port 8080 of Service web, which has no such port"}},
		"ingress-nowhere":   {web("", service, nobody), web("", service, ingress), []string{"Ingress web leads to Service shop, which is not in namespace ingress-nowhere"}},
		"key-missing":       {web(mistaken, settings), web(mounted, settings), []string{"Deployment web needs key lvl of ConfigMap settings (volume level), which has no such key"}},
		"configmap-missing": {web(lost, settings), web(mounted, settings), []string{"Deployment web needs ConfigMap setting (volume level), which is not in namespace configmap-missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.within(t)
			w.createNamespace(name)
			w.push(name, c.broken)
			w.deploys(name)
			w.becomes(name, "Synced", "Healthy", c.says...)
			w.push(name, c.mended)
			w.becomes(name, "Synced", "Healthy")
		})
	}
	t.Run("older-than-secret", func(t *testing.T) {
		t.Parallel()
		w, name := w.within(t), "older-than-secret"
		w.createNamespace(name)
		w.apply(secret(name, "one"))
		w.push(name, taking)
		w.deploys(name)
		w.becomes(name, "Synced", "Healthy")
		w.eventually("the pod says that it is older", func() (bool, string) {
			w.apply(secret(name, "two")) // at a later second than the pod's start, at the latest the second time
			w.apply(secret(name, "three"))
			return w.recorded(name).message != "", ""
		})
		w.becomes(name, "Synced", "Healthy", "runs since before Secret db was changed", "in the environment of container web", "kubectl rollout restart")
		w.restarts(name)
		w.becomes(name, "Synced", "Healthy")
	})
	t.Run("job-failed", func(t *testing.T) {
		t.Parallel()
		w, name := w.within(t), "job-failed"
		w.kubelet.In(name, failing("migrate"))
		w.createNamespace(name)
		w.push(name, web("", job))
		w.deploys(name)
		w.becomes(name, "Synced", "Healthy", "Job migrate failed: Job has reached the specified backoff limit", "kubectl logs job/migrate")
		w.push(name, web(""))
		w.becomes(name, "Synced", "Healthy")
	})
}

const (
	taking = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "` + image + `", env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]}
`
	job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate}\nspec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: example/migrate:1}]}}}\n"
)

func secret(namespace, password string) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: " + namespace + "}\ndata: {password: " + base64.StdEncoding.EncodeToString([]byte(password)) + "}\n"
}

// failing has containers fail whose image's name holds a word.
func failing(word string) func(image string) realkube.Fate {
	return func(image string) realkube.Fate {
		if strings.Contains(image, word) {
			return realkube.Fate{Exit: 1}
		}
		return realkube.Fate{}
	}
}

// restarts replaces the pods of web, as kubectl rollout restart does.
func (w *world) restarts(namespace string) {
	w.Helper()
	w.kubectl("kubectl-rollout", namespace, types.StrategicMergePatchType,
		`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-03-01T12:00:00Z"}}}}}`)
}
