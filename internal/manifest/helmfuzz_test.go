package manifest_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/sluicehq/sluice/internal/manifest"
)

// FuzzSetHelmImages edits arbitrary values of a chart that runs web and orders. Either the edit is refused, or web alone
// runs the target, by one value more or another one, and Helm reads everything else as before.
func FuzzSetHelmImages(f *testing.F) {
	f.Add([]byte("image:\n  tag: 1.4.2 # for people\n  digest: \"" + oldDigest + "\"\n"))
	f.Add([]byte("# none\r\nimage: {tag: v1,\r\n  registry: x}\r\n"))
	f.Add([]byte("{\"image\": {\"tag\": \"v1\"}, \"orders\": {}}"))
	f.Add([]byte("x: &x {tag: a}\nimage:\n  <<: *x\n  digest:\norders: {tag: &t v2}\nc: *t\n...\n"))
	f.Add([]byte("--- # values\nlist:\n- image: " + shopWeb + ":v1\n  x: |\n    text\n\n"))
	f.Add([]byte("image:\n  digest: >-\n    text\n  tag: !!str 1\nglobal: {image: {repository: web}}\n"))
	f.Fuzz(func(t *testing.T, before []byte) {
		tree := helmShop("image: {repository: "+shopWeb+", tag: v1}\norders: {image: {repository: orders, tag: v1}}\n", string(before),
			`{{ with (index (.Values.list | default (list dict)) 0).image }}{{ . }}{{ else }}`+tagAndDigest+`{{ end }}`,
			"{{ .Values.orders.image.repository }}:{{ .Values.orders.image.tag }}")
		edit, err := setShopWeb(tree)
		if err != nil {
			var refusal *manifest.Refusal
			if !errors.As(err, &refusal) || refusal.Message == "" || len(edit.Files) > 0 {
				t.Fatalf("error %#v with files %v", err, edit.Files)
			}
			return
		}
		old, now := byContainer(edit.Before), byContainer(edit.After)
		if !strings.HasPrefix(now["c0"], shopWeb) || !strings.HasSuffix(now["c0"], "@"+newDigest) || old["c1"] != now["c1"] {
			t.Errorf("images changed from %v to %v", old, now)
		}
		if edit.NoOp {
			return
		}
		after := edit.Files[helmValues]
		lines := strings.ReplaceAll(strings.TrimPrefix(string(before), "\xef\xbb\xbf"), "\r\n", "\n")
		if lines != "" && !strings.Contains(lines, "\r") { // otherwise there is no style to keep
			checkByteStyle(t, helmValues, before, after)
		}
		was, is := leaves(t, before), leaves(t, after)
		changed := 0
		for path, value := range is {
			if !reflect.DeepEqual(value, was[path]) {
				changed++
				if !strings.Contains(fmt.Sprint(value), newDigest) {
					t.Errorf("%s became %v", path, value)
				}
			}
			delete(was, path)
		}
		if changed != 1 || len(was) > 0 {
			t.Errorf("%d values changed, %v are gone:\n%s\n%s", changed, was, before, after)
		}
		tree[helmValues] = files("x", string(after))["x"]
		again, err := setShopWeb(tree)
		if err != nil || !again.NoOp {
			t.Errorf("the same edit again: no-op %v, error %v\n%s", again.NoOp, err, after)
		}
	})
}

// leaves flattens values as Helm reads them. Empty maps have none.
func leaves(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var values any
	if err := yaml.Unmarshal(data, &values); err != nil {
		t.Fatalf("not YAML: %v\n%s", err, data)
	}
	flat := map[string]any{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, child := range value {
				walk(fmt.Sprintf("%s/%q", path, key), child)
			}
		case []any:
			for i, child := range value {
				walk(fmt.Sprintf("%s/%d", path, i), child)
			}
		case nil:
		default:
			flat[path] = value
		}
	}
	walk("", values)
	return flat
}
