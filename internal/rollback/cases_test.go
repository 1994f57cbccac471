package rollback_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/rollback"
)

type testCase struct {
	ID     string
	Facts  json.RawMessage
	Expect map[string]any
}

func readCases(t *testing.T) []testCase {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	var cases []testCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c testCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// TestCases compares the verdicts' JSON with verdicts stated by hand.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			facts, err := rollback.Parse(c.Facts)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(rollback.Evaluate(facts))
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			delete(got, "unchecked")
			if diff := cmp.Diff(c.Expect, got); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryReasonOfTheCasesIsExplained: pages show the words, not the code.
func TestEveryReasonOfTheCasesIsExplained(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t) {
		facts, err := rollback.Parse(c.Facts)
		if err != nil {
			t.Fatal(err)
		}
		v := rollback.Evaluate(facts)
		for _, reason := range append(v.Blocking, v.RefusedAcceptances...) {
			_, subject, _ := strings.Cut(reason, ":")
			if text := rollback.Explain(reason); text == reason || !strings.Contains(text, subject) || strings.Contains(text, "%") {
				t.Errorf("%s is explained as %q", reason, text)
			}
		}
	}
}
