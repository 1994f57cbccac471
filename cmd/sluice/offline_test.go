package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// offline runs a command of the three that need no server, and returns what it
// printed and its exit status.
func offline(t *testing.T, cmd *cobra.Command, args ...string) (out string, code int) {
	t.Helper()
	var buffer bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&buffer)
	cmd.SetErr(&buffer)
	err := cmd.Execute()
	var exit *exitError
	switch {
	case err == nil:
		return buffer.String(), 0
	case !errors.As(err, &exit):
		t.Fatalf("%v: %v", args, err)
	}
	return buffer.String() + exit.Error(), exit.Code
}

func offlineFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	if err := json.Compact(&buffer, []byte(text)); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return buffer.String()
}

func TestWindowsPreview(t *testing.T) {
	t.Parallel()
	file := offlineFile(t, "w.yaml", `windows: [{name: night, kind: deny, schedule: 0 22 * * *, duration: 8h, timezone: Europe/Paris}]`)
	args := []string{"preview", "--file", file, "--from", "2026-03-29T00:00:00+01:00", "--to", "2026-03-29T12:00:00Z"}
	out, code := offline(t, newWindowsCommand(), append(args, "-o", "json")...)
	want := `{"open":[{"from":"2026-03-29T04:00:00Z","to":"2026-03-29T12:00:00Z"}],` +
		`"windows":[{"name":"night","occurrences":[{"from":"2026-03-28T23:00:00Z","to":"2026-03-29T04:00:00Z"}]}]}`
	if code != 0 || compact(t, out) != want {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = offline(t, newWindowsCommand(), args...); code != 0 || !strings.Contains(out, "2026-03-29T04:00:00Z  to  2026-03-29T12:00:00Z") {
		t.Errorf("as text, exit %d:\n%s", code, out)
	}
}

func TestWindowsPreviewNamesEveryFault(t *testing.T) {
	t.Parallel()
	file := offlineFile(t, "w.yaml", `windows: [{name: night, kind: freeze, schedule: "@daily", duration: 8h, timezone: Local}]`)
	for _, output := range []string{"text", "json"} {
		out, code := offline(t, newWindowsCommand(), "preview", "--file", file, "--from", "2026-03-29T00:00:00Z", "--to", "2026-03-30T00:00:00Z", "-o", output)
		for _, want := range []string{"night", "bad-kind", "freeze", "bad-schedule", "bad-timezone"} {
			if code != 2 || !strings.Contains(out, want) {
				t.Errorf("exit %d, no %s:\n%s", code, want, out)
			}
		}
	}
}

func TestRollbackEvaluate(t *testing.T) {
	t.Parallel()
	file := offlineFile(t, "f.json", `{"artifact": {"image_manifest": "absent"}}`)
	out, code := offline(t, newRollbackCommand(), "evaluate", file, "-o", "json")
	if code != 0 || !strings.Contains(compact(t, out), `"overall":"unsafe","blocking":["image-manifest-absent"],"refused_acceptances":[],"gate":"blocked"`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = offline(t, newRollbackCommand(), "evaluate", file); code != 0 || !strings.Contains(out, "The registry no longer has the old image. (image-manifest-absent)") {
		t.Errorf("as text, exit %d:\n%s", code, out)
	}
}

func TestMigrationsCheck(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(offlineFile(t, "1.sql", "\nALTER TABLE parcel ALTER code TYPE text;\n"))
	history := filepath.Dir(offlineFile(t, "0.sql", "CREATE TABLE parcel (code varchar(8));"))
	out, code := offline(t, newMigrationsCommand(), "check", "--tool", "plain", "--history", history, "-o", "json", folder)
	want := `{"verdict":"compatible","reversible":"unknown","files":[{"file":"1.sql","verdict":"compatible","reversible":"unknown"}],` +
		`"statements":[{"file":"1.sql","n":1,"line":2,"kind":"ALTER TABLE","verdict":"compatible","reversible":"unknown","reason":"type-widening"}]}`
	if code != 0 || compact(t, out) != want {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if out, code = offline(t, newMigrationsCommand(), "check", "--tool", "plain", folder); code != 0 || !strings.Contains(out, "1.sql:2: ALTER TABLE: unknown, reversible unknown (type-change-unknown-origin)") {
		t.Errorf("as text, exit %d:\n%s", code, out)
	}
}

func TestOfflineCommandsRefuse(t *testing.T) {
	t.Parallel()
	windows := offlineFile(t, "w.yaml", "windows: []")
	for name, c := range map[string]struct {
		cmd  *cobra.Command
		args []string
		want string
	}{
		"another output":      {newWindowsCommand(), []string{"preview", "--file", windows, "--from", "2026-03-29T00:00:00Z", "--to", "2026-03-30T00:00:00Z", "-o", "xml"}, "xml"},
		"backwards":           {newWindowsCommand(), []string{"preview", "--file", windows, "--from", "2026-03-30T00:00:00Z", "--to", "2026-03-29T00:00:00Z"}, "must be after"},
		"no time":             {newWindowsCommand(), []string{"preview", "--file", windows, "--from", "today", "--to", "2026-03-29T00:00:00Z"}, "RFC 3339"},
		"no windows file":     {newWindowsCommand(), []string{"preview", "--file", windows + "x", "--from", "2026-03-29T00:00:00Z", "--to", "2026-03-30T00:00:00Z"}, "no such file"},
		"no facts":            {newRollbackCommand(), []string{"evaluate", windows + "x"}, "no such file"},
		"a slip in facts":     {newRollbackCommand(), []string{"evaluate", windows}, "not valid"},
		"no migrations":       {newMigrationsCommand(), []string{"check", "--tool", "goose", filepath.Dir(windows)}, "no migration files"},
		"no migration folder": {newMigrationsCommand(), []string{"check", "--tool", "goose", windows + "x"}, "no such file"},
		"no such tool":        {newMigrationsCommand(), []string{"check", "--tool", "liquibase", filepath.Dir(windows)}, "liquibase"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, code := offline(t, c.cmd, c.args...); code != 2 || !strings.Contains(out, c.want) {
				t.Errorf("exit %d:\n%s", code, out)
			}
		})
	}
}
