package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOverlaySetImageInSeveral(t *testing.T) {
	t.Parallel()
	dir := overlayRepo(t)
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const prod, qa = "overlays/prod/kustomization.yaml", "overlays/qa/kustomization.yaml"
	write(qa, "resources: [../../base]\r\nimages:\r\n- {name: web, digest: "+overlayOldDigest+"}\r\n")
	args := []string{"set-image", "--write", "--repo", dir, "--overlay", "overlays/prod", "--overlay", "overlays/qa", "-o", "json", "web=web@" + overlayNewDigest}
	before := read(qa)
	out, _, err := runOverlay(args...)
	if err != nil {
		t.Fatal(err)
	}
	var got editReports
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Written || got.NoOp || len(got.Overlays) != 2 || got.Overlays[1].Overlay != "overlays/qa" || got.Overlays[1].ChangedFiles[0] != qa {
		t.Errorf("report %s", out)
	}
	if read(qa) != strings.Replace(before, overlayOldDigest, overlayNewDigest, 1) || !strings.Contains(read(prod), overlayNewDigest+" # pinned") {
		t.Errorf("prod is\n%s\nqa is\n%s", read(prod), read(qa))
	}

	write(qa, "resources: [../../base]\nimages: [{name: web}, {name: web}]\n")
	write(prod, strings.Replace(read(prod), overlayNewDigest, overlayOldDigest, 1))
	before = read(prod)
	_, stderr, err := runOverlay(args...)
	if status := statusOf(err); status != 2 || !strings.Contains(stderr, `"file":"`+qa+`"`) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("status %d, %s", status, stderr)
	}
	if read(prod) != before {
		t.Error("one overlay was written although another was refused")
	}
	if _, _, err := runOverlay(append(args, "--overlay", "overlays/qa")...); statusOf(err) != 2 {
		t.Errorf("an overlay given twice: %v", err)
	}
}

func statusOf(err error) int {
	var exit *exitError
	if errors.As(err, &exit) {
		return exit.Code
	}
	return 0
}
