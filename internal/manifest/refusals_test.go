package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

const (
	withBase = "resources: [../../base]\n"
	webEntry = "images:\n- name: web\n  newName: " + shopWeb + "\n  newTag: v1\n"
)

func TestSetImagesRefuses(t *testing.T) {
	t.Parallel()
	plugin := func(apiVersion, kind, rest string) string {
		return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: p}\n" + rest
	}
	for name, tt := range map[string]struct {
		code manifest.Code
		tree fstest.MapFS
	}{
		"base above the repository":       {manifest.PathEscape, shop("resources: [../../base, ../../../../../other]\n" + webEntry)},
		"base by its absolute path":       {manifest.PathEscape, shop("resources: [../../base, /etc]\n" + webEntry)},
		"patch above the repository":      {manifest.PathEscape, shop(withBase + "patches: [{path: ../../../../../p.yaml}]\n" + webEntry)},
		"generator reads above":           {manifest.PathEscape, shop(withBase + "configMapGenerator: [{name: c, files: [k=../../../../../etc/passwd]}]\n")},
		"out and in again":                {manifest.PathEscape, shop("resources: [../../../../../repo/apps/shop/base]\n")},
		"escape before a doubled key":     {manifest.PathEscape, shop("resources: [../../../../../x]\nnamespace: a\nnamespace: b\n")},
		"folder over 1 MiB":               {manifest.TooLarge, shop(withBase+webEntry, "apps/shop/base/deployment.yaml", deployment("web:1")+strings.Repeat("# pad\n", 1<<18))},
		"aliases without measure in base": {manifest.TooLarge, shop(withBase+webEntry, "apps/shop/base/deployment.yaml", bomb)},
		"bases of bases without measure":  {manifest.TooLarge, bases()},
		"anchor inside itself":            {manifest.TooLarge, shop(withBase + "commonAnnotations: &a {b: *a}\n" + webEntry)},
		"second document is empty":        {manifest.MultiDocument, shop(withBase + webEntry + "---\n")},
		"doubled key far from the entry":  {manifest.DuplicateKey, shop(withBase + webEntry + "labels:\n- pairs: {a: b, a: c}\n")},
		"doubled key in another case":     {manifest.DuplicateKey, shop(withBase + webEntry + "Images: []\n")},
		"not YAML":                        {manifest.BadKustomization, shop("resources: [\n")},
		"not UTF-8":                       {manifest.BadKustomization, shop(withBase + webEntry + "# \xff\n")},
		"empty file":                      {manifest.BadKustomization, shop("# nothing\n")},
		"unknown field":                   {manifest.BadKustomization, shop(withBase + webEntry + "resource: [x]\n")},
		"wrong kind":                      {manifest.BadKustomization, shop("kind: Deployment\n" + withBase + webEntry)},
		"two kustomization files":         {manifest.BadKustomization, shop(withBase+webEntry, prod+"/kustomization.yml", withBase)},
		"base on GitHub":                  {manifest.RemoteBase, shop("resources: [../../base, github.com/example/bases]\n")},
		"base over SSH":                   {manifest.RemoteBase, shop("resources: [../../base, 'git@git.example.com:example/bases']\n")},
		"plugin that hides a URL":         {manifest.RemoteBase, shop(withBase + "generators: ['https://example.com/{x']\n")},
		"repository over two lines":       {manifest.RemoteBase, shop(withBase + "generators: [\"https://example.com/a/b\\n\"]\n")},
		"folder named as a repository":    {manifest.RemoteBase, shop("resources: [github.com/example/bases]\n", prod+"/github.com/example/bases/kustomization.yaml", "resources: [d.yaml]\n", prod+"/github.com/example/bases/d.yaml", deployment("web:1"))},
		"doubled key in a base":           {manifest.RemoteBase, shop(withBase, "apps/shop/base/kustomization.yaml", "resources: [deployment.yaml]\nresources: ['https://example.com/x.yaml']\n")},
		"URL in base64":                   {manifest.RemoteBase, shop("resources: [../../base, !!binary aHR0cHM6Ly9leGFtcGxlLmNvbS94]\n")},
		"URL merged in":                   {manifest.RemoteBase, shop(withBase + "patches:\n- <<: {path: 'https://example.com/p.yaml'}\n")},
		"inline plugin over odd lines":    {manifest.RemoteBase, shop(withBase + "transformers: [\"apiVersion: builtin\\rkind: PatchTransformer\\rmetadata: {name: p}\\rpath: https://example.com/p\"]\n")},
		"file of plugins with a brace":    {manifest.UnsupportedPlugin, shop(withBase+"transformers: ['{p.yaml']\n", prod+"/{p.yaml", plugin("example.com/v1", "Fn", ""))},
		"patched plugins":                 {manifest.UnsupportedPlugin, shop(withBase+"transformers: [./t]\n", prod+"/t/kustomization.yaml", "resources: [p.yaml]\npatches: [{path: x.yaml}]\n", prod+"/t/p.yaml", plugin("builtin", "PatchTransformer", "path: p"))},
		"base over ssh://":                {manifest.RemoteBase, shop("bases: ['ssh://git@git.example.com/bases']\nresources: [../../base]\n")},
		"component on GitHub":             {manifest.RemoteBase, shop(withBase + "components: ['https://github.com/example/c//d?ref=v1']\n")},
		"base's base is remote":           {manifest.RemoteBase, shop(withBase, "apps/shop/base/kustomization.yaml", "resources: [deployment.yaml, 'https://example.com/x.yaml']\n")},
		"patch from a URL":                {manifest.RemoteBase, shop(withBase + "patches: [{path: 'https://example.com/p.yaml'}]\n")},
		"CRD from a URL":                  {manifest.RemoteBase, shop(withBase + "crds: ['HTTPS://example.com/crd.json']\n")},
		"schema from a URL":               {manifest.RemoteBase, shop(withBase + "openapi: {path: 'http://example.com/s.json'}\n")},
		"built-in plugin with a URL":      {manifest.RemoteBase, shop(withBase+"transformers: [p.yaml]\n", prod+"/p.yaml", plugin("builtin", "PatchTransformer", "path: https://example.com/p\n"))},
		"generator reads a URL":           {manifest.RemoteBase, shop(withBase + "secretGenerator: [{name: c, envs: ['https://example.com/.env']}]\n")},
		"Helm chart":                      {manifest.UnsupportedPlugin, shop(withBase + "helmCharts: [{name: redis, repo: https://example.com/charts}]\n")},
		"container function":              {manifest.UnsupportedPlugin, shop(withBase+"transformers: [p.yaml]\n", prod+"/p.yaml", plugin("example.com/v1", "Fn", ""))},
		"inline plugin":                   {manifest.UnsupportedPlugin, shop(withBase + "validators:\n- |-\n  apiVersion: example.com/v1\n  kind: Fn\n  metadata: {name: f}\n")},
		"plugins from a folder":           {manifest.UnsupportedPlugin, shop(withBase+"generators: [./gen]\n", prod+"/gen/kustomization.yaml", "resources: [p.yaml]\n", prod+"/gen/p.yaml", plugin("viaduct.ai/v1", "ksops", ""))},
		"chart inflator as a plugin":      {manifest.UnsupportedPlugin, shop(withBase+"generators: [p.yaml]\n", prod+"/p.yaml", plugin("builtin", "HelmChartInflationGenerator", "repo: x\n"))},
		"list is an alias":                {manifest.Alias, shop(withBase + "imageTags: &i\n- {name: orders, newTag: v1}\nimages: *i\n")},
		"entry is an alias":               {manifest.Alias, shop(withBase + "commonAnnotations: &e {name: web, newTag: v1}\nimages: [*e]\n")},
		"entry is anchored and used":      {manifest.Alias, shop(withBase + "images:\n- &e {name: web, newTag: v1}\ncommonAnnotations: *e\n")},
		"merged tag":                      {manifest.Alias, shop(withBase + "commonAnnotations: &e {newTag: v1}\nimages:\n- name: web\n  <<: *e\n")},
		"anchored name of the repository": {manifest.Alias, shop(withBase + "images:\n- {name: web, newName: &n staging/web, newTag: v1}\n- {name: orders, newName: *n}\n")},
		"anchored list gets an entry":     {manifest.Alias, shop(withBase + "images: &i [{name: orders, newTag: v1}]\nimageTags: *i\n")},
		"entry in both fields":            {manifest.AmbiguousImage, shop(withBase + "images: [{name: web, newTag: v1}]\nimageTags: [{name: web, newTag: v2}]\n")},
		"entry on the result of another":  {manifest.AmbiguousImage, shop(withBase + webEntry + "- {name: " + shopWeb + ", newTag: v2}\n")},
		"would act on the new name":       {manifest.AmbiguousImage, shop(withBase + "images: [{name: web, newTag: v1}, {name: " + shopWeb + ", newTag: v2}]\n")},
		"pattern for more than one image": {manifest.AmbiguousImage, shop(withBase + "images: [{name: '(web|orders)', newTag: v1}]\n")},
		"pattern with the tag":            {manifest.AmbiguousImage, shop(withBase + "images: [{name: 'web:1.0', newTag: v1}]\n")},
		"pattern that spoils the image":   {manifest.AmbiguousImage, shop(withBase + "images: [{name: '.*0', newTag: A0, digest: 000A}]\n")},
		"another image is renamed to it":  {manifest.AmbiguousImage, shop(withBase + "images: [{name: orders, newName: web}, {name: web, newTag: v1}]\n")},
		"name is no regular expression":   {manifest.RenderFailed, shop(withBase + "images: [{name: 'web['}]\n")},
		"base is not YAML":                {manifest.RenderFailed, shop(withBase+webEntry, "apps/shop/base/kustomization.yaml", "resources: [\n")},
		"file of a sibling folder":        {manifest.RenderFailed, shop(withBase+"patches: [{path: ../p.yaml}]\n"+webEntry, "apps/shop/overlays/p.yaml", "{}")},
		"image in a comment only":         {manifest.ImageNotFound, shop(withBase, "apps/shop/base/deployment.yaml", "# web:1.0\n"+deployment("orders:1"))},
		"image in a ConfigMap only":       {manifest.ImageNotFound, shop(withBase, "apps/shop/base/deployment.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {image: 'web:1.0'}\n")},
		"another image has the target":    {manifest.ImageNotFound, shop(withBase, "apps/shop/base/deployment.yaml", deployment(target))},
		"folder missing":                  {manifest.NoKustomization, files("apps/shop/base/kustomization.yaml", withBase)},
		"values without a kustomization":  {manifest.NoKustomization, files(prod+"/values.yaml", "a: b\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := setWeb(tt.tree)
			wantRefusal(t, err, tt.code)
			if len(edit.Files) > 0 {
				t.Error("a refused edit has files")
			}
		})
	}
}

// bases has each base built twice by the one above.
func bases() fstest.MapFS {
	tree := shop("resources: [../../l0/a, ../../l0/b]\n", "apps/shop/l12/kustomization.yaml", "resources: [../base]\n")
	for level := range 12 {
		next := fmt.Sprintf("../../l%d", level+1)
		content := fmt.Sprintf("resources: [%s/a, %s/b]\nnamePrefix: ", next, next)
		if level == 11 {
			content = "resources: [../../base]\nnamePrefix: "
		}
		for _, side := range []string{"a", "b"} {
			file := &fstest.MapFile{Data: []byte(content + side + "\n")}
			tree[fmt.Sprintf("apps/shop/l%d/%s/kustomization.yaml", level, side)] = file
		}
	}
	return tree
}

// bomb is a list of aliases of lists of aliases, and so on.
var bomb = func() string {
	var s strings.Builder
	s.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\nx0: &x0 [a,a,a,a,a,a,a,a,a]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&s, "x%d: &x%d [%s*x%d]\n", i, i, strings.Repeat(fmt.Sprintf("*x%d,", i-1), 8), i-1)
	}
	return s.String()
}()

func TestSetImagesSymbolicLinks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, to string
		code     manifest.Code // none if the link may be followed
		changed  string
	}{
		"base leaves":            {"apps/shop/base", "../../../outside", manifest.PathEscape, ""},
		"base is absolute":       {"apps/shop/base", "/etc", manifest.PathEscape, ""},
		"file of the base":       {"apps/shop/base/deployment.yaml", "../../../../deployment.yaml", manifest.PathEscape, ""},
		"loop":                   {"apps/shop/base", "base", manifest.PathEscape, ""},
		"overlay leaves":         {prod, "../../../../outside", manifest.PathEscape, ""},
		"kustomization leaves":   {prodFile, "../../../../../kustomization.yaml", manifest.PathEscape, ""},
		"kustomization is other": {prodFile, "../staging/kustomization.yaml", manifest.NoKustomization, ""},
		"base inside":            {"apps/shop/base", "../../common", "", prodFile},
		"kustomization inside":   {prodFile, "k.yaml", "", prod + "/k.yaml"},
		"overlay inside":         {prod, "staging", "", "apps/shop/overlays/staging/kustomization.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := shop(withBase+webEntry,
				"common/kustomization.yaml", "resources: [deployment.yaml]\n",
				"common/deployment.yaml", deployment("web:1"),
				prod+"/k.yaml", withBase+webEntry,
				"apps/shop/overlays/staging/kustomization.yaml", withBase+webEntry,
			)
			for file := range tree {
				if strings.HasPrefix(file, tt.path+"/") {
					delete(tree, file)
				}
			}
			tree[tt.path] = link(tt.to)
			edit, err := setWeb(tree)
			if tt.code != "" {
				wantRefusal(t, err, tt.code)
				return
			}
			if err != nil || len(edit.Files) != 1 || edit.Files[tt.changed] == nil {
				t.Errorf("got files %v, error %v, want %s", edit.Files, err, tt.changed)
			}
		})
	}
}

func TestSetImagesTargets(t *testing.T) {
	t.Parallel()
	for target, code := range map[string]manifest.Code{
		"web:1.0":                           manifest.MutableReference,
		"web":                               manifest.MutableReference,
		"":                                  manifest.MutableReference,
		"web@":                              manifest.BadDigest,
		"web@sha256:abc":                    manifest.BadDigest,
		"web@" + strings.ToUpper(newDigest): manifest.BadDigest,
		"web@" + newDigest + "0":            manifest.BadDigest,
		"web@" + newDigest + "\n":           manifest.BadDigest,
		"web@sha512:" + newDigest[len("sha256:"):]: manifest.BadDigest,
		"we b@" + newDigest:                        manifest.BadReference,
		"@" + newDigest:                            manifest.BadReference,
		"Web/UPPER@" + newDigest:                   manifest.BadReference,
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.SetImages(shop(withBase), "../outside", []manifest.ImageChange{{Name: "web", Target: target}})
			wantRefusal(t, err, code)
		})
	}
}
