package window_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/window"
)

func TestParseReportsEveryFaultInOrder(t *testing.T) {
	t.Parallel()
	_, err := window.Parse([]byte(`
windows:
- name: ok
  kind: deny
  schedule: 0 2 * * 0
  duration: 4h
  timezone: Europe/Paris
- name: all-wrong
  kind: freeze
  schedule: 0 9 31 2 *
  duration: 745h
  timezone: Local
  timezon: UTC
- kind: yes
  schedule: "@daily"
  duration: 90
`))
	var faults window.Errors
	if !errors.As(err, &faults) {
		t.Fatalf("got %v", err)
	}
	type fault struct{ Code, Window string }
	var got []fault
	for _, f := range faults {
		got = append(got, fault{f.Code, f.Window})
		if f.Reason == "" {
			t.Errorf("%v has no reason", f)
		}
	}
	want := []fault{
		{window.BadKind, "all-wrong"}, {window.NeverFires, "all-wrong"}, {window.BadDuration, "all-wrong"},
		{window.BadTimezone, "all-wrong"}, {window.BadFile, "all-wrong"},
		{window.BadName, "windows[2]"}, {window.BadKind, "windows[2]"}, {window.BadSchedule, "windows[2]"},
		{window.BadDuration, "windows[2]"}, {window.BadTimezone, "windows[2]"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestParseRefusesWhatIsNoWindowsFile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":              "",
		"a list":             "[]",
		"another member":     "windows: []\nfreezes: []\n",
		"no windows":         "windows:\n",
		"a key twice":        "windows: []\nwindows: []\n",
		"a text in the list": "windows: [night]\n",
		"two documents":      "---\nwindows: []\n---\nwindows: []\n",
		"not YAML":           "windows: [",
		"null in the list":   "windows: [null]\n",
		"a policy's null":    "version: 1\nwindows:\n",
		"a slip beside":      "version: 1\nWindows: []\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := window.Parse([]byte(text))
			var faults window.Errors
			if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != window.BadFile {
				t.Errorf("got %v, want one %s", err, window.BadFile)
			}
		})
	}
}

func TestParseAcceptsYAMLAndJSON(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no windows at all": "windows: []",
		"document mark":     "# ours\n---\nwindows: []\n",
		"JSON with tabs":    "{\n\t\"windows\": [\n\t\t{\"name\": \"n\", \"kind\": \"deny\", \"schedule\": \"0\\t2 * * SUN\", \"duration\": \"1h30m5s\", \"timezone\": \"Etc/GMT+5\"}\n\t]\n}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := window.Parse([]byte(text)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestParseReadsTheWindowsOfAPolicy: whatever else a policy file has, right or wrong, is for others to say.
func TestParseReadsTheWindowsOfAPolicy(t *testing.T) {
	t.Parallel()
	windows, err := window.Parse([]byte(`
version: 1
roots: [apps]
environments: {prod: {gates: {content: off}, soak: 8:00}}
applications: {}
loosen: [soak]
windows:
- {name: night, kind: deny, schedule: 0 22 * * *, duration: 8h, timezone: UTC, applications: [web], environments: [prod-*], clusters: [eu]}
`))
	if err != nil || len(windows) != 1 || windows[0].Name != "night" {
		t.Errorf("got %v, %v", windows, err)
	}
	if windows, err = window.Parse([]byte("helm: {chart: chart}\n")); err != nil || len(windows) != 0 {
		t.Errorf("a policy without windows: got %v, %v", windows, err)
	}
	for _, selector := range []string{"applications: web", "environments: []", "clusters: [1]", "clusters: ", "application: [web]"} {
		_, err := window.Parse([]byte("windows: [{name: night, kind: deny, schedule: 0 22 * * *, duration: 8h, timezone: UTC, " + selector + "}]"))
		var faults window.Errors
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != window.BadFile {
			t.Errorf("%s: got %v", selector, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"windows":[{"name":"n","kind":"deny","schedule":"*/7 5/2 1-7,13 feb-NOV/3 5-7","duration":"8h","timezone":"UTC"}]}`))
	f.Add([]byte("windows:\n- name: n\n  kind: allow\n  schedule: 0 9 31 2 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		windows, err := window.Parse(data)
		var faults window.Errors
		if err != nil && (!errors.As(err, &faults) || len(faults) == 0 || windows != nil) {
			t.Fatalf("got %d windows with error %v", len(windows), err)
		}
	})
}
