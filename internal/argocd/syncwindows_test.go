package argocd_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/argocd"
)

func jsonOf(t *testing.T, text string) []byte {
	t.Helper()
	out, err := yaml.YAMLToJSON([]byte(text))
	if err != nil || !json.Valid(out) {
		t.Fatal(err)
	}
	return out
}

const webProd = `
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web-prod, namespace: argocd}
spec: {project: shop, source: {repoURL: https://git.example/c.git, path: p}, destination: {server: "https://kubernetes.default.svc", namespace: shop}}
`

func project(namespace, windows string) string {
	return "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: shop, namespace: " + namespace + "}\nspec:\n  syncWindows: " + windows + "\n"
}

// Of each hour a window is active for the first half.
const (
	everyHour = "schedule: '0 * * * *', duration: 30m, "
	all       = everyHour + "applications: ['*']"
)

func TestSyncWindowsDecideAsArgoCDDoes(t *testing.T) {
	t.Parallel()
	active, idle := time.Date(2026, 3, 2, 9, 10, 0, 0, time.UTC), time.Date(2026, 3, 2, 9, 40, 0, 0, time.UTC)
	const never = "schedule: '0 0 1 1 *', duration: 1h, applications: ['*']" // not at any of the two moments
	for name, tt := range map[string]struct {
		windows                        string
		manualActive, manualIdle       bool
		automaticActive, automaticIdle bool
	}{
		"allow":                               {"[{kind: allow, " + all + "}]", true, false, true, false},
		"deny":                                {"[{kind: deny, " + all + "}]", false, true, false, true},
		"allow, manual syncs pass":            {"[{kind: allow, manualSync: true, " + all + "}]", true, true, true, false},
		"deny, manual syncs pass":             {"[{kind: deny, manualSync: true, " + all + "}]", true, true, false, true},
		"one of two denies lets manual pass":  {"[{kind: deny, manualSync: true, " + all + "}, {kind: deny, " + all + "}]", false, true, false, true},
		"one of two allows lets manual pass":  {"[{kind: allow, manualSync: true, " + never + "}, {kind: allow, " + all + "}]", true, false, true, false},
		"a passed deny passes an idle allow":  {"[{kind: deny, manualSync: true, " + all + "}, {kind: allow, " + never + "}]", true, false, false, false},
		"deny wins":                           {"[{kind: allow, " + all + "}, {kind: deny, " + all + "}]", false, false, false, false},
		"another application's":               {"[{kind: deny, " + everyHour + "applications: [api-*]}]", true, true, true, true},
		"its namespace's":                     {"[{kind: deny, " + everyHour + "namespaces: [sh*]}]", false, true, false, true},
		"its cluster's, by name":              {"[{kind: deny, " + everyHour + "clusters: [in-cluster]}]", false, true, false, true},
		"its cluster's, by address":           {"[{kind: deny, " + everyHour + "clusters: ['https://kubernetes.default.*']}]", false, true, false, true},
		"another cluster's":                   {"[{kind: deny, " + everyHour + "clusters: ['https://other.example', other]}]", true, true, true, true},
		"all of its lists, of which one fits": {"[{kind: deny, andOperator: true, " + everyHour + "applications: ['*'], namespaces: [other]}]", true, true, true, true},
		"all of its lists, which fit":         {"[{kind: deny, andOperator: true, " + everyHour + "applications: ['*'], namespaces: [shop]}]", false, true, false, true},
		"a zone":                              {"[{kind: allow, timeZone: Europe/Berlin, schedule: '0 10 * * *', duration: 30m, applications: ['*']}]", true, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, manual := range []bool{true, false} {
				w, err := argocd.Engine{}.SyncWindows(jsonOf(t, webProd), [][]byte{jsonOf(t, project("argocd", tt.windows))}, manual)
				if err != nil {
					t.Fatal(err)
				}
				wants := map[time.Time]bool{active: tt.automaticActive, idle: tt.automaticIdle}
				if manual {
					wants = map[time.Time]bool{active: tt.manualActive, idle: tt.manualIdle}
				}
				for at, want := range wants {
					open := w.Decide == nil || w.Decide(at).Open
					if open != want {
						t.Errorf("manual %v at %s: open is %v, want %v", manual, at.Format("15:04"), open, want)
					}
				}
			}
		})
	}
}

func TestSyncWindowsOfWhichProject(t *testing.T) {
	t.Parallel()
	deny, none := project("elsewhere", "[{kind: deny, schedule: '* * * * *', duration: 1h, applications: ['*']}]"), project("argocd", "[]")
	other := strings.Replace(deny, "name: shop", "name: other", 1)
	for name, tt := range map[string]struct {
		projects []string
		held     bool
		problem  string
	}{
		"none there":              {[]string{other}, false, ""},
		"beside the application":  {[]string{deny, none}, false, ""},
		"elsewhere":               {[]string{other, deny}, true, ""},
		"in several others":       {[]string{deny, strings.Replace(deny, "elsewhere", "third", 1)}, false, "several namespaces"},
		"with a broken schedule":  {[]string{project("argocd", "[{kind: deny, schedule: 'each day', duration: 1h, applications: ['*']}]")}, false, "schedule"},
		"with an unknown cluster": {[]string{project("argocd", "[{kind: deny, schedule: '* * * * *', duration: 1h, clusters: [prod-eu]}]")}, false, "only Argo CD knows"},
		"that is malformed":       {[]string{project("argocd", "7")}, false, "syncWindows"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			application := webProd
			if name == "with an unknown cluster" {
				application = strings.Replace(webProd, "kubernetes.default.svc", "prod.example", 1)
			}
			var documents [][]byte
			for _, p := range tt.projects {
				documents = append(documents, jsonOf(t, p))
			}
			w, err := argocd.Engine{}.SyncWindows(jsonOf(t, application), documents, true)
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) {
					t.Fatalf("the error is %v, want one that says %q", err, tt.problem)
				}
				return
			}
			if err != nil || w.Project != "shop" {
				t.Fatalf("project %q: %v", w.Project, err)
			}
			if held := w.Decide != nil && !w.Decide(time.Now()).Open; held != tt.held {
				t.Errorf("held is %v, want %v", held, tt.held)
			}
		})
	}
}
