package window_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluicehq/sluice/internal/window"
)

// TestCases runs the cases whose expected values come from another program.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no case files: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			ID       string
			Windows  json.RawMessage
			From, To time.Time
			Open     [][2]time.Time
			Error    string
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases {
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				windows, err := window.Parse([]byte(`{"windows":` + string(c.Windows) + `}`))
				if c.Error != "" {
					var faults window.Errors
					if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Code != c.Error {
						t.Fatalf("got error %v, want one %s", err, c.Error)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got := [][2]time.Time{}
				for _, i := range window.Intervals(windows, c.From, c.To) {
					got = append(got, [2]time.Time{i.From, i.To})
				}
				if diff := cmp.Diff(c.Open, got); diff != "" {
					t.Errorf("open intervals (-want +got):\n%s", diff)
				}
			})
		}
	}
}
