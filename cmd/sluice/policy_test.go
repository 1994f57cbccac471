package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// policyRepository writes files into a folder: path and content in turn.
func policyRepository(t *testing.T, files ...string) string {
	t.Helper()
	repo := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		file := filepath.Join(repo, files[i])
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return repo
}

func TestPolicyCheck(t *testing.T) {
	t.Parallel()
	repo := policyRepository(t, "sluice.yaml", "environments: {prod: {soak: 1h}}\n", "apps/web/sluice.yaml", "environments: {prod: {soak: 2h}}\n")
	out, code := offline(t, newPolicyCommand(), "check", repo)
	if code != 0 || out != "apps/web/sluice.yaml is valid\nsluice.yaml is valid\n" {
		t.Errorf("exit %d:\n%s", code, out)
	}
	out, code = offline(t, newPolicyCommand(), "check", repo, "-o", "json")
	if code != 0 || compact(t, out) != `{"files":["apps/web/sluice.yaml","sluice.yaml"],"faults":[]}` {
		t.Errorf("exit %d:\n%s", code, out)
	}
	out, code = offline(t, newPolicyCommand(), "check", t.TempDir())
	if code != 0 || !strings.Contains(out, "defaults") {
		t.Errorf("without files, exit %d:\n%s", code, out)
	}
}

func TestPolicyCheckNamesEveryFault(t *testing.T) {
	t.Parallel()
	repo := policyRepository(t, "sluice.yaml", "environments:\n  prod: {soak: 1h, soack: 1h}\n", "apps/web/sluice.yaml", "roots: [x]\n", "apps/api/sluice.yml", "")
	for _, output := range []string{"text", "json"} {
		out, code := offline(t, newPolicyCommand(), "check", repo, "-o", output)
		for _, want := range []string{"soack", "did you mean", "apps/web/sluice.yaml", "apps/api/sluice.yml"} {
			if code != 2 || !strings.Contains(out, want) {
				t.Errorf("exit %d, no %s:\n%s", code, want, out)
			}
		}
	}
	out, code := offline(t, newPolicyCommand(), "check", filepath.Join(repo, "nowhere"))
	if code != 2 || !strings.Contains(out, "nowhere") {
		t.Errorf("no folder, exit %d:\n%s", code, out)
	}
}
