package manifest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/manifest"
)

// TestSetImagesBytes gives the exact bytes for ways of writing an entry that
// the worked cases do not have. before and after follow the line with the base.
func TestSetImagesBytes(t *testing.T) {
	t.Parallel()
	const base = "resources: [../../base]\n"
	for name, tt := range map[string]struct{ before, after string }{
		"tag before name": {
			"images:\n- newTag: \"1.0\"   # now\n  name: web\n  newName: " + shopWeb + "\n",
			"images:\n- digest: \"" + newDigest + "\"   # now\n  name: web\n  newName: " + shopWeb + "\n",
		},
		"tag before digest": {
			"images:\n- newTag: v1\n  name: web\n  digest: '" + oldDigest + "'\n  newName: " + shopWeb + "\n",
			"images:\n- digest: '" + newDigest + "'\n  name: web\n  newName: " + shopWeb + "\n",
		},
		"comment of a removed key": {
			"images:\n- name: web\n  newTag: v1   # by hand\n  newName: " + shopWeb + "\n  digest: " + oldDigest + "\n",
			"images:\n- name: web\n  # by hand\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\n",
		},
		"removed key ends the file": {
			"images:\n- name: web\n  newName: " + shopWeb + "\n  digest: " + oldDigest + "\n  newTag: v1",
			"images:\n- name: web\n  newName: " + shopWeb + "\n  digest: " + newDigest,
		},
		"name only": {
			"images:\n- name: web # storefront\nnamespace: shop\n",
			"images:\n- name: web # storefront\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\nnamespace: shop\n",
		},
		"empty digest": {
			"images:\n- name: web\n  digest:   # none yet\n  newName: " + shopWeb + "\n",
			"images:\n- name: web\n  digest: " + newDigest + "   # none yet\n  newName: " + shopWeb + "\n",
		},
		"null digest": {
			"images:\n- {name: web, digest: null, newName: " + shopWeb + "}\n",
			"images:\n- {name: web, digest: " + newDigest + ", newName: " + shopWeb + "}\n",
		},
		"keys in another case": {
			"Images:\n- Name: web\n  newname: " + shopWeb + "\n  newtag: v1\n",
			"Images:\n- Name: web\n  newname: " + shopWeb + "\n  digest: " + newDigest + "\n",
		},
		"old field name": {
			"imageTags:\n- name: web\n  newName: " + shopWeb + "\n  newTag: v1\n",
			"imageTags:\n- name: web\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\n",
		},
		"flow: last key removed": {
			"images: [{name: web, newName: " + shopWeb + ", digest: " + oldDigest + ", newTag: v1}]\n",
			"images: [{name: web, newName: " + shopWeb + ", digest: " + newDigest + "}]\n",
		},
		"flow: key in the middle removed": {
			"images: [{name: web, newTag: v1, digest: " + oldDigest + ", newName: " + shopWeb + "}]\n",
			"images: [{name: web, digest: " + newDigest + ", newName: " + shopWeb + "}]\n",
		},
		"flow over lines": {
			"images: [\n  {\n    name: web,\n    newTag: v1,\n    digest: " + oldDigest + "\n  }\n]\n",
			"images: [\n  {\n    name: web,\n    newName: " + shopWeb + ",\n    digest: " + newDigest + "\n  }\n]\n",
		},
		"flow: entry added": {
			"images: [ {name: orders, newTag: \"2.1\"} ] # pins\n",
			"images: [ {name: orders, newTag: \"2.1\"}, {name: web, newName: " + shopWeb + ", digest: " + newDigest + "} ] # pins\n",
		},
		"flow: empty list": {
			"images: []\n",
			"images: [{name: web, newName: " + shopWeb + ", digest: " + newDigest + "}]\n",
		},
		"empty field": {
			"images:\nnamespace: shop\n",
			"images: [{name: web, newName: " + shopWeb + ", digest: " + newDigest + "}]\nnamespace: shop\n",
		},
		"null field": {
			"images: ~ # none\n",
			"images: [{name: web, newName: " + shopWeb + ", digest: " + newDigest + "}] # none\n",
		},
		"entry added behind a comment of the last": {
			"images:\n  -  name: orders\n     newTag: \"2.1\" # x\n     # about orders\n# about the rest\nnamespace: shop\n",
			"images:\n  -  name: orders\n     newTag: \"2.1\" # x\n     # about orders\n  -  name: web\n     newName: " + shopWeb +
				"\n     digest: " + newDigest + "\n# about the rest\nnamespace: shop\n",
		},
		"entry added behind a flow entry": {
			"images:\n- {name: orders,\n   newTag: \"2.1\"}\nnamespace: shop\n",
			"images:\n- {name: orders,\n   newTag: \"2.1\"}\n- name: web\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\nnamespace: shop\n",
		},
		"field added as the file indents lists": {
			"labels:\n  - pairs: {a: b}\n",
			"labels:\n  - pairs: {a: b}\nimages:\n  - name: web\n    newName: " + shopWeb + "\n    digest: " + newDigest + "\n",
		},
		"field added before the document's end": {
			"namespace: shop\n...\n",
			"namespace: shop\nimages:\n- name: web\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\n...\n",
		},
		"field added behind a block text": {
			"patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 2}",
			"patches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 2}\nimages:\n- name: web\n  newName: " +
				shopWeb + "\n  digest: " + newDigest,
		},
		"alias as value": {
			"commonAnnotations: {v: &v v1}\nimages:\n- name: web\n  newName: " + shopWeb + "\n  newTag: *v\n",
			"commonAnnotations: {v: &v v1}\nimages:\n- name: web\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\n",
		},
		"anchor without alias": {
			"images:\n- name: web\n  newName: &n staging.example.com/web\n  digest: &d " + oldDigest + "\n",
			"images:\n- name: web\n  newName: &n " + shopWeb + "\n  digest: &d " + newDigest + "\n",
		},
		"merged name of the repository": {
			"commonAnnotations: &shop {newName: " + shopWeb + "}\nimages:\n- name: web\n  <<: *shop\n  newTag: v1\n",
			"commonAnnotations: &shop {newName: " + shopWeb + "}\nimages:\n- name: web\n  <<: *shop\n  digest: " + newDigest + "\n",
		},
		"tagged value": {
			"images:\n- name: web\n  newName: " + shopWeb + "\n  newTag: !!str 1.10\n",
			"images:\n- name: web\n  newName: " + shopWeb + "\n  digest: !!str " + newDigest + "\n",
		},
		"block text as value": {
			"images:\n- name: web\n  newTag: >-\n    v1\n  newName: " + shopWeb + "\n",
			"images:\n- name: web\n  digest: " + newDigest + "\n  newName: " + shopWeb + "\n",
		},
		"wide characters before": {
			"commonAnnotations: {näme: \"läden 🏪\"}\nimages: [{name: web, \"newName\": " + shopWeb + ", newTag: v1}] # größer\n",
			"commonAnnotations: {näme: \"läden 🏪\"}\nimages: [{name: web, \"newName\": " + shopWeb + ", digest: " + newDigest + "}] # größer\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := setWeb(shop(base + tt.before))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(base+tt.after, string(edit.Files[prodFile])); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			if got := references(edit.After); got[len(got)-1] != target {
				t.Errorf("rendered images %v", got)
			}
		})
	}
}

func TestSetImagesJSON(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after string }{
		"field added on a line": {
			`{"resources": ["../../base"]}`,
			`{"resources": ["../../base"], "images": [{"name": "web", "newName": "` + shopWeb + `", "digest": "` + newDigest + `"}]}`,
		},
		"field added over lines": {
			"{\n\t\"resources\": [\n\t\t\"../../base\"\n\t]\n}\n",
			"{\n\t\"resources\": [\n\t\t\"../../base\"\n\t],\n\t\"images\": [{\"name\": \"web\", \"newName\": \"" + shopWeb + "\", \"digest\": \"" + newDigest + "\"}]\n}\n",
		},
		"keys over lines": {
			"{\"resources\": [\"../../base\"], \"images\": [{\n  \"name\": \"web\",\n  \"newTag\": \"v1\",\n  \"digest\": \"" + oldDigest + "\"\n}]}",
			"{\"resources\": [\"../../base\"], \"images\": [{\n  \"name\": \"web\",\n  \"newName\": \"" + shopWeb + "\",\n  \"digest\": \"" + newDigest + "\"\n}]}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit, err := setWeb(shop(tt.before))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(edit.Files[prodFile])); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetImagesSeveral(t *testing.T) {
	t.Parallel()
	edit, err := manifest.SetImages(
		shop("resources: [../../base]\nimages:\n- name: orders\n  newTag: v2 # o\n"), prod,
		[]manifest.ImageChange{
			{Name: "web", Target: target},
			{Name: "orders", Target: "orders@" + newDigest},
		})
	if err != nil {
		t.Fatal(err)
	}
	want := "resources: [../../base]\nimages:\n- name: orders\n  digest: " + newDigest + " # o\n" +
		"- name: web\n  newName: " + shopWeb + "\n  digest: " + newDigest + "\n"
	if diff := cmp.Diff(want, string(edit.Files[prodFile])); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if got := strings.Join(references(edit.After), " "); got != "orders@"+newDigest+" "+target {
		t.Errorf("rendered images %s", got)
	}
}

// TestSetImagesGeneratedName has a replacement copy the reference into a
// generated ConfigMap, whose name, and what refers to it, follow its content.
func TestSetImagesGeneratedName(t *testing.T) {
	t.Parallel()
	edit, err := setWeb(shop(withBase + webEntry + `configMapGenerator:
- name: info
  literals: [running=unset]
patches:
- target: {kind: Deployment}
  patch: |-
    - op: add
      path: /spec/template/spec/volumes
      value: [{name: info, configMap: {name: info}}]
replacements:
- source: {kind: Deployment, fieldPath: "spec.template.spec.containers.[name=c0].image"}
  targets:
  - select: {kind: ConfigMap}
    fieldPaths: [data.running]
`))
	if err != nil {
		t.Fatal(err)
	}
	text := manifest.Text(manifest.Diff(edit.Before, edit.After), 0)
	for _, want := range []string{"- ConfigMap info-", "+ ConfigMap info-", "containers[c0].image", "volumes[info].configMap.name"} {
		if !strings.Contains(text, want) {
			t.Errorf("the diff does not mention %s:\n%s", want, text)
		}
	}
}
