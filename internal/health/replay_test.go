package health_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/health"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Commits of the recording, in the order of history.
const (
	one     = "6e4f3be3b3f91ef19ede96c51a00081a7db4a6b2"
	two     = "f47540228c1067f171ba7bc18f34627c9fcf351d"
	badport = "9d7390611cb8a2d243a58d4685eb814a45734f43"
)

type seen struct {
	event int
	app   string
	promotion.Observation
}

// replay concludes from every event of the recording.
func replay(t *testing.T) []seen {
	t.Helper()
	file, err := os.Open("testdata/argocd-3.5.1.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []seen
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Object *unstructured.Unstructured `json:"object"`
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		all = append(all, seen{len(all) + 1, event.Object.GetName(), health.Conclude(health.Objects{Application: event.Object})})
	}
	if err := lines.Err(); err != nil || len(all) != 208 {
		t.Fatalf("read %d events: %v", len(all), err)
	}
	return all
}

// live is what a promotion asks for before it looks at the running digests.
func (s seen) live(revision string) bool {
	return s.Sync == promotion.Synced && s.Health == promotion.Healthy && s.Revision == revision
}

func TestReplayIsLiveFromTheRightEventOn(t *testing.T) {
	t.Parallel()
	all := replay(t)
	for _, c := range []struct {
		app, revision string
		from, to      int // events looked at
		live          int // the first one that is live
	}{
		{"web-prod", one, 1, 14, 13},
		{"web-prod", two, 58, 68, 67},
		{"web-staging", two, 80, 88, 87},
		{"web-prod", two, 89, 99, 99},
		{"web-prod", two, 101, 115, 115},
	} {
		for _, s := range all[c.from-1 : c.to] {
			if s.app == c.app && s.live(c.revision) != (s.event >= c.live) {
				t.Errorf("event %d: %s live at %s is %v: %+v", s.event, c.app, c.revision[:7], s.live(c.revision), s.Observation)
			}
		}
	}
}

func TestReplayNamesTheDeployedRevision(t *testing.T) {
	t.Parallel()
	// What was deployed from an event on, until the next one listed for the same Application.
	changes := map[string]map[int]string{
		"web-prod":    {1: "", 10: one, 64: two, 74: one, 94: two},
		"web-staging": {80: "", 85: two},
	}
	want := map[string]string{}
	for _, s := range replay(t) {
		if revision, changed := changes[s.app][s.event]; changed {
			want[s.app] = revision
		}
		if s.Revision != want[s.app] {
			t.Errorf("event %d: %s has %q deployed, want %q", s.event, s.app, s.Revision, want[s.app])
		}
	}
}

func TestReplayComparisonErrorIsUnknown(t *testing.T) {
	t.Parallel()
	all := replay(t)
	for _, s := range all[1:3] {
		if s.Sync != promotion.SyncUnknown || s.Health != promotion.HealthUnknown || s.ComparedRevision != "" || s.Revision != "" {
			t.Errorf("event %d: %+v", s.event, s.Observation)
		}
		if want := "Argo CD cannot compare with Git: permission denied."; !strings.HasPrefix(s.Message, want) {
			t.Errorf("event %d says %q, want %q", s.event, s.Message, want)
		}
	}
	if s := all[3]; s.Sync != promotion.OutOfSync || s.Health != promotion.Missing {
		t.Errorf("event 4: %+v", s.Observation)
	}
}

func TestReplayOperations(t *testing.T) {
	t.Parallel()
	type operation struct{ phase, revision string }
	want := map[int]operation{
		5:   {"", ""},
		6:   {"Running", one}, // asked for, not begun
		9:   {"Running", one}, // history has grown already
		10:  {"Succeeded", one},
		60:  {"Running", two},
		64:  {"Succeeded", two},
		71:  {"Running", one}, // the result of the operation before is still there
		74:  {"Succeeded", one},
		91:  {"Running", ""},    // a person named no revision; the operation's state still names an earlier one
		94:  {"Succeeded", two}, // so it does now, and the result tells the truth
		122: {"Running", badport},
		123: {"Failed", badport},
		128: {"Failed", badport}, // Retrying operation. Attempt #1
		170: {"Failed", badport}, // waiting for healthy state of …
		206: {"Failed", badport},
		207: {"Failed", badport},
	}
	for _, s := range replay(t) {
		w, listed := want[s.event]
		if got := (operation{s.Operation, s.OperationRev}); listed && got != w {
			t.Errorf("event %d: operation %+v, want %+v", s.event, got, w)
		}
	}
}

func TestReplayFailingSyncIsNamedFromTheFirstRefusalOn(t *testing.T) {
	t.Parallel()
	const want = `The sync to 9d73906 failed: Deployment web: Deployment.apps "web" is invalid: ` +
		`spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 999999: must be between 1 and 65535, inclusive. ` +
		`Applied all the same: ConfigMap web-config-7t6ch9d7dd, Service web.`
	for _, s := range replay(t) {
		if s.app != "web-staging" || s.event < 120 {
			continue
		}
		if failing := s.event >= 123; failing != (s.Operation == "Failed") || failing != (s.Message == want) {
			t.Errorf("event %d: operation %s, %q", s.event, s.Operation, s.Message)
		}
		if s.live(badport) || s.Revision != two {
			t.Errorf("event %d: deployed %s", s.event, s.Revision)
		}
	}
}

func TestReplaySyncedAtARevisionThatWasNeverSynced(t *testing.T) {
	t.Parallel()
	s := replay(t)[116]
	if s.Revision != two || !strings.HasPrefix(s.ComparedRevision, "4799945") || s.Sync != promotion.Synced || s.Health != promotion.Healthy {
		t.Errorf("event 117: %+v", s.Observation)
	}
}

func TestReplayOlderRevisionThanGit(t *testing.T) {
	t.Parallel()
	s := replay(t)[78]
	if s.Revision != one || s.Sync != promotion.OutOfSync || s.ComparedRevision != "" || s.Health != promotion.Healthy {
		t.Errorf("event 79: %+v", s.Observation)
	}
}

func TestReplayChangesByHand(t *testing.T) {
	t.Parallel()
	const by = "Somebody changed the cluster: Deployment web differs from what 6e4f3be describes."
	all := replay(t)
	for event := 1; event <= 118; event++ {
		s := all[event-1]
		// 15–17 scaled by hand, 41–57 scaled and the image set by hand. In 101–107 the comparison is of the
		// same second as the sync's end and may be older than it.
		want := event >= 15 && event <= 17 || event >= 41 && event <= 57
		if got := strings.HasPrefix(s.Message, by); got != want {
			t.Errorf("event %d says %q", event, s.Message)
		}
	}
}

func TestReplaySource(t *testing.T) {
	t.Parallel()
	all := replay(t)
	for event, automated := range map[int]bool{1: false, 18: true, 67: true, 208: false} {
		s := all[event-1]
		if s.RepositoryURL != "https://git.example.com/shop/config.git" || s.Path != "overlays/prod" || s.TargetRevision != "main" ||
			s.AutomatedSync != automated {
			t.Errorf("event %d: %+v", event, s.Observation)
		}
	}
}
