package argocd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/argocd"
)

// FuzzRead reads, expands, links and renders whatever a file may hold: nothing
// may panic, and nothing outside the tree may be linked.
func FuzzRead(f *testing.F) {
	f.Add(everything)
	f.Add(set(true, gitFiles+"files: [{path: '**/*.yaml'}]}\n", "{{.path.basename}}", "{{.x}}"))
	f.Add(set(false, "  - matrix: {generators: [{clusters: {}}, {git: {repoURL: "+repository+", directories: [{path: '{{name}}/*'}]}}]}\n", "{{path[0]}}", ""))
	f.Add(set(true, "  - merge: {mergeKeys: [a], generators: [{list: {elements: [{a: x}]}}, {list: {elementsYaml: '[{a: x}]'}}]}\n", "{{.a}}", "") + "  templatePatch: '[]'\n")
	f.Add("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  sources:\n  - " +
		source("apps/api/chart", ", helm: {valueFiles: [$v/../x, '/${ARGOCD_APP_NAME}'], parameters: [{name: 'a[0].b', value: '{x,y}'}]}") + "\n  - {repoURL: " + repository + ", ref: v}\n")
	known := here
	known.Clusters = clusters
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "repeat") || strings.Contains(text, "until") || strings.Contains(text, "range") || strings.Contains(text, "template") && strings.Contains(text, "define") {
			return // a template may run for as long as it likes
		}
		fsys := shop("set.yaml", text)
		found, err := argocd.Read(fsys)
		if err != nil {
			t.Fatal(err)
		}
		e, err := argocd.Expand(fsys, found.ApplicationSets, known)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Concat(found.Applications, e.Applications)
		for path, links := range argocd.Link(all, repository, "main") {
			if path == ".." || strings.HasPrefix(path, "../") && links[0].Values {
				t.Errorf("%q is linked", path)
			}
		}
		for _, a := range all {
			a.LineOf("spec", "source", "helm")
			if _, err := argocd.OverridesOf(fsys, a, []argocd.Promoted{{Name: "web", Values: []string{"/image/tag"}}}, known); err != nil {
				t.Log(err)
			}
			if _, err := argocd.Render(fsys, a, known); err != nil && err.Error() == "" {
				t.Error("an error says nothing")
			}
		}
	})
}
