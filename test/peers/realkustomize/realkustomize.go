// Package realkustomize builds the kustomize program that benchmarks compare with.
package realkustomize

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// version is the newest of the command that the module's Go version builds.
const version = "v5.8.2"

// Program is the path of the kustomize program. It is built once and kept in the user's cache.
func Program() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a place for kustomize: %w", err)
	}
	dir := filepath.Join(cache, "sluice", "kustomize-"+version)
	program := filepath.Join(dir, "kustomize")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	cmd := exec.Command("go", "install", "sigs.k8s.io/kustomize/kustomize/v5@"+version)
	cmd.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build kustomize %s: %w: %s", version, err, bytes.TrimSpace(out))
	}
	return program, nil
}
