package argocd_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/argocd"
)

func TestLink(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ spec, want string }{
		"one source": {"source: {repoURL: " + repository + ", path: apps/web/overlays/prod}", "apps/web/overlays/prod:0"},
		"other forms": {"source: {repoURL: 'git@GIT.example.com:Shop/config', path: ./apps/web/overlays/prod/, targetRevision: main}",
			"apps/web/overlays/prod:0"},
		"absolute path":       {"source: {repoURL: " + repository + ", path: /apps/web}", "apps/web:0"},
		"root":                {"source: {repoURL: " + repository + ", path: .}", ".:0"},
		"no path":             {"source: {repoURL: " + repository + "}", ".:0"},
		"HEAD":                {"source: {repoURL: " + repository + ", path: a, targetRevision: HEAD}", "a:0"},
		"branch's whole name": {"source: {repoURL: " + repository + ", path: a, targetRevision: refs/heads/main}", "a:0"},
		"tag":                 {"source: {repoURL: " + repository + ", path: a, targetRevision: v1.2}", "a:0 pinned to v1.2"},
		"other branch":        {"source: {repoURL: " + repository + ", path: a, targetRevision: env/prod}", "a:0 pinned to env/prod"},
		"other repository":    {"source: {repoURL: https://git.example.com/shop/other, path: a}", ""},
		"nothing":             {"project: x", ""},
		"two sources": {"sources: [{repoURL: " + repository + ", path: a}, {repoURL: https://example.com/x, path: b}, {repoURL: " + repository + ", path: c, targetRevision: v1}]",
			"a:0 c:2 pinned to v1"},
		"chart elsewhere with values here": {"sources: [{repoURL: https://charts.example.com, chart: web, targetRevision: 1.2.3, helm: {valueFiles: [$values/apps/web/base/values.yaml, $values/apps/web/overlays/prod/values.yaml, $values/apps/web/overlays/prod/more.yaml]}}, {repoURL: " +
			repository + ", targetRevision: main, ref: values}]", "apps/web/base:0 values apps/web/overlays/prod:0 values"},
		"values of a tag": {"sources: [{repoURL: https://charts.example.com, chart: web, helm: {valueFiles: [$v/apps/web/overlays/prod/values.yaml]}}, {repoURL: " +
			repository + ", targetRevision: v1, ref: v}]", "apps/web/overlays/prod:0 values pinned to v1"},
		"values that are rendered too": {"sources: [{repoURL: https://charts.example.com, chart: web, helm: {valueFiles: [$v/a/values.yaml]}}, {repoURL: " +
			repository + ", path: b, ref: v}]", "a:0 values b:1"},
		"chart here": {"source: {repoURL: " + repository + ", path: apps/web/chart, helm: {valueFiles: [values.yaml, ../overlays/prod/values.yaml, /apps/web/values.yaml]}}",
			"apps/web/chart:0 apps/web/overlays/prod:0 values apps/web:0 values"},
		"named by the Application": {"source: {repoURL: " + repository + ", path: chart, helm: {valueFiles: ['../values/$ARGOCD_APP_NAME/${ARGOCD_APP_NAMESPACE}.yaml']}}, destination: {namespace: shop}",
			"chart:0 values/web:0 values"},
		"values elsewhere": {"sources: [{repoURL: " + repository + ", path: chart, helm: {valueFiles: ['https://example.com/v.yaml', $none/a/v.yaml, $v/a/v.yaml, ../../v.yaml, 'x*/v.yaml']}}, {repoURL: https://example.com/x, ref: v}]",
			"chart:0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := application(t, "metadata: {name: web}\nspec: {"+tt.spec+"}\n")
			links := argocd.Link([]argocd.Application{a}, repository, "main")
			var got []string
			for _, path := range slices.SortedFunc(maps.Keys(links), func(x, y string) int { return slices.Index(order(tt.want), x) - slices.Index(order(tt.want), y) }) {
				for _, l := range links[path] {
					text := path + ":" + string(rune('0'+l.Source))
					if l.Values {
						text += " values"
					}
					if _, doubt, _ := strings.Cut(l.Doubt(), "Application web is "); doubt != "" {
						doubt, _, _ = strings.Cut(doubt, ",")
						text += " " + doubt
					}
					if l.FollowsBase != (l.Doubt() == "") {
						t.Errorf("%s: follows %v, doubt %q", path, l.FollowsBase, l.Doubt())
					}
					got = append(got, text)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// order lists the paths of what is wanted.
func order(want string) []string {
	var paths []string
	for word := range strings.FieldsSeq(want) {
		if path, _, ok := strings.Cut(word, ":"); ok {
			paths = append(paths, path)
		}
	}
	return paths
}

func TestLinkSeveral(t *testing.T) {
	t.Parallel()
	var all []argocd.Application
	for _, name := range []string{"eu", "us"} {
		all = append(all, application(t, "metadata: {name: "+name+"}\nspec: {source: {repoURL: "+repository+", path: apps/web/overlays/prod}}\n"))
	}
	links := argocd.Link(all, repository, "main")["apps/web/overlays/prod"]
	if len(links) != 2 || links[0].Name != "eu" || links[1].Name != "us" {
		t.Errorf("got %+v", links)
	}
	if none := argocd.Link(all, "", "main"); len(none) > 0 {
		t.Errorf("a repository without an address has %v", none)
	}
}
