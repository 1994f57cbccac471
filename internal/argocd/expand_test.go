package argocd_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/argocd"
)

// tree has files that generators read.
func tree(more ...string) map[string]string {
	all := map[string]string{
		"apps/web/config.yaml":                       "name: web\nport: 8080\nteam: {name: shop, live: true, tags: [a, b]}\n",
		"apps/api/config.yaml":                       "- {name: api-one}\n- {name: api-two, team: {name: core}}\n",
		"apps/web/overlays/prod/kustomization.yaml":  "",
		"apps/web/overlays/dev_1/kustomization.yaml": "",
		"apps/.hidden/overlays/x/kustomization.yaml": "",
		"clusters/eu/one/config.json":                `{"cluster": "eu-1"}`,
		"clusters/us/config.json":                    `{"cluster": "us"}`,
		"clusters/us/empty.yaml":                     "",
		"broken/config.yaml":                         "[1, 2]\n",
	}
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// set writes an ApplicationSet. Its Applications are named by name, and their
// project says what else is asked for.
func set(goTemplate bool, generators, name, project string) string {
	head := "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\nspec:\n"
	if goTemplate {
		head += "  goTemplate: true\n  goTemplateOptions: ['missingkey=error']\n"
	}
	return head + "  generators:\n" + generators + "  template:\n    metadata: {name: '" + name + "'}\n    spec: {project: '" + project + "'}\n"
}

var clusters = []argocd.Cluster{
	{Name: "in-cluster", Server: server},
	{Name: "prod_eu", Server: "https://eu", Labels: map[string]string{"environment": "prod", "region": "eu"}},
	{Name: "prod-us", Server: "https://us", Labels: map[string]string{"environment": "prod", "region": "us"}, Annotations: map[string]string{"owner": "ops"}},
	{Name: "dev", Server: "https://dev", Labels: map[string]string{"environment": "dev"}},
}

const gitFiles = "  - git: {repoURL: 'ssh://git@git.example.com/shop/config', revision: HEAD, "

func TestExpand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  string
		want string // name=project of each
	}{
		"list, old form": {set(false, "  - list: {elements: [{a: x, values: {b: u}}, {a: z}]}\n", "{{a}}-{{ values.b }}", "{{none}}{{}}"),
			"x-u={{none}}{{}} z-{{ values.b }}={{none}}{{}}"},
		"list": {set(true, "  - list: {elements: [{a: x, num: 1}, {a: z, num: 2}], elementsYaml: '[{a: w, num: 3}]'}\n", "{{.a}}", "{{add .num 1}}"), "x=2 z=3 w=4"},
		"files, old form": {set(false, gitFiles+"files: [{path: apps/*/config.yaml}], values: {v: '{{name}}!'}}\n", "{{name}}", "{{path}}|{{path.basename}}|{{path[1]}}|{{path.filename}}|{{team.name}}|{{team.live}}|{{team.tags.1}}|{{port}}|{{values.v}}"),
			"api-one=apps/api|api|api|config.yaml|{{team.name}}|{{team.live}}|{{team.tags.1}}|{{port}}|api-one! " +
				"api-two=apps/api|api|api|config.yaml|core|{{team.live}}|{{team.tags.1}}|{{port}}|api-two! " +
				"web=apps/web|web|web|config.yaml|shop|true|b|8080|web!"},
		"files": {set(true, gitFiles+"files: [{path: 'apps/*/config.yaml'}, {path: apps/api/*, exclude: true}], values: {v: '{{.port}}'}}\n", "{{.name}}",
			"{{.path.path}}|{{.path.basename}}|{{index .path.segments 1}}|{{.path.filename}}|{{.team.name}}|{{.values.v}}"), "web=apps/web|web|web|config.yaml|shop|8080"},
		"files with a prefix": {set(true, gitFiles+"pathParamPrefix: my, files: [{path: apps/web/config.yaml}]}\n", "{{.name}}", "{{.my.path.basename}}"), "web=web"},
		"files in folders":    {set(false, gitFiles+"files: [{path: 'clusters/**/config.json'}]}\n", "{{cluster}}", "{{path.basename}}"), "eu-1=one us=us"},
		"an empty file":       {set(true, gitFiles+"files: [{path: clusters/us/empty.yaml}]}\n", "{{.path.filenameNormalized}}", ""), "empty.yaml="},
		"folders": {set(true, gitFiles+"directories: [{path: apps/*/overlays/*}, {path: apps/*/overlays/prod, exclude: true}]}\n", "{{.path.basenameNormalized}}", "{{.path.path}}"),
			"dev-1=apps/web/overlays/dev_1"},
		"folders, old form": {set(false, gitFiles+"directories: [{path: apps/*}], values: {v: '{{path.basename}}-x'}}\n", "{{path.basename}}", "{{path[0]}}{{values.v}}"), "api=appsapi-x web=appsweb-x"},
		"all clusters":      {set(false, "  - clusters: {}\n", "{{nameNormalized}}", "{{server}}"), "in-cluster=" + server + " prod-eu=https://eu prod-us=https://us dev=https://dev"},
		"some clusters": {set(true, "  - clusters: {selector: {matchLabels: {environment: prod}, matchExpressions: [{key: region, operator: In, values: [us]}]}, values: {r: '{{.metadata.labels.region}}'}}\n",
			"{{.name}}", "{{.values.r}}{{.metadata.annotations.owner}}"), "prod-us=usops"},
		"clusters without a label": {set(false, "  - clusters: {selector: {matchExpressions: [{key: region, operator: DoesNotExist}]}}\n", "{{name}}", "{{metadata.labels.environment}}"), "dev=dev"},
		"flat list":                {set(true, "  - clusters: {flatList: true, selector: {matchLabels: {environment: prod}}}\n", "one", "{{range .clusters}}{{.name}},{{end}}"), "one=prod_eu,prod-us,"},
		"matrix": {set(true, "  - matrix: {generators: [{list: {elements: [{a: x, both: first}, {a: u, both: first}]}}, {clusters: {selector: {matchLabels: {environment: prod}}, values: {v: '{{.a}}'}}}]}\n",
			"{{.a}}-{{.name}}", "{{.both}}{{.values.v}}"), "x-prod_eu=firstx x-prod-us=firstx u-prod_eu=firstu u-prod-us=firstu"},
		"matrix with a path of the first": {set(false, "  - matrix:\n      generators:\n      - list: {elements: [{region: eu/one}, {region: us}]}\n      - git: {repoURL: "+repository+", revision: main, files: [{path: 'clusters/{{region}}/config.json'}]}\n",
			"{{cluster}}", "{{region}}"), "eu-1=eu/one us=us"},
		"matrix in a matrix": {set(false, "  - matrix: {generators: [{matrix: {generators: [{list: {elements: [{a: x}]}}, {list: {elements: [{b: u}]}}]}}, {list: {elements: [{c: z}]}}]}\n", "{{a}}{{b}}{{c}}", ""), "xuz="},
		"merge": {set(true, "  - merge: {mergeKeys: [name], generators: [{list: {elements: [{name: a, x: base, in: {u: base, z: base}}, {name: b, x: base, in: {u: own, z: own}}]}}, {list: {elements: [{name: a, in: {u: over}}, {name: none, x: over}]}}]}\n",
			"{{.name}}", "{{.x}}{{.in.u}}{{.in.z}}"), "a=baseoverbase b=baseownown"},
		"merge, old form": {set(false, "  - merge: {mergeKeys: [name], generators: [{list: {elements: [{name: a, x: base}, {name: b, x: base}]}}, {list: {elements: [{name: a, x: over}]}}]}\n",
			"{{name}}", "{{x}}"), "a=over b=base"},
		"selector over parameters":  {set(true, "  - list: {elements: [{a: x, in: {b: u}}, {a: z, in: {b: w}}]}\n    selector: {matchLabels: {in.b: u}, matchExpressions: [{key: a, operator: NotIn, values: [z]}, {key: a, operator: Exists}]}\n", "{{.a}}", ""), "x="},
		"template of the generator": {set(false, "  - list: {elements: [{a: x}], template: {metadata: {}, spec: {project: 'own-{{a}}', destination: {}}}}\n", "{{a}}", "common"), "x=own-x"},
		"functions":                 {set(true, "  - list: {elements: [{a: 'X_y'}]}\n", "{{ normalize .a }}", `{{ .a | lower | replace "_" "-" | default "z" }}{{ dig "none" "-d" . }}{{ index (fromYaml "k: v") "k" }}{{ toYaml .a }}`), "x-y=x-y-dvX_y"},
		"templatePatch": {set(true, "  - list: {elements: [{a: x, auto: true}, {a: u, auto: false}]}\n", "{{.a}}", "p") +
			"  templatePatch: |\n    spec:\n      project: other\n    {{- if .auto }}\n      syncPolicy: {automated: {prune: {{ .auto }}}}\n    {{- end }}\n", "x=p+auto u=p"},
		"templatePatch as JSON": {set(true, "  - list: {elements: [{a: x}]}\n", "{{.a}}", "p") +
			"  templatePatch: '[{\"op\": \"add\", \"path\": \"/spec/syncPolicy\", \"value\": {\"automated\": {}}}]'\n", "x=p+auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := here
			known.Clusters = clusters
			var pairs []string
			for file, text := range tree("argocd/set.yaml", tt.set) {
				pairs = append(pairs, file, text)
			}
			e := expand(t, files(pairs...), known)
			var got []string
			for _, a := range e.Applications {
				text := a.Name + "=" + a.Project
				if a.SyncPolicy.IsAutomated() {
					text += "+auto"
				}
				got = append(got, text)
			}
			if len(e.Unexpanded) > 0 {
				t.Errorf("unexpanded: %v", e.Unexpanded)
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestExpandedApplication(t *testing.T) {
	t.Parallel()
	e := expand(t, files("argocd/set.yaml", `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: all, namespace: argocd}
spec:
  generators:
  - list: {elements: [{name: web, key: tier}]}
  template:
    metadata:
      name: '{{name}}'
      namespace: elsewhere
      labels: {'{{key}}': '{{name}}'}
    spec:
      syncPolicy:
        automated: {enabled: false}
      ignoreDifferences:
      - {kind: Secret}
`), here)
	a := e.Applications[0]
	set := argocd.Place{File: "argocd/set.yaml", Line: 2}
	if a.Namespace != "argocd" || a.Labels["tier"] != "web" || a.From == nil || *a.From != (argocd.Origin{ApplicationSet: "all", Place: set}) {
		t.Errorf("got %+v, from %+v", a, a.From)
	}
	if a.File != "argocd/set.yaml" || a.Line != 8 || a.LineOf("spec", "syncPolicy", "automated") != 15 || a.IgnoreDifferences[0].Line != 17 {
		t.Errorf("lines %d, %d, %d", a.Line, a.LineOf("spec", "syncPolicy", "automated"), a.IgnoreDifferences[0].Line)
	}
	if a.SyncPolicy.IsAutomated() {
		t.Error("automated sync that is not enabled counts")
	}
}

func TestUnexpanded(t *testing.T) {
	t.Parallel()
	two := "  - list: {elements: [{a: x}]}\n"
	for want, text := range map[string]string{
		"clusters|which clusters Argo CD knows is not known here":                          set(false, "  - clusters: {}\n", "x", ""),
		"scmProvider|it asks a server":                                                     set(false, "  - scmProvider: {}\n", "x", ""),
		"pullRequest|it asks a server":                                                     set(false, "  - pullRequest: {}\n", "x", ""),
		"plugin|it asks a server":                                                          set(false, "  - plugin: {}\n", "x", ""),
		"oracle|this kind is not known here":                                               set(false, "  - oracle: {}\n", "x", ""),
		"|it has not exactly one kind":                                                     set(false, "  - list: {}\n    git: {}\n", "x", ""),
		"git|it reads another repository, https://git.example.com/b":                       set(false, "  - git: {repoURL: 'https://me:secret@git.example.com/b', files: [{path: x}]}\n", "x", ""),
		"git|it reads the revision v1, not main":                                           set(false, "  - git: {repoURL: "+repository+", revision: v1, files: [{path: x}]}\n", "x", ""),
		"git|it names neither":                                                             set(false, "  - git: {repoURL: "+repository+"}\n", "x", ""),
		"git|broken/config.yaml holds neither":                                             set(false, gitFiles+"files: [{path: broken/config.yaml}]}\n", "x", ""),
		`git|the pattern "[" has a [ without an end`:                                       set(false, gitFiles+"files: [{path: '['}]}\n", "x", ""),
		`git|the pattern "apps/[" is malformed`:                                            set(false, gitFiles+"directories: [{path: 'apps/['}]}\n", "x", ""),
		"list|it makes a second Application named x":                                       set(false, "  - list: {elements: [{a: x}, {a: u}]}\n", "x", ""),
		"list|the template gives an Application no name":                                   set(false, two, "", ""),
		"list|its element 1 has a num that is not text":                                    set(false, "  - list: {elements: [{num: 1}]}\n", "x", ""),
		"list|its elementsYaml is no list":                                                 set(true, "  - list: {elementsYaml: '{a: b}'}\n", "x", ""),
		`list|the template "{{.none}}": map has no entry for key`:                          set(true, two, "{{.none}}", ""),
		`list|the template "{{env \"HOME\"}}": :1: function "env" not`:                     set(true, two, `{{env "HOME"}}`, ""),
		`list|the template "{{now}}": :1: function "now" not`:                              set(true, two, `{{now}}`, ""),
		`list|the template "{{repeat 2000000 \"x\"}}": the template makes more than 1 MiB`: set(true, two, `{{repeat 2000000 "x"}}`, ""),
		"list|templatePatch needs goTemplate":                                              set(false, two, "x", "") + "  templatePatch: '{}'\n",
		"list|templatePatch: ":                                                             set(true, two, "x", "") + "  templatePatch: '{'\n",
		"list|the selector has the unknown operator":                                       set(true, two+"    selector: {matchExpressions: [{key: a, operator: Near}]}\n", "x", ""),
		"matrix|a matrix takes two generators":                                             set(false, "  - matrix: {generators: [{list: {}}]}\n", "x", ""),
		"matrix|its generator clusters: which clusters":                                    set(false, "  - matrix: {generators: [{list: {elements: [{a: x}]}}, {clusters: {}}]}\n", "x", ""),
		"matrix|both of its generators give a":                                             set(false, "  - matrix: {generators: [{list: {elements: [{a: x}]}}, {list: {elements: [{a: u}]}}]}\n", "x", ""),
		"merge|a merge takes at least two":                                                 set(false, "  - merge: {mergeKeys: [a], generators: [{list: {}}]}\n", "x", ""),
		"merge|two sets of parameters have the same a":                                     set(false, "  - merge: {mergeKeys: [a], generators: [{list: {elements: [{a: x}, {a: x}]}}, {list: {}}]}\n", "x", ""),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			pairs := []string{"set.yaml", text, "broken/config.yaml", "[1]\n", "apps/x.yaml", ""}
			e := expand(t, files(pairs...), here)
			kind, reason, _ := strings.Cut(want, "|")
			if len(e.Unexpanded) != 1 || e.Unexpanded[0].Generator != kind || !strings.HasPrefix(e.Unexpanded[0].Reason, reason) {
				t.Errorf("unexpanded %q, want %q", e.Unexpanded, want)
			}
			if strings.Contains(e.Unexpanded[0].String(), "secret") {
				t.Errorf("a password is shown: %v", e.Unexpanded[0])
			}
		})
	}
	unknown := expand(t, files("set.yaml", set(false, gitFiles+"files: [{path: x}]}\n", "x", "")), argocd.Known{})
	if len(unknown.Unexpanded) != 1 || !strings.HasPrefix(unknown.Unexpanded[0].String(), "set.yaml:6: the generator git of ApplicationSet all: the address") {
		t.Errorf("unexpanded %v", unknown.Unexpanded)
	}
}

// TestGlobs has what a pattern takes by default and with the new globbing. Where
// the two differ, it is noted.
func TestGlobs(t *testing.T) {
	t.Parallel()
	all := []string{"a/config.yaml", "a/b/config.yaml", "a/b/c/config.yaml", "a/x1.yaml", "a/x2.yaml", "a/b/x1.yaml", "top.yaml", "a/.h/config.yaml"}
	for pattern, tt := range map[string]struct {
		want  string
		noted bool
	}{
		"a/*/config.yaml":   {"a/.h/config.yaml a/b/c/config.yaml a/b/config.yaml", true},
		"a/b/config.yaml":   {"a/b/config.yaml", false},
		"/a/b/config.yaml":  {"a/b/config.yaml", false},
		"a/b/*/config.yaml": {"a/b/c/config.yaml", false},
		"a/**/config.yaml":  {"a/.h/config.yaml a/b/c/config.yaml a/b/config.yaml", true},
		"a/x?.yaml":         {"a/x1.yaml a/x2.yaml", false},
		"a/x[!1].yaml":      {"a/x2.yaml", false},
		"a/x[1-2].yaml":     {"a/x1.yaml a/x2.yaml", false},
		`a/x\1.yaml`:        {"a/x1.yaml", false},
		"a/{x1,x2}.yaml":    {"", true},
		"*.yaml":            {"a/.h/config.yaml a/b/c/config.yaml a/b/config.yaml a/b/x1.yaml a/config.yaml a/x1.yaml a/x2.yaml ./top.yaml", true},
		"t*p.yaml":          {"./top.yaml", false},
		"a/b":               {"a/b/c/config.yaml a/b/config.yaml a/b/x1.yaml", true},
		"a.b":               {"", false},
	} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			pairs := []string{"set/set.yml", set(true, gitFiles+"files: [{path: '"+pattern+"'}]}\n", "{{.path.path}}/{{.path.filename}}", "")}
			for _, name := range all {
				pairs = append(pairs, name, "")
			}
			e := expand(t, files(pairs...), here)
			if got := names(e.Applications); got != tt.want || len(e.Unexpanded) > 0 {
				t.Errorf("got %s, want %s; unexpanded %v", got, tt.want, e.Unexpanded)
			}
			if (len(e.Notes) > 0) != tt.noted {
				t.Errorf("notes %v", e.Notes)
			}
		})
	}
}

// TestExpandLimits has a matrix that would give millions of Applications.
func TestExpandLimits(t *testing.T) {
	t.Parallel()
	list := "{list: {elements: [" + strings.Repeat("{x: x},", 2000) + "]}}"
	e := expand(t, files("set.yaml", set(false, "  - matrix: {generators: ["+list+", "+list+"]}\n", "x", "")), here)
	if len(e.Applications) > 0 || len(e.Unexpanded) != 1 || !strings.Contains(e.Unexpanded[0].Reason, "more than 20000") {
		t.Errorf("%d Applications, unexpanded %v", len(e.Applications), e.Unexpanded)
	}
}

func TestExpandIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	all := tree("set.yaml", set(true, gitFiles+"files: [{path: 'apps/*/config.yaml'}]}\n", "{{.name}}", ""))
	var pairs []string
	for _, file := range slices.Sorted(maps.Keys(all)) {
		pairs = append(pairs, file, all[file])
	}
	first := names(expand(t, files(pairs...), here).Applications)
	for range 5 {
		if again := names(expand(t, files(pairs...), here).Applications); again != first {
			t.Fatalf("got %s, then %s", first, again)
		}
	}
}
