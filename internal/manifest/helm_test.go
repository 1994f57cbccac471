package manifest_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

const configMapTemplate = `apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}
data:
  kube: "{{ .Capabilities.KubeVersion.Version }}"
  policy: "{{ .Capabilities.APIVersions.Has "policy/v1" }}"
  values: {{ toJson .Values | quote }}
`

func chart(more ...string) fstest.MapFS {
	return files(append([]string{
		"charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '>=1.30.0-0'\n",
		"charts/web/values.yaml", "a: chart\nb: chart\nc: chart\n",
		"charts/web/templates/c.yaml", configMapTemplate,
		"charts/web/templates/_helpers.tpl", "{{ define \"x\" }}not yaml: [{{ end }}",
		"charts/web/templates/NOTES.txt", "not yaml: [",
		"charts/web/crds/crd.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n",
		"prod/one.yaml", "\xef\xbb\xbfa: one\nb: one\n",
		"prod/two.yaml", "a: two\n",
	}, more...)...)
}

func TestRenderChart(t *testing.T) {
	t.Parallel()
	rendered, err := manifest.RenderChart(chart(), manifest.Chart{
		Path: "charts/web", Values: []string{"prod/one.yaml", "prod/two.yaml"},
		Release: "shop", Namespace: "shop-prod", KubeVersion: "1.34.1",
	})
	if err != nil {
		t.Fatal(err)
	}
	text := string(rendered.YAML())
	for _, want := range []string{
		"kind: CustomResourceDefinition", "name: shop\n", "namespace: shop-prod", "kube: v1.34.1", `policy: "true"`,
		`values: '{"a":"two","b":"one","c":"chart"}'`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if again, err := manifest.Render(chart(), "charts/web"); err != nil || len(again.Objects) != 2 {
		t.Errorf("a chart folder renders %d objects, error %v", len(again.Objects), err)
	}
}

func TestRenderChartRefuses(t *testing.T) {
	t.Parallel()
	linked := chart()
	linked["charts/web/templates/d.yaml"] = link("../../../../outside.yaml")
	for name, tt := range map[string]struct {
		code manifest.Code
		tree fstest.MapFS
	}{
		"chart to download": {manifest.UnsupportedPlugin, chart("charts/web/Chart.yaml",
			"apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: redis, version: 1.0.0, repository: https://example.com}]\n")},
		"schema from a URL":  {manifest.RemoteBase, chart("charts/web/values.schema.json", `{"properties": {"a": {"$ref": "http://127.0.0.1:1/s.json"}}}`)},
		"schema from a file": {manifest.RemoteBase, chart("charts/web/values.schema.json", `{"$ref": "file:///etc/passwd"}`)},
		"values break the schema": {manifest.RenderFailed, chart("charts/web/values.schema.json",
			`{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"type": "number"}}}`)},
		"wrong Kubernetes":    {manifest.RenderFailed, chart("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nkubeVersion: '<1.20'\n")},
		"template fails":      {manifest.RenderFailed, chart("charts/web/templates/d.yaml", `{{ fail "no" }}`)},
		"template is no YAML": {manifest.RenderFailed, chart("charts/web/templates/d.yaml", "a: [\n")},
		"link leaves":         {manifest.PathEscape, linked},
		"library":             {manifest.RenderFailed, chart("charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\ntype: library\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.RenderChart(tt.tree, manifest.Chart{Path: "charts/web"})
			wantRefusal(t, err, tt.code)
		})
	}
}

func TestSetValue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, path, value, after string }{
		"plain text gets quotes":     {"a: x # c\n", "/a", "1.10", "a: \"1.10\" # c\n"},
		"a word that is no string":   {"a: x\n", "/a", "yes", "a: \"yes\"\n"},
		"a number becomes a string":  {"a: 12\n", "/a", "12", "a: \"12\"\n"},
		"single quotes stay":         {"a: 'it''s'\n", "/a", "it's 2", "a: 'it''s 2'\n"},
		"double quotes stay":         {"a: \"x\\\"y\" # \"\n", "/a", "z", "a: \"z\" # \"\n"},
		"empty value":                {"a:\nb: c\n", "/a", "v1", "a: v1\nb: c\n"},
		"null":                       {"a: {b: ~, c: d}\n", "/a/b", "v1", "a: {b: v1, c: d}\n"},
		"text with a colon":          {"a: x\n", "/a", "b: c", "a: \"b: c\"\n"},
		"block text":                 {"a: |\n  one\n  two\n\n# c\nb: c\n", "/a", "v1", "a: v1\n\n# c\nb: c\n"},
		"alias becomes its own text": {"x: &x v1\na: *x\n", "/a", "v2", "x: &x v1\na: v2\n"},
		"anchor without alias":       {"a: &x v1\n", "/a", "v2", "a: &x v2\n"},
		"element of a list":          {"a:\n- x\n- \"y\"\n", "/a/1", "z", "a:\n- x\n- \"z\"\n"},
		"key with a tilde":           {"\"a~/b\": x\n", "/a~0~1b", "z", "\"a~/b\": z\n"},
		"whole file in JSON":         {"{\"a\": \"x\"}", "/a", "z", "{\"a\": \"z\"}"},
		"several lines":              {"a: x\n", "/a", "one\ntwo", "a: \"one\\ntwo\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := manifest.SetValue(chart("prod/v.yaml", tt.before), "prod", "charts/web", "v.yaml", tt.path, tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(edit.Files["prod/v.yaml"]); got != tt.after {
				t.Errorf("got %q, want %q", got, tt.after)
			}
			if len(manifest.Diff(edit.Before, edit.After)) == 0 {
				t.Error("the rendering does not change")
			}
		})
	}
}

func TestSetValueRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		code          manifest.Code
		content, path string
	}{
		"map":                      {manifest.BadValues, "a: {b: c}\n", "/a"},
		"list":                     {manifest.BadValues, "a: [b]\n", "/a"},
		"not YAML":                 {manifest.BadValues, "a: [\n", "/a"},
		"value over several lines": {manifest.BadValues, "a: one\n  two\n", "/a"},
		"no such key":              {manifest.PathNotFound, "a: b\n", "/A"},
		"below a text":             {manifest.PathNotFound, "a: b\n", "/a/b"},
		"no such index":            {manifest.PathNotFound, "a: [b]\n", "/a/1"},
		"odd index":                {manifest.PathNotFound, "a: [b]\n", "/a/00"},
		"end of the list":          {manifest.PathNotFound, "a: [b]\n", "/a/-"},
		"empty file":               {manifest.PathNotFound, "# none\n", "/a"},
		"no pointer":               {manifest.PathNotFound, "a: b\n", "a"},
		"doubled key":              {manifest.DuplicateKey, "a: b\nc: {d: 1, d: 2}\n", "/a"},
		"two documents":            {manifest.MultiDocument, "a: b\n---\na: c\n", "/a"},
		"bomb":                     {manifest.TooLarge, bomb, "/kind"},
		"too large":                {manifest.TooLarge, "a: b\n" + strings.Repeat("# pad\n", 1<<18), "/a"},
		"through an alias":         {manifest.Alias, "x: &x {b: c}\na: *x\n", "/a/b"},
		"in an anchored map":       {manifest.Alias, "a: &x {b: c}\ny: *x\n", "/a/b"},
		"merged":                   {manifest.Alias, "x: &x {b: c}\na: {<<: *x}\n", "/a/b"},
		"anchored":                 {manifest.Alias, "a: &x c\ny: *x\n", "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.SetValue(chart("prod/v.yaml", tt.content), "prod", "charts/web", "v.yaml", tt.path, "new")
			wantRefusal(t, err, tt.code)
		})
	}
	_, err := manifest.SetValue(chart(), "prod", "charts/web", "../../outside.yaml", "/a", "new")
	wantRefusal(t, err, manifest.PathEscape)
	_, err = manifest.SetValue(chart(), "prod", "../web", "one.yaml", "/a", "new")
	wantRefusal(t, err, manifest.PathEscape)
	_, err = manifest.SetValue(chart(), "prod", "charts/none", "one.yaml", "/a", "new")
	wantRefusal(t, err, manifest.RenderFailed)
	_, err = manifest.SetValue(chart(), "prod", "charts/web", "none.yaml", "/a", "new")
	wantRefusal(t, err, manifest.PathNotFound)
}
