package health_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

const shop = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod, namespace: argocd}
spec: {source: {repoURL: https://git.example.com/shop/config.git, path: overlays/prod, targetRevision: main}}
status:
  sync: {status: Synced, revision: 6e4f3be3b3f91ef19ede96c51a00081a7db4a6b2}
  health: {status: Healthy}
  resources:
  - {group: apps, kind: Deployment, name: web, namespace: shop}
  - {kind: Service, name: web, namespace: shop}
  - {group: networking.k8s.io, kind: Ingress, name: web, namespace: shop}
`

const (
	shopWeb = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 1}
spec:
  replicas: 1
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: example/web:2
        ports: [{name: http, containerPort: 8080}]
        env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]
        envFrom: [{configMapRef: {name: settings}}, {configMapRef: {name: extra, optional: true}}]
      volumes: [{name: tls, projected: {sources: [{secret: {name: db, items: [{key: user, path: user}]}}]}}]
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1,
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]}
`
	shopPod = `
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
spec: {containers: [{name: web, image: example/web:2, ports: [{name: http, containerPort: 8080}],
  env: [{name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: web, image: example/web:2, imageID: example/web@sha256:bb, ready: true, restartCount: 0, state: {running: {startedAt: "2026-03-01T12:00:00Z"}}}]
`
	shopService = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
`
	shopIngress = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {rules: [{host: shop.example.com, http: {paths: [{path: /, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`
	shopSecret = `
apiVersion: v1
kind: Secret
metadata:
  name: db
  namespace: shop
  managedFields: [{manager: vault, operation: Update, time: "2026-03-01T11:00:00Z", fieldsV1: {"f:data": {"f:password": {}}}}]
data: {password: "", user: ""}
`
	shopSettings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {level: \"\"}\n"
)

func TestSyncedButNotWorking(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		object, old, with string // what is different, of which object
		says              string // empty: nothing
	}{
		"all is well": {},
		"the Service selects other labels": {"Service", "{app: web}", "{app: shop}",
			"Service web leads nowhere: no pod has the labels that it selects (app=shop). Those of Deployment web have app=web."},
		"a Service without selector is somebody else's": {"Service", "selector: {app: web}, ", "", ""},
		"no pod is ready": {"Pod", `type: Ready, status: "True"`, `type: Ready, status: "False"`,
			"Service web has no endpoints: none of the pods that it selects (app=web) is ready."},
		"no container has the port": {"Service", "targetPort: http", "targetPort: web",
			"Service web has no endpoints for port 80: no container of the pods that it selects has a port of the name web."},
		"a numbered port is any": {"Service", "targetPort: http", "targetPort: 9999", ""},
		"no load balancer": {"Service", "spec: {selector", "spec: {type: LoadBalancer, selector",
			"Service web waits for an address of a load balancer."},
		"the Service is of another Application":   {"Application", "  - {kind: Service, name: web, namespace: shop}\n", "", ""},
		"the Ingress leads to no Service":         {"Ingress", "name: web, port", "name: wed, port", "Ingress web leads to Service wed, which is not in namespace shop."},
		"the Ingress leads to a port not there":   {"Ingress", "number: 80", "number: 8080", "Ingress web leads to port 8080 of Service web, which has no such port."},
		"the Ingress leads to a name not there":   {"Ingress", "number: 80", "name: https", "Ingress web leads to port https of Service web, which has no such port."},
		"the Ingress leads to a name":             {"Ingress", "number: 80", "name: http", ""},
		"the default of an Ingress leads nowhere": {"Ingress", "rules:", "defaultBackend: {service: {name: old, port: {number: 80}}}, rules:", "Ingress web leads to Service old"},
		"a key is missing": {"Secret", "password: \"\"", "pass: \"\"",
			"Deployment web needs key password of Secret db (container web), which has no such key."},
		"a key of a volume is missing": {"Secret", "user: \"\"", "usr: \"\"", "Deployment web needs key user of Secret db (volume tls), which has no such key."},
		"the Secret is missing":        {"Secret", "name: db\n", "name: other\n", "Deployment web needs Secret db (container web), which is not in namespace shop."},
		"the ConfigMap is missing":     {"ConfigMap", "name: settings", "name: other", "Deployment web needs ConfigMap settings (container web), which is not in namespace shop."},
		"the pod is older than the Secret": {"Secret", "T11:00:00Z", "T13:00:00Z",
			"Pod web-1 runs since before Secret db was changed and has the earlier values in the environment of container web. Restart it"},
		"another field of the Secret was written": {"Secret", `T11:00:00Z", fieldsV1: {"f:data"`, `T13:00:00Z", fieldsV1: {"f:metadata"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := health.Conclude(shopWith(t, func(text string) string {
				if c.object != "" && strings.Contains(text, "kind: "+c.object+"\n") {
					if !strings.Contains(text, c.old) {
						t.Fatalf("%q is not in %s", c.old, text)
					}
					return strings.Replace(text, c.old, c.with, 1)
				}
				return text
			}))
			if !strings.HasPrefix(o.Message, c.says) || c.says == "" && o.Message != "" {
				t.Errorf("says  %s\nwant  %s", o.Message, c.says)
			}
			if o.Sync != promotion.Synced || o.Health != promotion.Healthy {
				t.Errorf("%s and %s: what does not work is no matter of sync, and Argo CD's health stays what it is", o.Sync, o.Health)
			}
		})
	}
}

// What Sluice may not read is not missing.
func TestWhatCannotBeReadIsNotSaidToBeMissing(t *testing.T) {
	t.Parallel()
	o := shopWith(t, same)
	o.Near = health.Near{Pods: o.Near.Pods}
	if said := health.Conclude(o).Message; said != "" {
		t.Errorf("says %s", said)
	}
}

func TestAServiceOfWhatIsScaledToNothingIsNoTrouble(t *testing.T) {
	t.Parallel()
	o := shopWith(t, replaced("eplicas: 1", "eplicas: 0"))
	o.Pods, o.Near.Pods = nil, nil
	if said := health.Conclude(o).Message; said != "" {
		t.Errorf("says %s", said)
	}
}

func shopWith(t *testing.T, change func(string) string) health.Objects {
	t.Helper()
	one := func(text string) *unstructured.Unstructured { return decode(t, change(text)) }
	all := func(text string) []*unstructured.Unstructured { return []*unstructured.Unstructured{one(text)} }
	return health.Objects{Application: one(shop), Workloads: all(shopWeb), Pods: all(shopPod), Near: health.Near{
		Read: map[string]bool{"Service": true, "Ingress": true, "Secret": true, "ConfigMap": true},
		Pods: all(shopPod), Services: all(shopService), Ingresses: all(shopIngress), Secrets: all(shopSecret), ConfigMaps: all(shopSettings)}}
}

func TestAFailedJobIsNamed(t *testing.T) {
	t.Parallel()
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, namespace: shop}\n" +
		"status: {conditions: [{type: Failed, status: \"True\", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}\n"
	failed := func(results string) string {
		return strings.Replace(shop, "Healthy}", "Degraded}", 1) +
			"  operationState: {phase: Failed, syncResult: {revision: 6e4f3be3b3f91ef19ede96c51a00081a7db4a6b2, resources: [" + results + "]}}\n"
	}
	for name, c := range map[string]struct {
		application string
		says        string
	}{
		"a hook": {failed("{group: batch, kind: Job, name: migrate, namespace: shop, hookType: PreSync, hookPhase: Failed, status: Synced}"),
			"The PreSync hook Job migrate failed: Job has reached the specified backoff limit. Read its log (kubectl logs job/migrate)."},
		"an ordinary object that did not become healthy is no hook": {failed("{group: apps, kind: Deployment, name: web, namespace: shop, hookPhase: Failed, status: Synced}"),
			"Job migrate failed: Job has reached the specified backoff limit."},
		"a Job of the Application": {strings.Replace(shop, "Healthy}", "Degraded}", 1),
			"Job migrate failed: Job has reached the specified backoff limit."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := health.Conclude(health.Objects{Application: decode(t, c.application), Jobs: []*unstructured.Unstructured{decode(t, job)}})
			if !strings.HasPrefix(o.Message, c.says) {
				t.Errorf("says %s\nwant %s", o.Message, c.says)
			}
		})
	}
}

func TestSyncedAndDegradedWarnsThatAnotherSyncIsNoHelp(t *testing.T) {
	t.Parallel()
	degraded := replaced("health: {status: Healthy}", "health: {status: Degraded, message: broken}")
	const warning = "another sync changes nothing"
	if said := health.Conclude(shopWith(t, degraded)).Message; !strings.Contains(said, "broken") || !strings.Contains(said, warning) {
		t.Errorf("synced and degraded: %s", said)
	}
	outOfSync := func(s string) string { return degraded(replaced("status: Synced", "status: OutOfSync")(s)) }
	if said := health.Conclude(shopWith(t, outOfSync)).Message; !strings.Contains(said, "broken") || strings.Contains(said, warning) {
		t.Errorf("out of sync and degraded: %s", said)
	}
}
