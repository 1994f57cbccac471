package manifest_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

// Ways in which charts put an image together.
const (
	digestAware  = `{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag }}{{ end }}`
	tagAndDigest = `{{ .Values.image.repository }}:{{ .Values.image.tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}`
	tagOnly      = `{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}`
)

const (
	helmProd   = "apps/shop/overlays/prod"
	helmValues = helmProd + "/values.yaml"
)

// helmShop is a repository with the application's chart and one values file. The chart renders one container per image.
func helmShop(defaults, values string, images ...string) fstest.MapFS {
	var quoted []string
	for _, image := range images {
		quoted = append(quoted, `"`+image+`"`)
	}
	return files(
		"apps/shop/chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: 1.9.0\n",
		"apps/shop/chart/values.yaml", defaults,
		"apps/shop/chart/templates/deployment.yaml", deployment(quoted...),
		helmValues, values,
	)
}

func with(tree fstest.MapFS, more ...string) fstest.MapFS {
	for name, file := range files(more...) {
		tree[name] = file
	}
	return tree
}

func setShopWeb(fsys fs.FS) (manifest.Edit, error) {
	return manifest.SetImages(fsys, helmProd, []manifest.ImageChange{{Name: shopWeb, Target: target}})
}

func TestSetHelmImages(t *testing.T) {
	t.Parallel()
	const defaults = "image: {repository: " + shopWeb + ", tag: latest, digest: \"\"}\n"
	for name, tt := range map[string]struct {
		tree     fstest.MapFS
		after    string
		rendered string // target, unless the chart keeps a tag
	}{
		"digest to digest": {
			helmShop(defaults, "# prod\nimage:\n  tag: 1.4.2 # for people\n  digest: \""+oldDigest+"\" # carried\nreplicas: 2\n", digestAware),
			"# prod\nimage:\n  tag: 1.4.2 # for people\n  digest: \"" + newDigest + "\" # carried\nreplicas: 2\n", target,
		},
		"CRLF": {
			helmShop(defaults, "image:\r\n  tag: 1.4.2\r\n  # none yet\r\nreplicas: 2\r\n", digestAware),
			"image:\r\n  tag: 1.4.2\r\n  digest: " + newDigest + "\r\n  # none yet\r\nreplicas: 2\r\n", target,
		},
		"no key yet, no final line break": {
			helmShop(defaults, "image:\n    tag: \"1.4.2\"", digestAware),
			"image:\n    tag: \"1.4.2\"\n    digest: " + newDigest, target,
		},
		"only the chart has the image": {
			helmShop(defaults, "# prod\nservice:\n    port: 80\n", digestAware),
			"# prod\nservice:\n    port: 80\nimage:\n    digest: " + newDigest + "\n", target,
		},
		"values of comments only": {
			helmShop(defaults, "# nothing special\n", digestAware),
			"# nothing special\nimage:\n  digest: " + newDigest + "\n", target,
		},
		"empty file": {helmShop(defaults, "", digestAware), "image:\n  digest: " + newDigest + "\n", target},
		"empty map":  {helmShop(defaults, "{}\n", digestAware), "{\"image\": {\"digest\": \"" + newDigest + "\"}}\n", target},
		"byte order": {helmShop(defaults, "\xef\xbb\xbfa: b\n", digestAware), "\xef\xbb\xbfa: b\nimage:\n  digest: " + newDigest + "\n", target},
		"flow":       {helmShop(defaults, "image: {tag: v1}\n", digestAware), "image: {tag: v1, digest: " + newDigest + "}\n", target},
		"values in JSON": {
			helmShop(defaults, "{\n  \"image\": {\n    \"tag\": \"v1\"\n  }\n}\n", digestAware),
			"{\n  \"image\": {\n    \"tag\": \"v1\",\n    \"digest\": \"" + newDigest + "\"\n  }\n}\n", target,
		},
		"tag stays before the digest": {
			helmShop(defaults, "image: {tag: 1.4.2, digest: "+oldDigest+"}\n", tagAndDigest),
			"image: {tag: 1.4.2, digest: " + newDigest + "}\n", shopWeb + ":1.4.2@" + newDigest,
		},
		"tag only": {
			helmShop("image: {repository: "+shopWeb+", tag: latest}\n", "image:\n  tag: '1.4.2' # by hand\n", tagOnly),
			"image:\n  tag: '1.4.2@" + newDigest + "' # by hand\n", shopWeb + ":1.4.2@" + newDigest,
		},
		"tag only, with a digest already": {
			helmShop("image: {repository: "+shopWeb+", tag: latest}\n", "image:\n  tag: 1.4.2@"+oldDigest+"\n", tagOnly),
			"image:\n  tag: 1.4.2@" + newDigest + "\n", shopWeb + ":1.4.2@" + newDigest,
		},
		"tag from the chart's version": {
			helmShop("image: {repository: "+shopWeb+", tag: ''}\n", "replicas: 2\n", tagOnly),
			"replicas: 2\nimage:\n  tag: 1.9.0@" + newDigest + "\n", shopWeb + ":1.9.0@" + newDigest,
		},
		"template knows a digest that no values have": {
			with(helmShop("image: {repository: "+shopWeb+", tag: v1}\n", "image: {tag: v2}\n", digestAware),
				"apps/shop/chart/templates/version.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {version: \"{{ .Values.image.tag }}\"}}\n"),
			"image: {tag: v2, digest: " + newDigest + "}\n", target,
		},
		"whole reference": {
			helmShop("image: nginx\n", "image: "+shopWeb+":1.4.2 # web\n", "{{ .Values.image }}"),
			"image: " + target + " # web\n", target,
		},
		"whole reference of the chart": {
			helmShop("web: {image: \""+shopWeb+":1.4.2\"}\n", "web:\n- none\n", "{{ .Values.sidecar.image }}"), "", "",
		},
		"image beside tag": {
			helmShop("image: "+shopWeb+"\ntag: v1\n", "tag: v2\n", "{{ .Values.image }}:{{ .Values.tag }}"),
			"tag: v2@" + newDigest + "\n", shopWeb + ":v2@" + newDigest,
		},
		"registry apart": {
			helmShop("image: {registry: docker.io, repository: shop/web, tag: v1, digest: ''}\n",
				"image:\n  registry: registry.example.com\n",
				"{{ .Values.image.registry }}/{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ end }}"),
			"image:\n  registry: registry.example.com\n  digest: " + newDigest + "\n", target,
		},
		"global registry": {
			helmShop("global: {registry: registry.example.com}\nimage: {repository: shop/web, tag: v1, digest: ''}\n",
				"image:\n  digest:\n", "{{ .Values.global.registry }}/{{ .Values.image.repository }}@{{ .Values.image.digest | default `"+oldDigest+"` }}"),
			"image:\n  digest: " + newDigest + "\n", target,
		},
		"list entry": {
			helmShop("containers: []\n", "containers:\n- repository: registry.example.com/shop/proxy\n  tag: v1\n- repository: "+shopWeb+"\n  tag: v1 # web\n",
				"{{ (index .Values.containers 0).repository }}:{{ (index .Values.containers 0).tag }}",
				"{{ (index .Values.containers 1).repository }}:{{ (index .Values.containers 1).tag }}"),
			"containers:\n- repository: registry.example.com/shop/proxy\n  tag: v1\n- repository: " + shopWeb + "\n  tag: v1@" + newDigest + " # web\n",
			shopWeb + ":v1@" + newDigest,
		},
		"deep maps": {
			helmShop("services: {web: {main: {image: {repository: "+shopWeb+", digest: x}}}}\n", "services:\n  web:\n    main:\n      port: 80\n  orders: {}\n",
				"{{ .Values.services.web.main.image.repository }}@{{ .Values.services.web.main.image.digest }}"),
			"services:\n  web:\n    main:\n      port: 80\n      image:\n        digest: " + newDigest + "\n  orders: {}\n", target,
		},
		"anchor elsewhere": {
			helmShop(defaults, "x: &x {a: b}\nimage:\n  <<: *x\n  digest: "+oldDigest+"\n", digestAware),
			"x: &x {a: b}\nimage:\n  <<: *x\n  digest: " + newDigest + "\n", target,
		},
		"alias becomes its own text": {
			helmShop(defaults, "old: &old "+oldDigest+"\nimage:\n  digest: *old\n", digestAware),
			"old: &old " + oldDigest + "\nimage:\n  digest: " + newDigest + "\n", target,
		},
		"unused place passed over": {
			helmShop(defaults+"other: {repository: "+shopWeb+", tag: v1}\n", "image: {digest: "+oldDigest+"}\n", digestAware),
			"image: {digest: " + newDigest + "}\n", target,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := setShopWeb(tt.tree)
			if tt.after == "" {
				if err == nil {
					t.Fatal("not refused")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(edit.Files[helmValues])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", helmValues, diff)
			}
			if got := references(edit.After); len(edit.Files) != 1 || !strings.Contains(strings.Join(got, " "), tt.rendered) {
				t.Errorf("files %d, rendered %v, want %s", len(edit.Files), got, tt.rendered)
			}
			tt.tree[helmValues] = files("x", tt.after)["x"]
			again, err := setShopWeb(tt.tree)
			if err != nil || !again.NoOp || len(again.Files) > 0 {
				t.Errorf("the same edit again: no-op %v, error %v", again.NoOp, err)
			}
		})
	}
}

// TestSetHelmImagesFiles finds the one file that decides, among several.
func TestSetHelmImagesFiles(t *testing.T) {
	t.Parallel()
	const environment = helmProd + "/values-prod.yaml"
	const settings = "apps/shop/sluice.yaml"
	web := "image: {repository: " + shopWeb + ", digest: ''}\n"
	for name, tt := range map[string]struct {
		more        []string
		file, after string
	}{
		"last that has it":      {[]string{environment, "image: {digest: a}\n"}, environment, "image: {digest: " + newDigest + "}\n"},
		"only that has it":      {[]string{environment, "replicas: 2\n"}, helmValues, "image: {digest: " + newDigest + "}\n"},
		"last, with part of it": {[]string{environment, "image: {tag: a}\n", helmValues, "image: {}\n"}, environment, "image: {tag: a, digest: " + newDigest + "}\n"},
		"the application's is everybody's": {[]string{"apps/shop/values.yaml", "image: {digest: " + oldDigest + "}\n", helmValues, "# prod\n"},
			helmValues, "# prod\nimage:\n  digest: " + newDigest + "\n"},
		"declared order": {[]string{helmProd + "/a.yaml", "image: {digest: b}\n", settings, "helm: {values: [values.yaml, a.yaml]}\n"},
			helmProd + "/a.yaml", "image: {digest: " + newDigest + "}\n"},
		"another's on top": {[]string{"apps/shop/top.yaml", "image: {digest: " + oldDigest + "}\n", settings, "helm: {values: [values.yaml, ../../top.yaml]}\n"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := setShopWeb(with(helmShop(web, "image: {digest: c}\n", digestAware), tt.more...))
			if tt.file == "" {
				wantRefusal(t, err, manifest.PathNotFound)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(edit.Files[tt.file]); got != tt.after || len(edit.Files) != 1 {
				t.Errorf("%s is %q of %d files", tt.file, got, len(edit.Files))
			}
		})
	}
}

func TestSetHelmImagesRefuses(t *testing.T) {
	t.Parallel()
	const web = "image: {repository: " + shopWeb + ", tag: v1, digest: ''}\n"
	for name, tt := range map[string]struct {
		tree    fstest.MapFS
		code    manifest.Code
		message string
	}{
		"template without digest":  {helmShop(web, "a: b\n", tagOnly), manifest.PathNotFound, "does not use image.digest"},
		"image in the template":    {helmShop("a: b\n", "a: c\n", shopWeb+":v1"), manifest.PathNotFound, "Deployment.apps web"},
		"another image":            {helmShop(web, "a: c\n", "nginx"), manifest.ImageNotFound, shopWeb},
		"digest with a tag behind": {helmShop("image: "+shopWeb+"\n", "tag: v1\n", "{{ .Values.image }}:v1"), manifest.UnintendedChange, "template"},
		"no final digest": {helmShop(web, "a: b\n", "{{ .Values.image.repository }}@{{ .Values.image.digest | default `"+oldDigest+"` | trunc 20 }}"),
			manifest.UnintendedChange, "template"},
		"digest in a label": {with(helmShop(web, "a: b\n", digestAware), "apps/shop/chart/templates/s.yaml",
			"apiVersion: v1\nkind: Service\nmetadata: {name: s, labels: {version: \"{{ .Values.image.digest }}\"}}\n"), manifest.UnintendedChange, "label"},
		"digest decides elsewhere": {with(helmShop(web, "a: b\n", digestAware), "apps/shop/chart/templates/s.yaml",
			"apiVersion: v1\nkind: Service\nmetadata: {name: s, annotations: {n: \"{{ len .Values.image.digest }}\"}}\n"), manifest.UnintendedChange, "Service"},
		"two places for one image": {helmShop("a: {repository: "+shopWeb+", digest: ''}\nb: {repository: "+shopWeb+", digest: ''}\n", "c: d\n",
			shopWeb+"@{{ .Values.a.digest | default .Values.b.digest | default `"+oldDigest+"` }}"), manifest.AmbiguousImage, ""},
		"one place for two images": {helmShop(web, "a: b\n", digestAware, "registry.example.com/shop/worker@{{ .Values.image.digest | default `"+oldDigest+"` }}"),
			manifest.AmbiguousImage, "worker"},
		"half of the containers": {helmShop(web, "a: b\n", digestAware, shopWeb+":v1"), manifest.PathNotFound, "containers[c1]"},
		"list of the chart": {helmShop("containers: [{repository: "+shopWeb+", tag: v1}]\n", "a: b\n",
			"{{ (index .Values.containers 0).repository }}:{{ (index .Values.containers 0).tag }}"), manifest.PathNotFound, "list"},
		"shared map":    {helmShop(web, "image: &i {digest: "+oldDigest+"}\nother: *i\n", digestAware), manifest.Alias, ""},
		"merged":        {helmShop(web, "x: &x {digest: "+oldDigest+"}\nimage: {<<: *x}\n", digestAware), manifest.Alias, ""},
		"doubled key":   {helmShop(web, "image: {tag: a}\nimage: {tag: b}\n", digestAware), manifest.DuplicateKey, ""},
		"two documents": {helmShop(web, "a: b\n---\nc: d\n", digestAware), manifest.MultiDocument, ""},
		"not YAML":      {helmShop(web, "a: [\n", digestAware), manifest.BadValues, ""},
		"values linked": {with(helmShop(web, "", digestAware), "common.yaml", "a: b\n"), manifest.PathNotFound, "no values file of its own"},
		"too large":     {helmShop(web, strings.Repeat("# pad\n", 1<<18), digestAware), manifest.TooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "values linked" {
				tt.tree[helmValues] = link("../../../../common.yaml")
			}
			edit, err := setShopWeb(tt.tree)
			wantRefusal(t, err, tt.code)
			if err != nil && !strings.Contains(err.Error(), tt.message) || len(edit.Files) > 0 {
				t.Errorf("files %v, error %v, want %q in it", edit.Files, err, tt.message)
			}
		})
	}
}

func TestSetHelmImagesSeveral(t *testing.T) {
	t.Parallel()
	worker := "registry.example.com/shop/worker"
	tree := helmShop("web: {repository: "+shopWeb+", tag: v1}\nworker: {repository: "+worker+", tag: v1}\n",
		"web:\n  tag: v2\nworker:\n  tag: v2 # slow\n",
		"{{ .Values.web.repository }}:{{ .Values.web.tag }}", "{{ .Values.worker.repository }}:{{ .Values.worker.tag }}",
		"{{ .Values.web.repository }}:{{ .Values.web.tag }}")
	edit, err := manifest.SetImages(tree, helmProd, []manifest.ImageChange{
		{Name: shopWeb, Target: target}, {Name: worker, Target: worker + "@" + oldDigest},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "web:\n  tag: v2@" + newDigest + "\nworker:\n  tag: v2@" + oldDigest + " # slow\n"
	if got := string(edit.Files[helmValues]); got != want {
		t.Errorf("got\n%s", got)
	}
	images := []string{shopWeb + ":v2@" + newDigest, shopWeb + ":v2@" + newDigest, worker + ":v2@" + oldDigest}
	if diff := cmp.Diff(images, references(edit.After)); diff != "" {
		t.Error(diff)
	}
}

// TestSetHelmImagesMoves changes the repository too.
func TestSetHelmImagesMoves(t *testing.T) {
	t.Parallel()
	const away = "mirror.example.net/eu/shop/web"
	for name, tt := range map[string]struct {
		tree  fstest.MapFS
		after string
	}{
		"repository": {
			helmShop("image: {repository: x, digest: ''}\n", "image:\n  repository: "+shopWeb+"\n", digestAware),
			"image:\n  repository: " + away + "\n  digest: " + newDigest + "\n",
		},
		"registry apart": {
			helmShop("image: {registry: registry.example.com, repository: shop/web, digest: ''}\n", "image:\n  digest: a\n",
				"{{ .Values.image.registry }}/"+digestAware),
			"image:\n  digest: " + newDigest + "\n  registry: mirror.example.net\n  repository: eu/shop/web\n",
		},
		"whole reference": {
			helmShop("image: x\n", "image: "+shopWeb+"\n", "{{ .Values.image }}"),
			"image: " + away + "@" + newDigest + "\n",
		},
		"name behind the repository": {
			helmShop("image: {repository: x, digest: ''}\n", "image:\n  repository: registry.example.com\n",
				"{{ .Values.image.repository }}/shop/web@{{ .Values.image.digest | default `"+oldDigest+"` }}"),
			"image:\n  repository: mirror.example.net/eu\n  digest: " + newDigest + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := manifest.SetImages(tt.tree, helmProd, []manifest.ImageChange{{Name: shopWeb, Target: away + "@" + newDigest}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(edit.Files[helmValues])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSetHelmImagesDeclared(t *testing.T) {
	t.Parallel()
	const values = "imageName: " + shopWeb + "\nimageTag: v1\nmirror: {repository: " + shopWeb + ", tag: v1}\n"
	const template = "{{ .Values.imageName }}:{{ .Values.imageTag }}"
	tree := helmShop(values, "imageTag: v2\n", template)
	_, err := setShopWeb(tree)
	wantRefusal(t, err, manifest.PathNotFound)
	for name, tt := range map[string]struct{ settings, after string }{
		"tag":       {"{tag: /imageTag, repository: /imageName}", "imageTag: v2@" + newDigest + "\n"},
		"tag alone": {"{tag: /imageTag}", "imageTag: v2@" + newDigest + "\n"},
		"unused":    {"{tag: /mirror/tag}", ""},
		"nothing":   {"{name: web}", ""},
		"both":      {"{reference: /imageName, tag: /imageTag}", ""},
		"pointer":   {"{tag: imageTag}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := with(helmShop(values, "imageTag: v2\n", template), "apps/shop/sluice.yaml", "team: shop\nhelm:\n  images: ["+tt.settings+"]\n")
			edit, err := setShopWeb(tree)
			var refusal *manifest.Refusal
			if tt.after == "" && !errors.As(err, &refusal) || tt.after != "" && err != nil {
				t.Fatal(err)
			}
			if got := string(edit.Files[helmValues]); got != tt.after {
				t.Errorf("got %q", got)
			}
		})
	}
}
