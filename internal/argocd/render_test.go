package argocd_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/manifest"
)

const digest = "sha256:8e6c5133caf76053b8a1c4a9a8fcb451860e040427bbeeb339ea181faca2ee68"

func deployment(image string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n" +
		"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: '" + image + "'}]}\n"
}

// shop is a repository with an application in Kustomize, in Helm and plain.
func shop(more ...string) fstest.MapFS {
	return files(append([]string{
		"apps/web/base/kustomization.yaml", "resources: [deployment.yaml]\n",
		"apps/web/base/deployment.yaml", deployment("web"),
		"apps/web/overlays/prod/kustomization.yaml", "resources: [../../base]\nimages: [{name: web, newName: registry.example.com/web, digest: '" + digest + "'}]\n",
		"apps/api/chart/Chart.yaml", "apiVersion: v2\nname: api\nversion: 1.0.0\n",
		"apps/api/chart/values.yaml", "image: {repository: api, tag: none}\nreplicas: 1\n",
		"apps/api/chart/templates/d.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}\n" +
			"spec:\n  replicas: {{ .Values.replicas }}\n  template: {spec: {containers: [{name: api, image: '{{ .Values.image.repository }}:{{ .Values.image.tag }}'}]}}\n",
		"apps/api/overlays/prod/values.yaml", "image: {tag: v1}\n",
		"plain/one.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n",
		"plain/below/two.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: two}\n",
	}, more...)...)
}

// source writes one of the repository's sources in flow style.
func source(path, more string) string {
	return "{repoURL: " + repository + ", path: " + path + ", targetRevision: main" + more + "}"
}

// summary lists the objects, each Deployment with its image.
func summary(r manifest.Rendered) string {
	var all []string
	for _, object := range r.Objects {
		text := object.Kind + " " + object.Namespace + "/" + object.Name
		for _, image := range r.Images() {
			if image.Object == object.ID {
				text += " " + image.Reference
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func TestRender(t *testing.T) {
	t.Parallel()
	const web = "registry.example.com/web@" + digest
	for name, tt := range map[string]struct{ spec, want string }{
		"kustomize": {"source: " + source("apps/web/overlays/prod", ", kustomize: {namePrefix: eu-, namespace: shop, replicas: [{name: web, count: '3'}]}"),
			"Deployment shop/eu-web " + web},
		"kustomize image": {"source: " + source("apps/web/overlays/prod", ", kustomize: {images: ['web=registry.example.com/web:$ARGOCD_APP_NAME']}"),
			"Deployment /web registry.example.com/web:web-prod"},
		"helm": {"source: " + source("apps/api/chart", ", helm: {valueFiles: [../overlays/prod/values.yaml]}"), "Deployment shop-prod/web-prod api:v1"},
		"helm release": {"source: " + source("apps/api/chart", ", helm: {releaseName: rel, namespace: space, valuesObject: {image: {tag: v2}}, values: 'image: {tag: v3}'}"),
			"Deployment space/rel api:v2"},
		"helm values": {"source: " + source("apps/api/chart", ", helm: {values: 'image: {tag: v3}', parameters: [{name: image.repository, value: '$ARGOCD_APP_NAME'}]}"), "Deployment shop-prod/web-prod web-prod:v3"},
		"helm values by a ref": {"sources: [" + source("apps/api/chart", ", helm: {valueFiles: [$v/apps/api/overlays/prod/values.yaml]}") + ", {repoURL: " + repository + ", ref: v}]",
			"Deployment shop-prod/web-prod api:v1"},
		"several sources": {"sources: [" + source("apps/web/overlays/prod", "") + ", " + source("plain", "") + "]", "ConfigMap /one; Deployment /web " + web},
		"the last source counts": {"sources: [" + source("apps/web/overlays/prod", "") + ", " + source("apps/web/base", ", kustomize: {images: ['web:last']}") + "]",
			"Deployment /web web:last"},
		"directory":       {"source: " + source("plain", ", directory: {recurse: true, include: '{*.yaml,*.json}', exclude: 'below/*'}"), "ConfigMap /one"},
		"directory below": {"source: " + source("plain", ", directory: {recurse: true}"), "ConfigMap /one; ConfigMap /two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := application(t, "metadata: {name: web-prod}\nspec: {destination: {namespace: shop-prod}, "+tt.spec+"}\n")
			rendered, err := argocd.Render(shop(), a, here)
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(rendered); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRenderLeavesTheRevisionOpen(t *testing.T) {
	t.Parallel()
	a := application(t, "metadata: {name: web}\nspec: {source: "+source("plain", ", kustomize: {commonAnnotationsEnvsubst: true, commonAnnotations: {rev: '$ARGOCD_APP_REVISION $$x $none', own: $ARGOCD_APP_NAME}, commonLabels: {l: '${ARGOCD_APP_NAME}'}}")+"}\n")
	tree := shop("plain/kustomization.yaml", "resources: [one.yaml]\n")
	rendered, err := argocd.Render(tree, a, here)
	if err != nil {
		t.Fatal(err)
	}
	metadata := rendered.Objects[0].Content["metadata"].(map[string]any)
	annotations, labels := metadata["annotations"].(map[string]any), metadata["labels"].(map[string]any)
	if annotations["rev"] != "${ARGOCD_APP_REVISION} $x " || annotations["own"] != "web" || labels["l"] != "web" {
		t.Errorf("annotations %v, labels %v", annotations, labels)
	}
}

// TestRenderWithSourceFiles has parameters in files beside the manifests, the
// Application's own over the common one.
func TestRenderWithSourceFiles(t *testing.T) {
	t.Parallel()
	a := application(t, "metadata: {name: web-prod}\nspec: {source: "+source("apps/web/overlays/prod", ", kustomize: {namePrefix: a-}")+"}\n")
	tree := shop(
		"apps/web/overlays/prod/.argocd-source.yaml", "path: elsewhere\nkustomize: {images: ['web:common'], nameSuffix: -s}\n",
		"apps/web/overlays/prod/.argocd-source-web-prod.yaml", "kustomize: {images: ['web:own']}\n",
		"apps/web/overlays/prod/.argocd-source-other.yaml", "kustomize: {images: ['web:other']}\n",
	)
	rendered, err := argocd.Render(tree, a, here)
	if err != nil || summary(rendered) != "Deployment /a-web-s web:own" {
		t.Errorf("got %s, error %v", summary(rendered), err)
	}
	tree["apps/web/overlays/prod/.argocd-source.yaml"].Data = []byte("kustomize: 3\n")
	if _, err := argocd.Render(tree, a, here); err == nil || !strings.Contains(err.Error(), ".argocd-source.yaml: kustomize cannot be a number") {
		t.Errorf("error %v", err)
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		code manifest.Code
		spec string
	}{
		"the chart web would have to be downloaded from https://charts.example.com": {manifest.UnsupportedPlugin,
			"source: {repoURL: 'https://me:secret@charts.example.com', chart: web, targetRevision: 1.0.0}"},
		"it deploys from another repository, https://example.com/x":      {manifest.RemoteBase, "source: {repoURL: https://example.com/x, path: a}"},
		"it deploys the revision v1, not what is on main":                {manifest.RemoteBase, "source: {repoURL: " + repository + ", path: plain, targetRevision: v1}"},
		"config management plugin":                                       {manifest.UnsupportedPlugin, "source: " + source("plain", ", plugin: {name: x}")},
		"it has no source":                                               {manifest.NoKustomization, "project: x"},
		"helm.apiVersions":                                               {manifest.UnsupportedPlugin, "source: " + source("apps/api/chart", ", helm: {apiVersions: [v1]}")},
		"helm.values are no YAML map":                                    {manifest.BadValues, "source: " + source("apps/api/chart", ", helm: {values: '[a]'}")},
		"value file https://example.com/v.yaml is not in the repository": {manifest.RemoteBase, "source: " + source("apps/api/chart", ", helm: {valueFiles: ['https://example.com/v.yaml']}")},
		"value file $v/v.yaml is in another repository":                  {manifest.RemoteBase, "sources: [" + source("apps/api/chart", ", helm: {valueFiles: [$v/v.yaml]}") + ", {repoURL: https://example.com/x, ref: v}]"},
		"value file $v/v.yaml is that of the revision v1":                {manifest.RemoteBase, "sources: [" + source("apps/api/chart", ", helm: {valueFiles: [$v/v.yaml]}") + ", {repoURL: " + repository + ", ref: v, targetRevision: v1}]"},
		"there is no such values file":                                   {manifest.BadValues, "source: " + source("apps/api/chart", ", helm: {valueFiles: [none.yaml]}")},
		"there is no such folder":                                        {manifest.NoKustomization, "source: " + source("none", "")},
		"directory.include: the pattern":                                 {manifest.BadValues, "source: " + source("plain", ", directory: {include: '['}")},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			a := application(t, "metadata: {name: web}\nspec: {"+tt.spec+"}\n")
			_, err := argocd.Render(shop(), a, here)
			var refusal *manifest.Refusal
			if !errors.As(err, &refusal) || refusal.Code != tt.code || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s: %s", err, tt.code, want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("a password is shown: %v", err)
			}
		})
	}
}

// TestPart renders the target's own source where another one cannot be.
func TestPart(t *testing.T) {
	t.Parallel()
	a := application(t, "metadata: {name: web}\nspec: {sources: [{repoURL: https://charts.example.com, chart: redis}, "+
		source("apps/api/chart", ", helm: {valueFiles: [../overlays/prod/values.yaml]}")+"]}\n")
	l := argocd.Link([]argocd.Application{a}, repository, "main")["apps/api/overlays/prod"][0]
	p, err := l.Part(shop(), here)
	if err != nil || p.Folder != "apps/api/chart" {
		t.Fatalf("part %+v, error %v", p, err)
	}
	rendered, err := manifest.RenderWith(shop(), p.Folder, p.Additions)
	if err != nil || summary(rendered) != "Deployment default/web api:v1" {
		t.Errorf("got %s, error %v", summary(rendered), err)
	}
}

func TestOverridesOf(t *testing.T) {
	t.Parallel()
	promoted := []argocd.Promoted{
		{Name: "web", Repository: "registry.example.com/web"},
		{Name: "api", Repository: "registry.example.com/api", Values: []string{"/image/repository", "/image/tag", "/side~1car/0/image"}},
	}
	for name, tt := range map[string]struct {
		spec string
		want []string // field=value
	}{
		"none": {"source: " + source("a", ", kustomize: {namePrefix: x-, images: ['other:v1', broken]}, helm: {parameters: [{name: imagePullPolicy, value: x}], values: 'replicas: 1'}"), nil},
		"kustomize": {"source: " + source("a", ", kustomize: {images: ['other:v1', 'web:v1', 'registry.example.com/web=x:v1']}"),
			[]string{"spec.source.kustomize.images[1]=web:v1", "spec.source.kustomize.images[2]=registry.example.com/web=x:v1"}},
		"one of several sources": {"sources: [" + source("a", "") + ", " + source("b", ", kustomize: {images: ['web:v1']}") + "]",
			[]string{"spec.sources[1].kustomize.images[0]=web:v1"}},
		"helm parameters": {"source: " + source("a", ", helm: {parameters: [{name: image.tag, value: v1}, {name: image, value: null}, {name: 'side/car[0].image', value: x}, {name: 'image\\.tag', value: x}], fileParameters: [{name: image.tag, path: t}]}"),
			[]string{"spec.source.helm.parameters[1]=image=", "spec.source.helm.parameters[0]=image.tag=v1", "spec.source.helm.parameters[1]=image=",
				"spec.source.helm.fileParameters[0]=the content of t", "spec.source.helm.parameters[2]=side/car[0].image=x"}},
		"helm values": {"source: " + source("a", ", helm: {values: 'image: {tag: v1}'}"), []string{"spec.source.helm.values.image.tag=v1"}},
		"helm values as an object": {"source: " + source("a", ", helm: {values: 'image: {tag: v1}', valuesObject: {side/car: [{image: x}]}}"),
			[]string{"spec.source.helm.valuesObject.side/car=[map[image:x]]"}},
		"a chart from elsewhere": {"source: {repoURL: https://charts.example.com, chart: api, helm: {parameters: [{name: image.tag, value: v1}]}}",
			[]string{"spec.source.helm.parameters[0]=image.tag=v1"}},
		"a file beside": {"source: " + source("beside", ""), []string{"kustomize.images[0]=web:v9"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := application(t, "metadata: {name: app}\nspec: {"+tt.spec+"}\n")
			overrides, err := argocd.OverridesOf(files("beside/.argocd-source-app.yaml", "kustomize: {images: ['web:v9']}\n"), a, promoted, here)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range overrides {
				got = append(got, o.Field+"="+o.Value)
				if o.Application != "app" || o.File == "" {
					t.Errorf("override %+v", o)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
	a := application(t, "metadata: {name: app}\nspec:\n  source:\n    kustomize:\n      images:\n      - web:v1\n")
	overrides, err := argocd.OverridesOf(files(), a, promoted, here)
	const want = "app.yaml:8: spec.source.kustomize.images[0] of Application app sets the image web to web:v1, whatever is promoted: remove it there"
	if err != nil || len(overrides) != 1 || overrides[0].Error() != want {
		t.Errorf("got %v, error %v", overrides, err)
	}
	a.Sources[0].RepoURL, a.Sources[0].Path = repository, "beside"
	if _, err := argocd.OverridesOf(files("beside/.argocd-source.yaml", "[1]\n"), a, promoted, here); err == nil {
		t.Error("a broken file is passed over")
	}
}
