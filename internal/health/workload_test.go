package health_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

func decode(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	json, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return o
}

const application = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod, namespace: argocd}
spec: {source: {repoURL: https://git.example.com/shop/config.git, path: /overlays/prod/, targetRevision: main}}
status:
  sync: {status: Synced, revision: 6e4f3be3b3f91ef19ede96c51a00081a7db4a6b2}
  health: {status: Healthy}
  resources: [{group: apps, kind: Deployment, name: web, namespace: shop}]
`

// done is a Deployment with two pods of its newest template.
const done = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, generation: 2}
spec:
  replicas: 2
  template: {spec: {initContainers: [{name: migrate, image: example/migrate:2}], containers: [{name: web, image: example/web:2}]}}
status:
  observedGeneration: 2
  replicas: 2
  updatedReplicas: 2
  readyReplicas: 2
  availableReplicas: 2
  conditions: [{type: Available, status: "True"}, {type: Progressing, status: "True", reason: NewReplicaSetAvailable}]
`

// pod is a pod of web:2 that runs; another is the same with changes of its text.
func pod(name string) string {
	return `
apiVersion: v1
kind: Pod
metadata: {name: ` + name + `, namespace: shop}
spec: {initContainers: [{name: migrate, image: example/migrate:2}], containers: [{name: web, image: example/web:2}]}
status:
  phase: Running
  initContainerStatuses: [{name: migrate, image: example/migrate:2, imageID: example/migrate@sha256:aa, ready: true, restartCount: 0, state: {terminated: {exitCode: 0}}}]
  containerStatuses: [{name: web, image: example/web:2, imageID: docker-pullable://example/web@sha256:bb, ready: true, restartCount: 0, state: {running: {}}}]
`
}

// in gives the pod's web container another status.
func in(status string) func(string) string {
	return func(pod string) string {
		before, _, _ := strings.Cut(pod, "  containerStatuses:")
		return before + "  containerStatuses: [{name: web, image: example/web:2, " + status + "}]\n"
	}
}

func replaced(old, with string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, old, with) }
}

func same(s string) string { return s }

func TestConclude(t *testing.T) {
	t.Parallel()
	all := promotion.Rollout{Desired: 2, Updated: 2, Ready: 2, Available: 2}
	for name, c := range map[string]struct {
		application, workload, pod func(string) string // changes; of the second pod only
		health                     promotion.HealthStatus
		rollout                    promotion.Rollout
		message                    string // contained; the whole one when empty
		running                    int    // images of containers
	}{
		"all is well": {health: promotion.Healthy, rollout: all, running: 4},
		"healthy for a moment before the rollout starts": {
			workload: replaced("observedGeneration: 2", "observedGeneration: 1"), health: promotion.Progressing,
			rollout: promotion.Rollout{Desired: 2, Ready: 2, Available: 2, Old: 2}, message: "Rolling out: Deployment web.", running: 4},
		"an old pod is still there": {
			workload: func(s string) string {
				return strings.Replace(s, "  replicas: 2\n  updatedReplicas", "  replicas: 3\n  updatedReplicas", 1)
			},
			health: promotion.Progressing, rollout: promotion.Rollout{Desired: 2, Updated: 2, Ready: 2, Available: 2, Old: 1},
			message: "Rolling out: Deployment web.", running: 4},
		"more pods than the workload speaks of": {
			workload: replaced("eplicas: 2", "eplicas: 1"), health: promotion.Progressing,
			rollout: promotion.Rollout{Desired: 1, Updated: 1, Ready: 1, Available: 1}, message: "Rolling out: Deployment web.", running: 4},
		"a pod on its way out does not count": {
			workload: replaced("eplicas: 2", "eplicas: 1"), pod: replaced("namespace: shop", `namespace: shop, deletionTimestamp: "2026-03-01T12:00:00Z"`),
			health: promotion.Healthy, rollout: promotion.Rollout{Desired: 1, Updated: 1, Ready: 1, Available: 1}, running: 2},
		"an evicted pod does not count": {
			workload: replaced("eplicas: 2", "eplicas: 1"), pod: replaced("phase: Running", "phase: Failed"),
			health: promotion.Healthy, rollout: promotion.Rollout{Desired: 1, Updated: 1, Ready: 1, Available: 1}, running: 2},
		"the image cannot be pulled": {
			pod: in(`imageID: "", state: {waiting: {reason: ErrImagePull, message: "manifest unknown"}}`), health: promotion.Healthy, rollout: all,
			message: "Pod web-2 cannot pull image example/web:2: manifest unknown. The registry does not have it for this node", running: 3},
		"the same while the kubelet waits": {
			pod:    in(`imageID: "", state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "example/web:2": ErrImagePull: manifest unknown'}}`),
			health: promotion.Healthy, rollout: all,
			message: "Pod web-2 cannot pull image example/web:2: manifest unknown. The registry does not have it for this node", running: 3},
		"a crash loop while it waits": {
			pod:    in(`imageID: example/web@sha256:bb, ready: false, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 2, reason: Error}}`),
			health: promotion.Healthy, rollout: all, message: "Container web of pod web-2 crashes again and again (exit code 2).", running: 4},
		"a crash loop while it runs again": {
			pod:    in(`imageID: example/web@sha256:bb, ready: false, restartCount: 3, state: {running: {}}, lastState: {terminated: {exitCode: 2, reason: Error}}`),
			health: promotion.Healthy, rollout: all, message: "Container web of pod web-2 crashes again and again (exit code 2).", running: 4},
		"restarted once and well since": {
			pod:    in(`imageID: example/web@sha256:bb, ready: true, restartCount: 1, state: {running: {}}, lastState: {terminated: {exitCode: 2, reason: Error}}`),
			health: promotion.Healthy, rollout: all, running: 4},
		"out of memory": {
			pod:    in(`imageID: example/web@sha256:bb, ready: false, restartCount: 3, state: {running: {}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}`),
			health: promotion.Healthy, rollout: all, message: "uses more memory than its limit (exit code 137)", running: 4},
		"a missing ConfigMap": {
			pod:    in(`imageID: "", state: {waiting: {reason: CreateContainerConfigError, message: 'configmap "web" not found'}}`),
			health: promotion.Healthy, rollout: all, message: `cannot be created: configmap "web" not found. Look at the ConfigMaps`, running: 3},
		"no node": {
			pod: func(string) string {
				return "apiVersion: v1\nkind: Pod\nmetadata: {name: web-2}\nstatus: {phase: Pending, conditions: [{type: PodScheduled, status: \"False\", reason: Unschedulable, message: 0/3 nodes are available}]}"
			},
			health: promotion.Healthy, rollout: all, message: "Pod web-2 finds no node: 0/3 nodes are available.", running: 2},
		"the deadline is over and a pod is not ready": {
			workload: replaced(`"True", reason: NewReplicaSetAvailable`, `"False", reason: ProgressDeadlineExceeded`),
			pod:      in(`imageID: example/web@sha256:bb, ready: false, restartCount: 0, state: {running: {}}`), health: promotion.Degraded, rollout: all,
			message: "Deployment web made no progress within its deadline: container web of pod web-2 runs and is not ready.", running: 4},
		"a comparison error says nothing about health": {
			application: replaced("  health:", "  conditions: [{type: ComparisonError, message: \"rpc error: code = Unknown desc = no such file\"}]\n  health:"),
			health:      promotion.HealthUnknown, rollout: all, message: "Argo CD cannot compare with Git: no such file.", running: 4},
		"degraded by its own word": {
			application: replaced("health: {status: Healthy}", "health: {status: Degraded, message: a job failed}"),
			health:      promotion.Degraded, rollout: all, message: "Argo CD says that the Application is degraded: a job failed.", running: 4},
		"an unknown word is unknown": {
			application: replaced("health: {status: Healthy}", "health: {status: Splendid}"), health: promotion.HealthUnknown, rollout: all, running: 4},
		"a workload in another cluster": {
			application: replaced("name: web, namespace", "name: other, namespace"), health: promotion.Healthy, rollout: all,
			message: "Deployment other was not found in this cluster", running: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, change := range []*func(string) string{&c.application, &c.workload, &c.pod} {
				if *change == nil {
					*change = same
				}
			}
			o := health.Conclude(health.Objects{
				Application: decode(t, c.application(application)),
				Workloads:   []*unstructured.Unstructured{decode(t, c.workload(done))},
				Pods:        []*unstructured.Unstructured{decode(t, pod("web-1")), decode(t, c.pod(pod("web-2")))},
			})
			if o.Health != c.health || o.Rollout != c.rollout || len(o.RunningImages) != c.running {
				t.Errorf("%s, %+v, %d containers; want %s, %+v, %d", o.Health, o.Rollout, len(o.RunningImages), c.health, c.rollout, c.running)
			}
			if c.message == "" && o.Message != "" || !strings.Contains(o.Message, c.message) {
				t.Errorf("says %q, want %q", o.Message, c.message)
			}
		})
	}
}

func TestConcludeImages(t *testing.T) {
	t.Parallel()
	o := health.Conclude(health.Objects{Application: decode(t, application), Workloads: []*unstructured.Unstructured{decode(t, done)},
		Pods: []*unstructured.Unstructured{decode(t, pod("web-1"))}})
	if got := strings.Join(o.Images, " "); got != "example/migrate:2 example/web:2" {
		t.Errorf("images of the template: %s", got)
	}
	want := promotion.ContainerImage{Pod: "web-1", Container: "web", Image: "example/web:2", ImageID: "example/web@sha256:bb", Ready: true}
	if len(o.RunningImages) != 2 || o.RunningImages[1] != want {
		t.Errorf("running: %+v", o.RunningImages)
	}
	if o.Path != "overlays/prod" {
		t.Errorf("path %q", o.Path)
	}
}

func TestConcludeDaemonSet(t *testing.T) {
	t.Parallel()
	set := decode(t, `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web, generation: 1}
spec: {template: {spec: {containers: [{name: web, image: example/web:2}]}}}
status: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1, numberReady: 3, numberAvailable: 3}
`)
	o := health.Conclude(health.Objects{Application: decode(t, application), Workloads: []*unstructured.Unstructured{set}})
	if want := (promotion.Rollout{Desired: 3, Updated: 1, Ready: 3, Available: 3, Old: 2}); o.Rollout != want || o.Health != promotion.Progressing {
		t.Errorf("%s, %+v", o.Health, o.Rollout)
	}
}

func TestConcludeSeveralSources(t *testing.T) {
	t.Parallel()
	app := decode(t, `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod}
spec:
  sources:
  - {repoURL: https://charts.example.com, chart: web, targetRevision: 1.2.3}
  - {repoURL: https://git.example.com/shop/config.git, path: overlays/prod, targetRevision: main}
status:
  sync: {status: Synced, revisions: [1.2.3, 6e4f3be3b3f91ef19ede96c51a00081a7db4a6b2]}
  health: {status: Healthy}
  history: [{id: 0, revisions: [1.2.3, f47540228c1067f171ba7bc18f34627c9fcf351d]}]
`)
	o := health.Conclude(health.Objects{Application: app})
	if o.Path != "overlays/prod" || o.Revision != two || o.ComparedRevision != one || health.FollowedSource(app) != 1 {
		t.Errorf("%+v", o)
	}
}

func TestConcludeWithoutHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ operation, want string }{
		"succeeded": {`{phase: Succeeded, syncResult: {revision: ` + one + `}}`, one},
		"dry run":   {`{phase: Succeeded, operation: {sync: {dryRun: true}}, syncResult: {revision: ` + one + `}}`, ""},
		"partial":   {`{phase: Succeeded, operation: {sync: {resources: [{kind: Deployment}]}}, syncResult: {revision: ` + one + `}}`, ""},
		"failed":    {`{phase: Failed, syncResult: {revision: ` + one + `}}`, ""},
		"a branch":  {`{phase: Succeeded, syncResult: {revision: main}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := decode(t, application+"  operationState: "+c.operation+"\n")
			if o := health.Conclude(health.Objects{Application: app}); o.Revision != c.want {
				t.Errorf("deployed %q, want %q", o.Revision, c.want)
			}
		})
	}
}
