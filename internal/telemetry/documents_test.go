package telemetry_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const requestMetric = "sluice_http_request_duration_seconds"

// told are the metrics that there are.
func told(t *testing.T) []string {
	t.Helper()
	exposition, err := os.ReadFile("testdata/exposition.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{requestMetric}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(string(exposition), -1) {
		names = append(names, m[1])
	}
	return names
}

var metricName = regexp.MustCompile(`sluice_[a-z_]+`)

func TestDocumentationNamesEveryMetric(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	named := metricName.FindAllString(string(text), -1)
	names := told(t)
	for _, name := range names {
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("docs/metrics.md has no row for %s", name)
		}
	}
	for _, name := range named {
		if !slices.Contains(names, name) {
			t.Errorf("docs/metrics.md names %s, which there is not", name)
		}
	}
}

func TestAlertsAskForMetricsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) == 0 || len(file.Groups[0].Rules) == 0 {
		t.Fatal("no alerts")
	}
	names, seen := told(t), map[string]bool{}
	for _, rule := range file.Groups[0].Rules {
		if seen[rule.Alert] || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" ||
			!slices.Contains([]string{"page", "ticket"}, rule.Labels["severity"]) {
			t.Errorf("%s: its name, severity, summary or description is not as it should be", rule.Alert)
		}
		seen[rule.Alert] = true
		for _, name := range metricName.FindAllString(rule.Expr, -1) {
			if !slices.Contains(names, strings.TrimSuffix(name, "_count")) {
				t.Errorf("%s asks for %s, which there is not", rule.Alert, name)
			}
		}
	}
}
