package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/api"
)

func writeMigrations(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func postingBuild(more ...string) []string {
	return append([]string{"post", "--version", "1.4.2", "--artifact", "r.test/web@" + someDigest, "--source-repository", "https://git.test/web",
		"--source-commit", someCommit}, more...)
}

func TestBuildPostWithMigrations(t *testing.T) {
	t.Parallel()
	dir := writeMigrations(t, map[string]string{"00001_a.sql": "-- +goose Up\nSELECT 1;\n", "00002_b.go": "package migrations\n", "README.md": "none"})
	s := &fakeServer{status: 201, answer: api.Build{ID: 7}}
	if _, status, err := s.invoke(t, newBuildCommand(), postingBuild("--migrations", dir, "--migrations-tool", "goose")...); status != 0 {
		t.Fatal(err)
	}
	var sent api.BuildRequest
	if err := json.Unmarshal([]byte(s.body), &sent); err != nil {
		t.Fatal(err)
	}
	want := &api.BuildMigrations{Tool: api.BuildMigrationsToolGoose, Files: []api.BuildMigration{
		{Name: "00001_a.sql", SQL: "-- +goose Up\nSELECT 1;\n"}, {Name: "00002_b.go", SQL: "package migrations\n"}}}
	if diff := cmp.Diff(want, sent.Migrations); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestBuildPostRefusesMigrations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		tool  string
		says  string
	}{
		"no tool":       {map[string]string{"1_a.sql": "SELECT 1"}, "", "--migrations-tool is missing"},
		"unknown tool":  {map[string]string{"1_a.sql": "SELECT 1"}, "rails", "is not one of plain, goose"},
		"nothing there": {map[string]string{"README.md": ""}, "plain", "holds no migration files of plain"},
		"a password":    {map[string]string{"1_a.sql": "CREATE ROLE a PASSWORD 'swordfish'"}, "plain", "1_a.sql:1 holds a password"},
		"same number":   {map[string]string{"1_a.sql": "", "01_b.sql": ""}, "goose", "the same number"},
		"not UTF-8":     {map[string]string{"1_a.sql": "SELECT '\xe9'"}, "plain", "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &fakeServer{status: 201, answer: api.Build{ID: 7}}
			more := []string{"--migrations", writeMigrations(t, test.files)}
			if test.tool != "" {
				more = append(more, "--migrations-tool", test.tool)
			}
			_, status, err := s.invoke(t, newBuildCommand(), postingBuild(more...)...)
			if status != 2 || err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "swordfish") || s.body != "" {
				t.Errorf("status %d, error %v, sent %q", status, err, s.body)
			}
		})
	}
}
