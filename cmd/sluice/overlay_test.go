package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	overlayOldDigest = "sha256:ce2b25de08e05059b99f1054253763b0be04002186536083780967e908354a61"
	overlayNewDigest = "sha256:8e6c5133caf76053b8a1c4a9a8fcb451860e040427bbeeb339ea181faca2ee68"
)

// overlayRepo is a repository with one Kustomize overlay and one Helm one.
func overlayRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"base/kustomization.yaml":          "resources: [pod.yaml]\n",
		"base/pod.yaml":                    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: web}]}\n",
		"overlays/prod/kustomization.yaml": "resources: [../../base]\nimages:\n- name: web\n  digest: " + overlayOldDigest + " # pinned\n",
		"overlays/helm/values.yaml":        "image: {digest: a}\n",
		"chart/Chart.yaml":                 "apiVersion: v2\nname: web\nversion: 1.0.0\n",
		"chart/templates/s.yaml":           "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {digest: {{ .Values.image.digest }}}\n",
		"chart/values.yaml":                "image: {digest: chart}\n",
		".git/HEAD":                        "ref: refs/heads/main\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runOverlay(args ...string) (stdout, stderr string, err error) {
	cmd := newOverlayCommand()
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	err = cmd.Execute()
	return out.String(), errs.String(), err
}

func TestOverlaySetImage(t *testing.T) {
	t.Parallel()
	dir := overlayRepo(t)
	file := filepath.Join(dir, "overlays/prod/kustomization.yaml")
	args := []string{"set-image", "--repo", dir, "--overlay", "overlays/prod", "--version=1.4.3", "-o", "json", "web=web@" + overlayNewDigest}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := runOverlay(args...)
	if err != nil {
		t.Fatal(err)
	}
	var report editReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(file); !bytes.Equal(now, before) || report.Written {
		t.Error("the file changed without --write")
	}
	if !strings.Contains(report.SourceDiff, "+  digest: "+overlayNewDigest+" # pinned") ||
		report.ImagesBefore[0].Reference != "web@"+overlayOldDigest ||
		report.ImagesAfter[0].Reference != "web@"+overlayNewDigest || report.Version != "1.4.3" {
		t.Errorf("report %+v", report)
	}
	if _, _, err := runOverlay(append(args, "--write")...); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(before), overlayOldDigest, overlayNewDigest, 1)
	if now, _ := os.ReadFile(file); string(now) != want {
		t.Errorf("the file is\n%s", now)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
		t.Errorf("%d files in the overlay", len(entries))
	}
	out, _, err = runOverlay(append(args, "--write", "-o", "text")...)
	if err != nil || !strings.Contains(out, "Nothing to do") {
		t.Errorf("the same edit again: error %v, output %s", err, out)
	}
}

func TestOverlaySetImageRefused(t *testing.T) {
	t.Parallel()
	dir := overlayRepo(t)
	for name, tt := range map[string]struct{ overlay, image, code string }{
		"mutable":   {"overlays/prod", "web=web:1", "mutable-reference"},
		"escape":    {"overlays/../../outside", "web=web@" + overlayNewDigest, "path-escape"},
		"unused":    {"overlays/prod", "other=web@" + overlayNewDigest, "image-not-found"},
		"no folder": {"overlays/none", "web=web@" + overlayNewDigest, "no-kustomization"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, errs, err := runOverlay("set-image", "--write", "--repo", dir, "--overlay", tt.overlay, tt.image)
			var exit *exitError
			if !errors.As(err, &exit) || exit.Code != 2 || exit.Error() != "" || out != "" {
				t.Errorf("error %#v, output %q", err, out)
			}
			var refusal struct{ Code, Message string }
			if err := json.Unmarshal([]byte(errs), &refusal); err != nil || refusal.Code != tt.code || refusal.Message == "" {
				t.Errorf("standard error %q: %v", errs, err)
			}
			if strings.Count(errs, "\n") != 1 {
				t.Errorf("more than one line: %q", errs)
			}
		})
	}
}

func TestOverlaySetValue(t *testing.T) {
	t.Parallel()
	dir := overlayRepo(t)
	_, _, err := runOverlay("set-value", "--write", "-o", "json", "--repo", dir, "--overlay", "overlays/helm",
		"--chart", "chart", "--values", "values.yaml", "--path", "/image/digest", overlayNewDigest)
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(filepath.Join(dir, "overlays/helm/values.yaml"))
	if want := "image: {digest: " + overlayNewDigest + "}\n"; err != nil || string(now) != want {
		t.Errorf("got %q, error %v", now, err)
	}
}

func TestOverlayRenderAndDiff(t *testing.T) {
	t.Parallel()
	dir := overlayRepo(t)
	out, _, err := runOverlay("render", filepath.Join(dir, "overlays/prod"))
	if err != nil || !strings.Contains(out, "image: web@"+overlayOldDigest) {
		t.Errorf("error %v, output\n%s", err, out)
	}
	out, _, err = runOverlay("render", filepath.Join(dir, "chart"))
	if err != nil || !strings.Contains(out, "digest: (hidden)") {
		t.Errorf("error %v, output\n%s", err, out)
	}
	out, _, err = runOverlay("render", "--show-secrets", "-o", "json", filepath.Join(dir, "chart"))
	if err != nil || !strings.Contains(out, `"digest": "chart"`) {
		t.Errorf("error %v, output\n%s", err, out)
	}
	out, _, err = runOverlay("diff", filepath.Join(dir, "base"), filepath.Join(dir, "overlays/prod"))
	if err != nil || !strings.Contains(out, "- web\n      + web@"+overlayOldDigest) {
		t.Errorf("error %v, output\n%s", err, out)
	}
}
