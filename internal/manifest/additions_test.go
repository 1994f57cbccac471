package manifest_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"

	"github.com/sluicehq/sluice/internal/manifest"
)

// TestKustomizeAdditions holds each addition against the kustomization that
// `kustomize edit` writes for it.
func TestKustomizeAdditions(t *testing.T) {
	t.Parallel()
	const component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamePrefix: part-\n"
	const merge = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 7}\n"
	for name, tt := range map[string]struct {
		before string
		add    manifest.KustomizeAdditions
		after  string
	}{
		"nothing":           {withBase + webEntry, manifest.KustomizeAdditions{}, withBase + webEntry},
		"prefix and suffix": {withBase + "namePrefix: a-\n", manifest.KustomizeAdditions{NamePrefix: "b-", NameSuffix: "-c"}, withBase + "namePrefix: b-\nnameSuffix: -c\n"},
		"namespace":         {withBase + "namespace: a\n", manifest.KustomizeAdditions{Namespace: "b"}, withBase + "namespace: b\n"},
		"image of the same name": {withBase + "images: [{name: web, newName: x/web, newTag: v1, digest: '" + oldDigest + "'}, {name: orders, newTag: v1}]\n",
			manifest.KustomizeAdditions{Images: []string{"web:v2"}}, withBase + "images: [{name: web, newTag: v2}, {name: orders, newTag: v1}]\n"},
		"image renamed": {withBase, manifest.KustomizeAdditions{Images: []string{"web=" + shopWeb + "@" + newDigest}},
			withBase + "images: [{name: web, newName: " + shopWeb + ", digest: '" + newDigest + "'}]\n"},
		"image with a port":        {withBase, manifest.KustomizeAdditions{Images: []string{"web=localhost:5000/web"}}, withBase + "images: [{name: web, newName: 'localhost:5000/web'}]\n"},
		"image keeps its new name": {withBase + "images: [{name: web, newName: x/web, newTag: v1}]\n", manifest.KustomizeAdditions{Images: []string{"web=*:v2"}}, withBase + "images: [{name: web, newName: x/web, newTag: v2}]\n"},
		"image keeps nothing":      {withBase, manifest.KustomizeAdditions{Images: []string{"web=*:v2"}}, withBase + "images: [{name: web, newTag: v2}]\n"},
		"old image tags":           {withBase + "imageTags: [{name: web, newTag: v1}]\n", manifest.KustomizeAdditions{Images: []string{"web:v2"}}, withBase + "images: [{name: web, newTag: v2}]\n"},
		"images in order of name":  {withBase, manifest.KustomizeAdditions{Images: []string{"web=zeta", "orders=web"}}, withBase + "images: [{name: orders, newName: web}, {name: web, newName: zeta}]\n"},
		"replicas": {withBase + "replicas: [{name: web, count: 2}]\n", manifest.KustomizeAdditions{Replicas: []types.Replica{{Name: "web", Count: 5}}},
			withBase + "replicas: [{name: web, count: 5}]\n"},
		"labels": {withBase + "commonLabels: {a: b}\n", manifest.KustomizeAdditions{Labels: map[string]string{"c": "d"}}, withBase + "commonLabels: {a: b, c: d}\n"},
		"labels by force": {withBase + "commonLabels: {a: b}\n", manifest.KustomizeAdditions{Labels: map[string]string{"a": "d"}, ForceLabels: true},
			withBase + "commonLabels: {a: d}\n"},
		"labels without selectors": {withBase, manifest.KustomizeAdditions{Labels: map[string]string{"c": "d"}, LabelsWithoutSelectors: true},
			withBase + "labels: [{pairs: {c: d}}]\n"},
		"labels in templates": {withBase + "labels: [{pairs: {a: b}, includeTemplates: true}]\n",
			manifest.KustomizeAdditions{Labels: map[string]string{"c": "d"}, LabelsWithoutSelectors: true, LabelsInTemplates: true},
			withBase + "labels: [{pairs: {a: b, c: d}, includeTemplates: true}]\n"},
		"annotations": {withBase, manifest.KustomizeAdditions{Annotations: map[string]string{"c": "d"}}, withBase + "commonAnnotations: {c: d}\n"},
		"patches": {withBase + "patches: [{path: merge.yaml}]\n", manifest.KustomizeAdditions{Patches: []types.Patch{{
			Patch:  "- {op: replace, path: /spec/replicas, value: 9}\n",
			Target: &types.Selector{ResId: resid.NewResIdKindOnly("Deployment", "")},
		}}}, withBase + "patches: [{path: merge.yaml}, {patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 9}]', target: {kind: Deployment}}]\n"},
		"components": {withBase, manifest.KustomizeAdditions{Components: []string{"../../part"}}, withBase + "components: [../../part]\n"},
		"component that is missing": {withBase, manifest.KustomizeAdditions{Components: []string{"../../none", "../../part"}, IgnoreMissing: true},
			withBase + "components: [../../part]\n"},
		"old fields": {withBase + "patchesStrategicMerge: [merge.yaml]\n", manifest.KustomizeAdditions{NamePrefix: "b-"},
			withBase + "patchesStrategicMerge: [merge.yaml]\nnamePrefix: b-\n"},
		"label that another field has": {withBase + "labels: [{pairs: {a: b}}]\n", manifest.KustomizeAdditions{Labels: map[string]string{"a": "c"}},
			withBase + "labels: [{pairs: {a: b}}]\ncommonLabels: {a: c}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := []string{"apps/shop/part/kustomization.yaml", component, prod + "/merge.yaml", merge}
			got, err := manifest.RenderWith(shop(tt.before, more...), prod, manifest.Additions{Kustomize: tt.add})
			if err != nil {
				t.Fatal(err)
			}
			want := render(t, tt.after, more...)
			if got.Hash() != want.Hash() {
				t.Errorf("renderings differ:\n%s", manifest.Text(manifest.Diff(want, got), 0))
			}
		})
	}
}

func TestKustomizeAdditionsRefuse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kustomization string
		add           manifest.KustomizeAdditions
		code          manifest.Code
		message       string
	}{
		"label there already": {withBase + "commonLabels: {a: b}\n", manifest.KustomizeAdditions{Labels: map[string]string{"a": "c"}}, manifest.RenderFailed, "has the label a already"},
		"annotation there already": {withBase + "commonAnnotations: {a: b}\n", manifest.KustomizeAdditions{Annotations: map[string]string{"a": "c"}},
			manifest.RenderFailed, "has the annotation a already"},
		"templates with selectors": {withBase, manifest.KustomizeAdditions{Labels: map[string]string{"a": "c"}, LabelsInTemplates: true}, manifest.RenderFailed, "labelWithoutSelector"},
		"no image":                 {withBase, manifest.KustomizeAdditions{Images: []string{"web"}}, manifest.RenderFailed, `"web" is not of the form`},
		"remote component":         {withBase, manifest.KustomizeAdditions{Components: []string{"https://example.com/part"}}, manifest.RemoteBase, "with what the Application adds: https://example.com/part"},
		"missing component":        {withBase, manifest.KustomizeAdditions{Components: []string{"../none"}}, manifest.RenderFailed, "none"},
		"component outside":        {withBase, manifest.KustomizeAdditions{Components: []string{"../../../../../none"}}, manifest.PathEscape, "leaves the repository"},
		"patch file outside":       {withBase, manifest.KustomizeAdditions{Patches: []types.Patch{{Path: "../../../../../x.yaml"}}}, manifest.PathEscape, "leaves the repository"},
		"remote base in the file":  {withBase + "components: [https://example.com/x]\n", manifest.KustomizeAdditions{NamePrefix: "a-"}, manifest.RemoteBase, "https://example.com/x"},
		"broken file":              {"resources: {a: b}\n", manifest.KustomizeAdditions{NamePrefix: "a-"}, manifest.BadKustomization, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.RenderWith(shop(tt.kustomization), prod, manifest.Additions{Kustomize: tt.add})
			wantRefusal(t, err, tt.code)
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("the message %v does not say %q", err, tt.message)
			}
		})
	}
	_, err := manifest.RenderWith(files("plain/a.yaml", deployment("web:1")), "plain", manifest.Additions{Kustomize: manifest.KustomizeAdditions{NamePrefix: "a-"}})
	wantRefusal(t, err, manifest.NoKustomization)
	_, err = manifest.RenderWith(files("values/values.yaml", "a: b\n"), "values", manifest.Additions{})
	wantRefusal(t, err, manifest.NoKustomization)
}

// TestKustomizeAdditionsLeaveTheTree has two renderings of one tree.
func TestKustomizeAdditionsLeaveTheTree(t *testing.T) {
	t.Parallel()
	tree := shop(withBase + webEntry)
	before := string(tree[prodFile].Data)
	if _, err := manifest.RenderWith(tree, prod, manifest.Additions{Kustomize: manifest.KustomizeAdditions{Images: []string{"web:v9"}}}); err != nil {
		t.Fatal(err)
	}
	if string(tree[prodFile].Data) != before {
		t.Error("the file has changed")
	}
}

func TestHelmAdditions(t *testing.T) {
	t.Parallel()
	tree := chart("prod/file.txt", "x, y\n", "prod/list.yaml", "list: [{a: one, b: one}, {a: two}]\n")
	values := map[string]any{"b": "object", "list": []any{map[string]any{"a": "own"}}}
	for name, tt := range map[string]struct {
		add  manifest.HelmAdditions
		want string // the templates' values
	}{
		"nothing":              {manifest.HelmAdditions{}, `{"a":"chart","b":"chart","c":"chart"}`},
		"value files":          {manifest.HelmAdditions{ValueFiles: []string{"prod/one.yaml", "prod/two.yaml"}}, `{"a":"two","b":"one","c":"chart"}`},
		"missing value file":   {manifest.HelmAdditions{ValueFiles: []string{"prod/none.yaml", "prod/two.yaml"}, IgnoreMissing: true}, `{"a":"two","b":"chart","c":"chart"}`},
		"values over files":    {manifest.HelmAdditions{ValueFiles: []string{"prod/one.yaml"}, Values: map[string]any{"b": "object"}}, `{"a":"one","b":"object","c":"chart"}`},
		"null takes away":      {manifest.HelmAdditions{Values: map[string]any{"b": nil}}, `{"a":"chart","c":"chart"}`},
		"parameters win":       {manifest.HelmAdditions{Values: map[string]any{"b": "object"}, Parameters: []manifest.HelmParameter{{Name: "b", Value: "set"}}}, `{"a":"chart","b":"set","c":"chart"}`},
		"parameters and types": {manifest.HelmAdditions{Parameters: []manifest.HelmParameter{{Name: "a", Value: "12"}, {Name: "b", Value: "12", Text: true}, {Name: "c", Value: "true"}}}, `{"a":12,"b":"12","c":true}`},
		"text wins":            {manifest.HelmAdditions{Parameters: []manifest.HelmParameter{{Name: "a", Value: "text", Text: true}, {Name: "a", Value: "other"}}}, `{"a":"text","b":"chart","c":"chart"}`},
		"commas":               {manifest.HelmAdditions{Parameters: []manifest.HelmParameter{{Name: "a", Value: `x,y\,z`}, {Name: "b", Value: "{x,y}"}}}, `{"a":"x,y,z","b":["x","y"],"c":"chart"}`},
		"element of a list": {manifest.HelmAdditions{ValueFiles: []string{"prod/list.yaml"}, Parameters: []manifest.HelmParameter{{Name: "list[1].a", Value: "set"}}},
			`{"a":"chart","b":"chart","c":"chart","list":[{"a":"one","b":"one"},{"a":"set"}]}`},
		"element of the own list": {manifest.HelmAdditions{Values: values, Parameters: []manifest.HelmParameter{{Name: "list[0].a", Value: "set"}}},
			`{"a":"chart","b":"object","c":"chart","list":[{"a":"set"}]}`},
		"file parameter": {manifest.HelmAdditions{FileParameters: []manifest.HelmFileParameter{{Name: "a", File: "prod/file.txt"}}}, `{"a":"x, y\n","b":"chart","c":"chart"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered, err := manifest.RenderWith(tree, "charts/web", manifest.Additions{Helm: tt.add})
			if err != nil {
				t.Fatal(err)
			}
			if got := rendered.Objects[0].Content["data"].(map[string]any)["values"]; got != tt.want {
				t.Errorf("values %s, want %s", got, tt.want)
			}
		})
	}
	t.Cleanup(func() {
		if own := values["list"].([]any)[0].(map[string]any)["a"]; own != "own" {
			t.Errorf("the Application's own values were changed to %v", own)
		}
	})
}

func TestHelmAdditionsOfTheRelease(t *testing.T) {
	t.Parallel()
	tree := chart("charts/web/templates/test.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: t, annotations: {helm.sh/hook: test}}\n")
	kinds := func(a manifest.HelmAdditions) string {
		rendered, err := manifest.RenderWith(tree, "charts/web", manifest.Additions{Helm: a})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, object := range rendered.Objects {
			all = append(all, object.Kind+" "+object.Namespace+"/"+object.Name)
		}
		return strings.Join(all, ", ")
	}
	if got, want := kinds(manifest.HelmAdditions{}), "ConfigMap default/web, Pod /t, CustomResourceDefinition /x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := kinds(manifest.HelmAdditions{Release: "r", Namespace: "n", SkipCRDs: true, SkipTests: true}), "ConfigMap n/r"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHelmAdditionsRefuse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		add  manifest.HelmAdditions
		code manifest.Code
	}{
		"missing value file":     {manifest.HelmAdditions{ValueFiles: []string{"prod/none.yaml"}}, manifest.BadValues},
		"value file outside":     {manifest.HelmAdditions{ValueFiles: []string{"../none.yaml"}}, manifest.PathEscape},
		"parameter without end":  {manifest.HelmAdditions{Parameters: []manifest.HelmParameter{{Name: "a[", Value: "b"}}}, manifest.BadValues},
		"file parameter outside": {manifest.HelmAdditions{FileParameters: []manifest.HelmFileParameter{{Name: "a", File: "../x"}}}, manifest.PathEscape},
		"file parameter missing": {manifest.HelmAdditions{FileParameters: []manifest.HelmFileParameter{{Name: "a", File: "prod/none"}}}, manifest.BadValues},
		"other Kubernetes":       {manifest.HelmAdditions{KubeVersion: "1.20.0"}, manifest.RenderFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.RenderWith(chart(), "charts/web", manifest.Additions{Helm: tt.add})
			wantRefusal(t, err, tt.code)
		})
	}
}

func TestDirectoryAdditions(t *testing.T) {
	t.Parallel()
	tree := files(
		"plain/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"plain/below/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
		"plain/below/deep/c.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}`,
		"plain/below/d.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n",
	)
	tree["plain/link"] = link("below")
	for name, tt := range map[string]struct {
		add  manifest.DirectoryAdditions
		want string
	}{
		"one folder":  {manifest.DirectoryAdditions{}, "a"},
		"all folders": {manifest.DirectoryAdditions{Recurse: true}, "a b c d"},
		"some files":  {manifest.DirectoryAdditions{Recurse: true, Takes: func(name string) bool { return name != "below/b.yaml" }}, "a c d"},
	} {
		rendered, err := manifest.RenderWith(tree, "plain", manifest.Additions{Directory: tt.add})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := names(rendered); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

func names(r manifest.Rendered) string {
	var all []string
	for _, object := range r.Objects {
		all = append(all, object.Name)
	}
	return strings.Join(all, " ")
}

func TestOverlaid(t *testing.T) {
	t.Parallel()
	plain := func(tree fstest.MapFS) manifest.Rendered {
		rendered, err := manifest.Render(tree, "p")
		if err != nil {
			t.Fatal(err)
		}
		return rendered
	}
	const a, other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: lower}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	both := plain(files("p/a.yaml", a, "p/b.yaml", other)).Overlaid(plain(files("p/a.yaml", strings.Replace(a, "lower", "upper", 1))))
	if names(both) != "a b" || both.Objects[0].Content["data"].(map[string]any)["x"] != "upper" {
		t.Errorf("got\n%s", both.YAML())
	}
}

func TestOverriddenImages(t *testing.T) {
	t.Parallel()
	without := render(t, withBase+"images: [{name: web, newName: "+shopWeb+", digest: '"+newDigest+"'}]\n")
	with := func(a manifest.KustomizeAdditions) []manifest.Image {
		rendered, err := manifest.RenderWith(shop(withBase+"images: [{name: web, newName: "+shopWeb+", digest: '"+newDigest+"'}]\n"), prod, manifest.Additions{Kustomize: a})
		if err != nil {
			t.Fatal(err)
		}
		return manifest.OverriddenImages(without, rendered)
	}
	if got := with(manifest.KustomizeAdditions{NamePrefix: "a-", Images: []string{"other:v1"}}); len(got) != 0 {
		t.Errorf("a prefix overrides %v", got)
	}
	got := with(manifest.KustomizeAdditions{NamePrefix: "a-", Images: []string{"web:v1"}})
	if want := without.Images()[:1]; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
