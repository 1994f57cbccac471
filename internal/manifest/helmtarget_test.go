package manifest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

// echo renders its values and what Helm says of itself.
func echo(folder, name string) []string {
	return []string{
		folder + "/Chart.yaml", "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n",
		folder + "/values.yaml", "from: " + folder + "\n",
		folder + "/templates/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n" +
			"  values: {{ omit .Values \"global\" | toJson | quote }}\n  release: {{ .Release.Name }}/{{ .Release.Namespace }} {{ .Capabilities.KubeVersion.Version }}\n",
	}
}

func tree(groups ...[]string) fstest.MapFS {
	all := fstest.MapFS{}
	for _, group := range groups {
		with(all, group...)
	}
	return all
}

func TestRenderHelmTarget(t *testing.T) {
	t.Parallel()
	overlay := []string{helmValues, "a: overlay\n"}
	for name, tt := range map[string]struct {
		tree    fstest.MapFS
		values  string
		release string
	}{
		"chart of the application": {tree(echo("apps/shop/chart", "x"), overlay), `{"a":"overlay","from":"apps/shop/chart"}`, "shop/default v1.36.0"},
		"chart as base":            {tree(echo("apps/shop/base", "x"), overlay), `{"a":"overlay","from":"apps/shop/base"}`, ""},
		"one of charts": {tree(echo("apps/shop/charts/web", "x"), overlay, []string{"apps/shop/charts/README.md", ""}),
			`{"a":"overlay","from":"apps/shop/charts/web"}`, ""},
		"own chart": {tree(echo(helmProd, "x"), echo("apps/shop/chart", "y"), []string{helmValues, "a: own\n"}), `{"a":"own"}`, "shop/default v1.36.0"},
		"all values": {tree(echo("apps/shop/chart", "x"), []string{"apps/shop/values.yaml", "a: app\nb: app\nc: app\n", helmValues, "b: overlay\nc: overlay\n",
			helmProd + "/values-prod.yaml", "c: prod\n", helmProd + "/values.schema.json", "{}"}),
			`{"a":"app","b":"overlay","c":"prod","from":"apps/shop/chart"}`, ""},
		"only the environment's": {tree(echo("apps/shop/chart", "x"), []string{helmProd + "/values-eu.yaml", "a: eu\n"}), `{"a":"eu","from":"apps/shop/chart"}`, ""},
		"declared": {tree(echo("charts/common", "x"), []string{"apps/shop/overlays/values.yaml", "a: all\n", helmProd + "/values-2.yaml", "a: 2\n", helmProd + "/values-1.yaml", "a: 1\nb: 1\n",
			"apps/shop/sluice.yaml", "helm: {chart: ../../charts/common, values: [../values.yaml, values-1.yaml, values-2.yaml], release: web, namespace: shop, kube_version: 1.34.1}\nother: [1]\n"}),
			`{"a":2,"b":1,"from":"charts/common"}`, "web/shop v1.34.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered, err := manifest.Render(tt.tree, helmProd)
			if err != nil {
				t.Fatal(err)
			}
			data := rendered.Objects[0].Content["data"].(map[string]any)
			if diff := cmp.Diff(tt.values, data["values"]); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if tt.release != "" && data["release"] != tt.release {
				t.Errorf("release %v", data["release"])
			}
		})
	}
}

func TestRenderHelmTargetWithoutTests(t *testing.T) {
	t.Parallel()
	hook := func(kind string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + kind + ", annotations: {helm.sh/hook: " + kind + "}}\n"
	}
	rendered, err := manifest.Render(tree(echo("apps/shop/chart", "x"), []string{helmValues, "",
		"apps/shop/chart/templates/tests/t.yaml", hook("test") + "---\n" + hook("pre-install")}), helmProd)
	if err != nil || len(rendered.Objects) != 2 || rendered.Objects[1].Name != "pre-install" {
		t.Errorf("%d objects, error %v", len(rendered.Objects), err)
	}
}

func TestRenderHelmTargetRefuses(t *testing.T) {
	t.Parallel()
	overlay := []string{helmValues, "a: b\n"}
	app := tree(echo("apps/shop/chart", "x"), overlay)
	linked := with(copyTree(app), "apps/other/values.yaml", "")
	linked[helmProd+"/values-prod.yaml"] = link("../../../../../outside.yaml")
	for name, tt := range map[string]struct {
		tree    fstest.MapFS
		code    manifest.Code
		message string
	}{
		"no chart":         {tree(overlay), manifest.NoKustomization, "helm.chart in apps/shop/sluice.yaml"},
		"two charts":       {tree(echo("apps/shop/charts/a", "a"), echo("apps/shop/charts/b", "b"), overlay), manifest.NoKustomization, "apps/shop/charts/a, apps/shop/charts/b"},
		"values unordered": {with(copyTree(app), helmProd+"/values-big.yaml", ""), manifest.BadValues, "helm.values in apps/shop/sluice.yaml"},
		"three values":     {with(copyTree(app), helmProd+"/values-prod.yaml", "", helmProd+"/values-x.yaml", ""), manifest.BadValues, "values-x.yaml"},
		"values leave":     {linked, manifest.PathEscape, ""},
		"chart leaves":     {with(copyTree(app), "apps/shop/sluice.yaml", "helm: {chart: ../../../x}\n"), manifest.PathEscape, ""},
		"no such chart":    {with(copyTree(app), "apps/shop/sluice.yaml", "helm: {chart: none}\n"), manifest.RenderFailed, "no such chart"},
		"no such values":   {with(copyTree(app), "apps/shop/sluice.yaml", "helm: {values: [none.yaml]}\n"), manifest.BadValues, "no such values file"},
		"bad settings":     {with(copyTree(app), "apps/shop/sluice.yaml", "helm: {values: 1}\n"), manifest.BadValues, "settings"},
		"bad Kubernetes":   {with(copyTree(app), "apps/shop/sluice.yaml", "helm: {kube_version: new}\n"), manifest.RenderFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.Render(tt.tree, helmProd)
			wantRefusal(t, err, tt.code)
			if err != nil && !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want %q in it", err, tt.message)
			}
		})
	}
}

// maps copies a tree.
func copyTree(from fstest.MapFS) fstest.MapFS {
	all := fstest.MapFS{}
	for name, file := range from {
		all[name] = file
	}
	return all
}

// packed makes a chart archive whose ConfigMap says its version.
func packed(t *testing.T, name, version string, more ...string) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	content := append([]string{
		name + "/Chart.yaml", "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n",
		name + "/values.yaml", "image: {repository: " + shopWeb + ", digest: " + oldDigest + "}\n",
		name + "/templates/c.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", annotations: {version: \"" + version + "\"}}\n" +
			"spec: {containers: [{name: c, image: \"{{ .Values.image.repository }}@{{ .Values.image.digest }}\"}]}\n",
	}, more...)
	for i := 0; i < len(content); i += 2 {
		if err := archive.WriteHeader(&tar.Header{Name: content[i], Mode: 0o644, Size: int64(len(content[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(content[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const umbrella = `apiVersion: v2
name: shop
version: 0.0.0
dependencies:
  - name: web
    version: "1.0.0" # pinned
    repository: https://charts.example.com
`

func TestRenderVendoredChart(t *testing.T) {
	t.Parallel()
	const own = helmProd + "/Chart.yaml"
	web1, web2 := packed(t, "web", "1.0.0"), packed(t, "web", "2.0.0")
	fileUmbrella := strings.ReplaceAll(umbrella, "https://charts.example.com", "file://../../lib/web")
	for name, tt := range map[string]struct {
		tree fstest.MapFS
		code manifest.Code
	}{
		"in the overlay":       {files(own, umbrella, helmProd+"/charts/web-1.0.0.tgz", web1), ""},
		"in the application":   {files(own, umbrella, "apps/shop/charts/web-1.0.0.tgz", web1), ""},
		"from a folder":        {tree([]string{own, fileUmbrella}, echo("apps/shop/lib/web", "web")), ""},
		"nowhere":              {files(own, umbrella), manifest.UnsupportedPlugin},
		"another version":      {files(own, umbrella, helmProd+"/charts/web-2.0.0.tgz", web2), manifest.UnsupportedPlugin},
		"named as the version": {files(own, umbrella, "apps/shop/charts/web-1.0.0.tgz", web2), manifest.UnsupportedPlugin},
		"folder elsewhere":     {files(own, strings.ReplaceAll(umbrella, "https://charts.example.com", "file:///etc")), manifest.PathEscape},
		"folder outside":       {files(own, strings.ReplaceAll(umbrella, "https://charts.example.com", "file://../../../../../x")), manifest.PathEscape},
		"itself":               {files(own, strings.ReplaceAll(umbrella, "https://charts.example.com", "file://../prod")), manifest.TooLarge},
		"not packed":           {files(own, umbrella, "apps/shop/charts/web-1.0.0.tgz", "zip"), manifest.RenderFailed},
		"broken":               {files(own, umbrella, helmProd+"/charts/web-1.0.0.tgz", web1[:len(web1)/2]), manifest.RenderFailed},
		"large file":           {files(own, umbrella, helmProd+"/charts/web-1.0.0.tgz", packed(t, "web", "1.0.0", "web/x", strings.Repeat(" ", 1<<20+1))), manifest.TooLarge},
		"large in all":         {files(own, umbrella, "apps/shop/charts/web-1.0.0.tgz", packed(t, "web", "1.0.0", repeat(17, "web/x", strings.Repeat(" ", 1<<20))...)), manifest.TooLarge},
		"large inside": {files(own, umbrella, "apps/shop/charts/web-1.0.0.tgz",
			packed(t, "web", "1.0.0", "web/charts/x.tgz", packed(t, "x", "1.0.0", "x/x", strings.Repeat(" ", 1<<20+1)))), manifest.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rendered, err := manifest.Render(tt.tree, helmProd)
			if tt.code != "" {
				wantRefusal(t, err, tt.code)
			} else if err != nil || len(rendered.Objects) != 1 {
				t.Errorf("%d objects, error %v", len(rendered.Objects), err)
			}
		})
	}
}

func repeat(n int, name, content string) []string {
	var all []string
	for i := range n {
		all = append(all, name+strings.Repeat("x", i), content)
	}
	return all
}
