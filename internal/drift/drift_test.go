package drift_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/drift"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com/web@sha256:aa
        command: [web, serve]
        env: [{name: MODE, value: fast}, {name: PASSWORD, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        resources: {limits: {cpu: 1000m, memory: 1Gi}}
        ports: [{containerPort: 80}]
`

// live is the deployment as an API server keeps it after a client-side apply by Argo CD: with defaults, and quantities
// written in their shortest form.
const live = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  labels: {app: web}
  creationTimestamp: "2026-12-01T09:00:00Z"
  generation: 3
  annotations: {deployment.kubernetes.io/revision: "2", argocd.argoproj.io/tracking-id: "web:apps/Deployment:shop/web"}
  managedFields:
  - manager: argocd-controller
    operation: Update
    time: "2026-12-01T09:00:00Z"
    fieldsV1:
      f:metadata: {f:labels: {".": {}, f:app: {}}}
      f:spec:
        f:replicas: {}
        f:progressDeadlineSeconds: {}
        f:selector: {}
        f:template:
          f:metadata: {f:labels: {".": {}, f:app: {}}}
          f:spec:
            f:containers:
              'k:{"name":"web"}':
                .: {}
                f:image: {}
                f:command: {}
                f:imagePullPolicy: {}
                f:env:
                  .: {}
                  'k:{"name":"MODE"}': {.: {}, f:name: {}, f:value: {}}
                  'k:{"name":"PASSWORD"}': {.: {}, f:name: {}, f:valueFrom: {f:secretKeyRef: {}}}
                f:resources: {.: {}, f:limits: {.: {}, f:cpu: {}, f:memory: {}}}
                f:ports: {.: {}, 'k:{"containerPort":80,"protocol":"TCP"}': {.: {}, f:containerPort: {}, f:protocol: {}}}
  - manager: kube-controller-manager
    operation: Update
    subresource: status
    time: "2026-12-01T09:00:10Z"
    fieldsV1: {f:metadata: {f:annotations: {.: {}, f:deployment.kubernetes.io/revision: {}}}, f:status: {f:replicas: {}}}
spec:
  replicas: 2
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: registry.example.com/web@sha256:aa
        imagePullPolicy: IfNotPresent
        command: [web, serve]
        env: [{name: MODE, value: fast}, {name: PASSWORD, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        resources: {limits: {cpu: "1", memory: 1Gi}}
        ports: [{containerPort: 80, protocol: TCP}]
status: {replicas: 2}
`

// by adds a writer to an object's managedFields and takes what it owns from Argo CD.
func by(o map[string]any, writer, fields string) map[string]any {
	var entry map[string]any
	if err := yaml.Unmarshal([]byte(writer), &entry); err != nil {
		panic(err)
	}
	var owned map[string]any
	if err := json.Unmarshal([]byte(fields), &owned); err != nil {
		panic(err)
	}
	entry["fieldsV1"] = owned
	metadata := o["metadata"].(map[string]any)
	before := metadata["managedFields"].([]any)
	without(before[0].(map[string]any)["fieldsV1"].(map[string]any), owned)
	metadata["managedFields"] = append(before, entry)
	return o
}

func without(fields, taken map[string]any) {
	for key, value := range taken {
		if inner, _ := value.(map[string]any); len(inner) > 0 {
			if below, ok := fields[key].(map[string]any); ok {
				without(below, inner)
			}
			continue
		}
		delete(fields, key)
	}
}

const (
	edit   = `{manager: kubectl-edit, operation: Update, time: "2026-12-02T10:00:00Z"}`
	scale  = `{manager: kubectl, operation: Update, subresource: scale}`
	hpa    = `{manager: kube-controller-manager, operation: Update, subresource: scale, time: "2026-12-02T10:00:00Z"}`
	helm   = `{manager: helm, operation: Update, time: "2026-12-02T10:00:00Z"}`
	inject = `{manager: some-injector, operation: Update, time: "2026-12-02T10:00:00Z"}`
	image  = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}}}}}`
	count  = `{"f:spec":{"f:replicas":{}}}`
)

// change replaces text of the live object.
func change(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		live          func(string) string
		writer, owned string
		applied       func(string) string // the live object after a dry-run apply; nil: none could be asked for
		rules         []drift.Rule
		want          []string
	}{
		"as Git says, with defaults and another way to write a quantity": {},
		"a person scaled it": {live: change("replicas: 2\n  progress", "replicas: 5\n  progress"), writer: scale, owned: count,
			want: []string{"spec.replicas: 2 is 5, human, kubectl scale"}},
		"an autoscaler did": {live: change("replicas: 2\n  progress", "replicas: 5\n  progress"), writer: hpa, owned: count,
			want: []string{"spec.replicas: 2 is 5, autoscaler, a HorizontalPodAutoscaler"}},
		"a person set the image": {live: change("sha256:aa", "sha256:bb"), writer: edit, owned: image,
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is registry.example.com/web@sha256:bb, human, kubectl edit"}},
		"helm did": {live: change("sha256:aa", "sha256:bb"), writer: helm, owned: image,
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is registry.example.com/web@sha256:bb, delivery-tool, helm"}},
		"a dry run agrees": {live: change("sha256:aa", "sha256:bb"), writer: edit, owned: image, applied: change(),
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is registry.example.com/web@sha256:bb, human, kubectl edit"}},
		"a webhook rewrites the image of every apply": {live: change("registry.example.com", "mirror.example.com"), applied: change("registry.example.com", "mirror.example.com"),
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is mirror.example.com/web@sha256:aa, webhook, argocd-controller; excused: applying Git's value"}},
		"and no dry run could be asked for": {live: change("registry.example.com", "mirror.example.com"),
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is mirror.example.com/web@sha256:aa, webhook, argocd-controller; excused: Argo CD's own write"}},
		"a webhook that was switched off": {live: change("registry.example.com", "mirror.example.com"), applied: change(),
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is mirror.example.com/web@sha256:aa, unknown, argocd-controller"}},
		"a sidecar of a webhook": {live: change("      - name: web\n", "      - {name: mesh, image: 'mesh:1'}\n      - name: web\n")},
		"a variable that a person added": {live: change("env: [", "env: [{name: DEBUG, value: '1'}, "), writer: edit,
			owned: `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:env":{"k:{\"name\":\"DEBUG\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}`,
			want:  []string{`spec.template.spec.containers[web].env[DEBUG]: none is {"name":"DEBUG","value":"1"}, human, kubectl edit`}},
		"an annotation of a controller": {live: change("annotations: {", "annotations: {injected: yes, "), writer: inject, owned: `{"f:metadata":{"f:annotations":{"f:injected":{}}}}`},
		"a variable that somebody removed": {live: change("{name: MODE, value: fast}, ", ""),
			want: []string{`spec.template.spec.containers[web].env[MODE]: {"name":"MODE","value":"fast"} is none, unknown, nobody is named as its owner`}},
		"what the last apply wrote and Git no longer says": {live: change("annotations: {", `annotations: {old: "1", `+
			`kubectl.kubernetes.io/last-applied-configuration: '{"metadata":{"annotations":{"old":"1"}}}', `),
			want: []string{`metadata.annotations.old: none is 1, unknown, nobody is named as its owner`}},
		"a restart": {live: change("template:\n    metadata: {labels: {app: web}}", "template:\n    metadata: {labels: {app: web}, annotations: {kubectl.kubernetes.io/restartedAt: now}}"),
			writer: `{manager: kubectl-rollout, operation: Update, time: "2026-12-02T10:00:00Z"}`,
			owned:  `{"f:spec":{"f:template":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/restartedAt":{}}}}}}`,
			want:   []string{`spec.template.metadata.annotations[kubectl.kubernetes.io/restartedAt]: none is now, human, kubectl rollout; excused: a restart`}},
		"ignored on purpose": {live: change("replicas: 2\n  progress", "replicas: 5\n  progress"), writer: hpa, owned: count,
			rules: []drift.Rule{{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/replicas"}}},
			want:  []string{"spec.replicas: 2 is 5, autoscaler, a HorizontalPodAutoscaler; excused: hidden by ignoreDifferences: /spec/replicas"}},
		"a rule for another object": {live: change("replicas: 2\n  progress", "replicas: 5\n  progress"), writer: hpa, owned: count,
			rules: []drift.Rule{{Group: "apps", Kind: "Deployment", Name: "api", JSONPointers: []string{"/spec/replicas"}}, {Kind: "Deployment", JSONPointers: []string{"/spec"}}},
			want:  []string{"spec.replicas: 2 is 5, autoscaler, a HorizontalPodAutoscaler"}},
		"a rule by manager": {live: change("replicas: 2\n  progress", "replicas: 5\n  progress"), writer: hpa, owned: count,
			rules: []drift.Rule{{Group: "*", Kind: "*", Managers: []string{"kube-controller-manager"}}},
			want:  []string{"spec.replicas: 2 is 5, autoscaler, a HorizontalPodAutoscaler; excused: hidden by ignoreDifferences: the manager kube-controller-manager"}},
		"a rule that hides what runs": {live: change("sha256:aa", "sha256:bb"), writer: edit, owned: image,
			rules: []drift.Rule{{Group: "apps", Kind: "Deployment", JQPathExpressions: []string{`.spec.template.spec.containers[] | select(.name == "web") | .image`}}},
			want: []string{"spec.template.spec.containers[web].image: registry.example.com/web@sha256:aa is registry.example.com/web@sha256:bb, human, kubectl edit" +
				"; excused: hidden by ignoreDifferences; finding: the rule"}},
		"a rule that hides a command by its place": {live: change("command: [web, serve]", "command: [sh]"),
			rules: []drift.Rule{{Group: "apps", Kind: "Deployment", JSONPointers: []string{"/spec/template/spec/containers/0/command"}}},
			want:  []string{`spec.template.spec.containers[web].command: ["web","serve"] is ["sh"], webhook, argocd-controller; excused: Argo CD's own write`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := live
			if c.live != nil {
				now = c.live(live)
				if now == live {
					t.Fatal("the live object was not changed")
				}
			}
			p := drift.Pair{Desired: object(t, deployment), Live: object(t, now)}
			if c.writer != "" {
				by(p.Live, c.writer, c.owned)
			}
			if c.applied != nil {
				p.Applied = object(t, c.applied(live))
			}
			got := drift.Compare(p, c.rules)
			if len(got) != len(c.want) {
				t.Fatalf("differences %s, want %d", said(got), len(c.want))
			}
			for i, want := range c.want {
				for part := range strings.SplitSeq(want, "; ") {
					if text := said(got[i : i+1]); !strings.Contains(text, part) {
						t.Errorf("difference is\n%s\nwant\n%s", text, part)
					}
				}
				if strings.Contains(want, "; excused") != (got[i].Excuse != "") || strings.Contains(want, "; finding") != (got[i].Finding != "") {
					t.Errorf("difference is\n%s\nwant\n%s", said(got[i:i+1]), want)
				}
			}
		})
	}
}

func said(all []drift.Difference) string {
	var out []string
	for _, d := range all {
		line := d.Path.String() + ": " + shown(d.Want) + " is " + shown(d.Have) + ", " + string(d.Class) + ", " + d.Owner.Says()
		if d.Excuse != "" {
			line += "; excused: " + d.Excuse
		}
		if d.Finding != "" {
			line += "; finding: " + d.Finding
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return v
	}
	text, _ := json.Marshal(v) //nolint:errchkjson // decoded JSON
	return string(text)
}

func TestWholeObjects(t *testing.T) {
	t.Parallel()
	hook := change("labels: {app: web}}\nspec", "annotations: {argocd.argoproj.io/hook: PreSync}}\nspec")
	for name, c := range map[string]struct {
		desired, live string
		want          drift.Class
	}{
		"deleted":         {deployment, "", drift.Deleted},
		"extra":           {"", live, drift.Extra},
		"a hook":          {hook(deployment), "", ""},
		"wanted as extra": {"", change("annotations: {", "annotations: {argocd.argoproj.io/compare-options: IgnoreExtraneous, ")(live), ""},
		"neither":         {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := drift.Compare(drift.Pair{Desired: object(t, c.desired), Live: object(t, c.live)}, nil)
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || got[0].Class != c.want || len(got[0].Path) > 0) {
				t.Errorf("got %s", said(got))
			}
		})
	}
}

func TestSecretsByTheirKeys(t *testing.T) {
	t.Parallel()
	desired := object(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: one, b: two}\n")
	same := object(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: b25l, b: dHdv}\n")
	if got := drift.Compare(drift.Pair{Desired: desired, Live: same}, nil); len(got) > 0 {
		t.Errorf("the same: %s", said(got))
	}
	other := object(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: b25l, b: eA==}\n")
	if got := drift.Compare(drift.Pair{Desired: desired, Live: other}, nil); len(got) != 1 || got[0].Path.String() != "data.b" {
		t.Errorf("another b: %s", said(got))
	}
}

func TestUnreadRules(t *testing.T) {
	t.Parallel()
	r := drift.Rule{JQPathExpressions: []string{".spec.replicas", `.spec.template.spec.containers[].image`, `.. | select(type == "number")`}}
	if got := r.Unread(); len(got) != 1 || !strings.HasPrefix(got[0], "..") {
		t.Errorf("unread %q", got)
	}
}
