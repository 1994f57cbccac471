package manifest_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/manifest"
)

// FuzzSetImages edits arbitrary kustomizations over a base that runs web and
// orders. Either the edit is refused, or web alone runs the target and the
// source says the same as before but for one entry of images.
func FuzzSetImages(f *testing.F) {
	seeds, err := filepath.Glob("testdata/overlays/*/before/overlays/prod/kustomization.y*ml")
	if err != nil || len(seeds) == 0 {
		f.Fatal(err)
	}
	for _, seed := range seeds {
		data, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(withBase + "images:\n- newTag: \"1.0\" # now\n  name: web\n"))
	f.Add([]byte(withBase + "images: [\n  {\n    name: web,\n    newTag: v1,\n    digest: x\n  }\n]\n"))
	f.Add([]byte(withBase + "images:\n- name: web\n  newTag: >-\n    v1\n"))
	f.Add([]byte("a: &a {newName: x}\nresources: [../../base]\nimages: [{<<: *a, name: web, newTag: !!str 1}]\n...\n"))
	f.Fuzz(func(t *testing.T, before []byte) {
		edit, err := setWeb(shop(string(before)))
		var refusal *manifest.Refusal
		if errors.As(err, &refusal) {
			if refusal.Message == "" || len(edit.Files) > 0 {
				t.Fatalf("refusal %#v with files %v", refusal, edit.Files)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		after := before
		if !edit.NoOp {
			after = edit.Files[prodFile]
		}
		checkByteStyle(t, prodFile, before, after)
		checkElsewhere(t, before, after)
		old, now := byContainer(edit.Before), byContainer(edit.After)
		if now["c0"] != target {
			t.Errorf("web runs %q", now["c0"])
		}
		delete(old, "c0")
		delete(now, "c0")
		if !reflect.DeepEqual(old, now) {
			t.Errorf("other images changed from %v to %v", old, now)
		}
		again, err := setWeb(shop(string(after)))
		if err != nil || !again.NoOp {
			t.Errorf("the same edit again: no-op %v, error %v", again.NoOp, err)
		}
	})
}

// checkElsewhere reads both files with kustomize's own parser.
func checkElsewhere(t *testing.T, before, after []byte) {
	t.Helper()
	old, oldEntries := readKustomization(t, before)
	now, nowEntries := readKustomization(t, after)
	if !reflect.DeepEqual(old, now) {
		t.Errorf("something beside images changed:\n%s\n%s", before, after)
	}
	if len(nowEntries) == len(oldEntries)+1 {
		nowEntries = nowEntries[:len(oldEntries)]
	}
	if len(nowEntries) != len(oldEntries) {
		t.Fatalf("%d entries became %d", len(oldEntries), len(nowEntries))
	}
	changed := 0
	for i := range oldEntries {
		if !reflect.DeepEqual(oldEntries[i], nowEntries[i]) {
			changed++
		}
	}
	if changed > 1 {
		t.Errorf("%d entries changed:\n%s\n%s", changed, before, after)
	}
}

// readKustomization gives the fields without the entries of images, and these.
func readKustomization(t *testing.T, data []byte) (map[string]any, []any) {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal(data, &fields); err != nil {
		t.Fatalf("not YAML: %v\n%s", err, data)
	}
	var entries []any
	maps.DeleteFunc(fields, func(key string, value any) bool {
		list, _ := value.([]any)
		if isList := strings.EqualFold(key, "images") || strings.EqualFold(key, "imageTags"); isList {
			entries = append(list, entries...)
			return true
		}
		return false
	})
	return fields, entries
}

func byContainer(r manifest.Rendered) map[string]string {
	images := map[string]string{}
	for _, image := range r.Images() {
		images[image.Container] = image.Reference
	}
	return images
}

// FuzzSetValue sets arbitrary places of arbitrary values files. Either it is
// refused, or Helm reads exactly this value there and everything else as before.
func FuzzSetValue(f *testing.F) {
	f.Add([]byte("image:\n  digest: a # c\n"), "/image/digest", "sha256:ab")
	f.Add([]byte("a: [x, {b: 'y'}]\r\n"), "/a/1/b", "12e3")
	f.Add([]byte("a:\nb: &b |\n  text\n\nc: {d: *b}\n"), "/a", "yes")
	f.Add([]byte("{\"a/b\": {\"~\": \"x\"}}"), "/a~1b/~0", "quote \" and 'quote'")
	f.Add([]byte("- a\n"), "/0", "1_000")
	f.Fuzz(func(t *testing.T, before []byte, path, value string) {
		tree := files(
			"chart/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n",
			"chart/templates/c.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
			"prod/values.yaml", string(before),
		)
		edit, err := manifest.SetValue(tree, "prod", "chart", "values.yaml", path, value)
		if err != nil {
			var refusal *manifest.Refusal
			if !errors.As(err, &refusal) {
				t.Fatal(err)
			}
			return
		}
		after := before
		if !edit.NoOp {
			after = edit.Files["prod/values.yaml"]
		}
		checkByteStyle(t, "values.yaml", before, after)
		var old, now any
		if yaml.Unmarshal(before, &old) != nil || yaml.Unmarshal(after, &now) != nil {
			t.Fatalf("not YAML:\n%s", after)
		}
		if !setJSON(&old, strings.Split(path, "/")[1:], value) || !reflect.DeepEqual(old, now) {
			t.Errorf("values are %v, want %v:\n%s\n%s", now, old, before, after)
		}
	})
}

func setJSON(at *any, steps []string, value string) bool {
	if len(steps) == 0 {
		*at = value
		return true
	}
	step := strings.ReplaceAll(strings.ReplaceAll(steps[0], "~1", "/"), "~0", "~")
	switch parent := (*at).(type) {
	case map[string]any:
		child := parent[step]
		ok := setJSON(&child, steps[1:], value)
		parent[step] = child
		return ok
	case []any:
		for i := range parent {
			if step == pointer([]any{i})[1:] {
				return setJSON(&parent[i], steps[1:], value)
			}
		}
	}
	return false
}
