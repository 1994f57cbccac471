package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// helmRepo is a repository with one application whose overlays are Helm values.
func helmRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	values := func(replicas string) string {
		return "# set by Sluice\nimage:\n  digest: " + overlayOldDigest + " # carried\nreplicas: " + replicas + "\n"
	}
	for name, content := range map[string]string{
		".git/HEAD":                  "ref: refs/heads/main\n",
		"apps/web/chart/Chart.yaml":  "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"apps/web/chart/values.yaml": "image: {repository: shop/web, digest: ''}\n",
		"apps/web/chart/templates/d.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n" +
			"spec: {replicas: {{ .Values.replicas }}, template: {spec: {containers: [{name: web, image: \"{{ .Values.image.repository }}@{{ .Values.image.digest }}\"}]}}}\n",
		"apps/web/overlays/staging/values.yaml": values("1"),
		"apps/web/overlays/prod/values.yaml":    values("3"),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOverlayOfHelmValues(t *testing.T) {
	t.Parallel()
	dir := helmRepo(t)
	staging, prod := filepath.Join(dir, "apps/web/overlays/staging"), filepath.Join(dir, "apps/web/overlays/prod")
	out, _, err := runOverlay("render", prod)
	if err != nil || !strings.Contains(out, "image: shop/web@"+overlayOldDigest) || !strings.Contains(out, "replicas: 3") {
		t.Errorf("error %v, output\n%s", err, out)
	}
	out, errs, err := runOverlay("set-image", "--write", "--repo", dir, "--overlay", "apps/web/overlays/prod", "shop/web=shop/web@"+overlayNewDigest)
	if err != nil || !strings.Contains(out, "+  digest: "+overlayNewDigest+" # carried") {
		t.Fatalf("error %v, output\n%s%s", err, out, errs)
	}
	out, _, err = runOverlay("diff", staging, prod)
	if err != nil || !strings.Contains(out, "+ shop/web@"+overlayNewDigest) || !strings.Contains(out, "spec.replicas") {
		t.Errorf("error %v, output\n%s", err, out)
	}
	_, errs, err = runOverlay("set-image", "--repo", dir, "--overlay", "apps/web/overlays/prod", "shop/api=shop/api@"+overlayNewDigest)
	if err == nil || !strings.Contains(errs, `"code":"image-not-found"`) {
		t.Errorf("error %v, standard error %s", err, errs)
	}
}
