package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/lint"
)

func runLint(args ...string) (output string, status int, err error) {
	cmd := newLintCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(context.Background())
	var exit *exitError
	if errors.As(err, &exit) {
		status = exit.Code
	}
	return out.String(), status, err
}

func lintJSON(t *testing.T, args ...string) []lint.Finding {
	t.Helper()
	out, _, err := runLint(append(args, "-o", "json")...)
	var findings []lint.Finding
	if decodeErr := json.Unmarshal([]byte(out), &findings); decodeErr != nil {
		t.Fatalf("%v, %v in %q", err, decodeErr, out)
	}
	return findings
}

// lintRepo is a folder whose only target runs one image.
func lintRepo(t *testing.T, image string) string {
	t.Helper()
	dir := t.TempDir()
	lintWrite(t, dir, "apps/shop/overlays/prod/pod.yaml",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: "+image+"\n")
	return dir
}

func lintWrite(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	dir := lintRepo(t, "web:1.0")
	out, status, _ := runLint(dir)
	if status != 1 || !strings.Contains(out, "apps/shop/overlays/prod/pod.yaml:7: warning moving-tag: ") ||
		!strings.Contains(out, "\n    mend: ") || !strings.HasSuffix(out, "0 errors, 1 warnings, 0 suppressed\n") {
		t.Errorf("status %d, output\n%s", status, out)
	}
	findings := lintJSON(t, dir)
	if len(findings) != 1 || findings[0].Line != 7 || findings[0].Object != "Pod p" || findings[0].Targets[0] != "apps/shop/overlays/prod" {
		t.Errorf("findings %+v", findings)
	}
	lintWrite(t, dir, ".sluice-lint.yaml", "- {code: moving-tag, path: '**', reason: a test, until: 9999-12-31}\n")
	if out, status, err := runLint(dir); status != 0 || err != nil || out != "0 errors, 0 warnings, 1 suppressed\n" {
		t.Errorf("status %d, error %v, output\n%s", status, err, out)
	}
}

func TestLintWithoutFindings(t *testing.T) {
	t.Parallel()
	dir := lintRepo(t, "web@"+overlayNewDigest)
	if out, status, err := runLint(dir, "-o", "json"); status != 0 || err != nil || out != "[]\n" {
		t.Errorf("status %d, error %v, output %q", status, err, out)
	}
}

func TestLintPolicy(t *testing.T) {
	t.Parallel()
	dir := lintRepo(t, "web@"+overlayNewDigest)
	lintWrite(t, dir, "services/shop/overlays/live/pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: web}]}\n")
	own := filepath.Join(t.TempDir(), "policy.yaml")
	lintWrite(t, filepath.Dir(own), filepath.Base(own), "version: 1\nroots: [services]\n")
	if findings := lintJSON(t, dir); len(findings) != 0 {
		t.Errorf("without policy: %+v", findings)
	}
	findings := lintJSON(t, dir, "--policy", own)
	if len(findings) != 1 || findings[0].File != "services/shop/overlays/live/pod.yaml" {
		t.Errorf("with policy: %+v", findings)
	}
	lintWrite(t, dir, "sluice.yaml", "rootz: [services]\n")
	if _, status, err := runLint(dir); status != 2 || !strings.Contains(err.Error(), "rootz") {
		t.Errorf("status %d, error %v", status, err)
	}
}

func TestLintThatCannotRun(t *testing.T) {
	t.Parallel()
	dir := lintRepo(t, "web")
	for name, args := range map[string][]string{
		"no folder":             {filepath.Join(dir, "missing")},
		"no Git":                {dir, "--history"},
		"since without history": {dir, "--since", "HEAD"},
		"unknown output":        {dir, "-o", "xml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, status, err := runLint(args...); status != 2 || err.Error() == "" {
				t.Errorf("status %d, error %v", status, err)
			}
		})
	}
}

func TestLintHistory(t *testing.T) {
	t.Parallel()
	dir := lintRepo(t, "web@"+overlayNewDigest)
	lintGit(t, dir, "init", "-q", "-b", "main")
	commit := func(message string) {
		lintGit(t, dir, "add", "-A")
		lintGit(t, dir, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", message)
	}
	lintWrite(t, dir, "old.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: hunter2}\n")
	commit("a secret")
	lintGit(t, dir, "tag", "first")
	if err := os.Remove(filepath.Join(dir, "old.yaml")); err != nil {
		t.Fatal(err)
	}
	commit("removed")

	if findings := lintJSON(t, dir); len(findings) != 0 {
		t.Errorf("without history: %+v", findings)
	}
	findings := lintJSON(t, dir, "--history")
	if len(findings) != 1 || findings[0].Code != "plaintext-secret" || findings[0].File != "old.yaml" ||
		findings[0].Commit.Author != "Ada" || findings[0].Commit.Hash != lintGit(t, dir, "rev-parse", "first") {
		t.Errorf("with history: %+v", findings)
	}
	if out, _, _ := runLint(dir, "--history"); strings.Contains(out, "hunter2") || !strings.Contains(out, "by Ada on ") {
		t.Errorf("output\n%s", out)
	}
	if findings := lintJSON(t, dir, "--history", "--since", "first"); len(findings) != 0 {
		t.Errorf("since the first commit: %+v", findings)
	}
	lintGit(t, dir, "checkout", "-q", "--orphan", "other")
	commit("unrelated")
	if _, status, err := runLint(dir, "--history", "--since", "main"); status != 2 || !strings.Contains(err.Error(), "first-parent") {
		t.Errorf("status %d, error %v", status, err)
	}
}

func lintGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
