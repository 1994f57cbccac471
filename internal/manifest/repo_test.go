package manifest_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sluicehq/sluice/internal/manifest"
)

const (
	oldDigest = "sha256:ce2b25de08e05059b99f1054253763b0be04002186536083780967e908354a61"
	newDigest = "sha256:8e6c5133caf76053b8a1c4a9a8fcb451860e040427bbeeb339ea181faca2ee68"
	shopWeb   = "registry.example.com/shop/web"
	target    = shopWeb + "@" + newDigest
	prod      = "apps/shop/overlays/prod"
	prodFile  = prod + "/kustomization.yaml"
)

// deployment has one container for each image, named c0, c1, ….
func deployment(images ...string) string {
	var s strings.Builder
	s.WriteString("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n" +
		"  selector:\n    matchLabels: {app: web}\n  template:\n    metadata:\n      labels: {app: web}\n" +
		"    spec:\n      containers:\n")
	for i, image := range images {
		s.WriteString("      - name: c" + string(rune('0'+i)) + "\n        image: " + image + "\n")
	}
	return s.String()
}

// files makes a tree of text files.
func files(pairs ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		tree[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1]), Mode: 0o644}
	}
	return tree
}

func link(to string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(to), Mode: 0o777 | fs.ModeSymlink}
}

// shop is a repository whose base runs web:1.0 and orders:2.0 and whose prod
// overlay has the given kustomization.
func shop(kustomization string, more ...string) fstest.MapFS {
	return files(append([]string{
		"apps/shop/base/kustomization.yaml", "resources: [deployment.yaml]\n",
		"apps/shop/base/deployment.yaml", deployment("web:1.0", "orders:2.0"),
		prodFile, kustomization,
	}, more...)...)
}

func setWeb(fsys fs.FS) (manifest.Edit, error) {
	return manifest.SetImages(fsys, prod, []manifest.ImageChange{{Name: "web", Target: target}})
}

func wantRefusal(t *testing.T, err error, code manifest.Code) {
	t.Helper()
	var refusal *manifest.Refusal
	if !errors.As(err, &refusal) || refusal.Code != code {
		t.Errorf("got error %v, want a refusal with code %s", err, code)
	}
}

// writeTree puts a tree on disk.
func writeTree(t testing.TB, tree fs.FS) fs.FS {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
	return os.DirFS(dir)
}
