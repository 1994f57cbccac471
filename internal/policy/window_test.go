package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// daily is a window that starts every day at an hour, in UTC.
func daily(kind, name string, hour, hours int, selectors ...string) string {
	return fmt.Sprintf("  - {%s}\n", strings.Join(append([]string{"name: " + name, "kind: " + kind, fmt.Sprintf("schedule: 0 %d * * *", hour),
		fmt.Sprintf("duration: %dh", hours), "timezone: UTC"}, selectors...), ", "))
}

func TestWindow(t *testing.T) {
	t.Parallel()
	root := "windows:\n" +
		daily("allow", "office", 9, 8, "environments: [prod*]") +
		daily("deny", "lunch", 12, 1, "environments: [prod*]", "clusters: [eu-*]") +
		daily("allow", "evening", 20, 2, "environments: [prod*]", "clusters: [us-*]") +
		daily("deny", "batch", 3, 1, "applications: [bill*]") +
		daily("allow", "a", 8, 4, "environments: [split]", "clusters: [a]") +
		daily("allow", "b", 10, 4, "environments: [split]", "clusters: [b]") +
		daily("allow", "c", 15, 1, "environments: [split]", "clusters: [c]")
	own := "windows:\n" +
		daily("allow", "wide", 0, 24, "environments: [prod-all]") +
		daily("allow", "morning", 6, 4, "environments: [prod-own]") +
		daily("deny", "market", 10, 1, "environments: [prod-deny]") +
		daily("deny", "eu-only", 14, 1, "environments: [prod-deny]", "clusters: [eu-1]")
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": root, "apps/web/sluice.yaml": own})
	for _, c := range []struct {
		name, target, clusters, at string
		open                       bool
		by, next                   string
	}{
		{"no window matches", "web dev", "eu-1", "02 12:30", true, "", ""},
		{"the allow window", "shop prod", "ap-1", "02 12:30", true, "office", "02 17:00"},
		{"before it", "shop prod", "ap-1", "02 08:59", false, "", "02 09:00"},
		{"a deny window of the cluster", "shop prod", "eu-1", "02 12:30", false, "lunch", "02 13:00"},
		{"until the deny window", "shop prod", "eu-1", "02 10:00", true, "office", "02 12:00"},
		{"an allow window of the cluster", "shop prod", "us-1", "02 21:00", true, "evening", "02 22:00"},
		{"open for one cluster only", "shop prod", "us-1 ap-1", "02 21:00", false, "", "03 09:00"},
		{"a deny window closes all", "shop prod", "us-1 eu-1", "02 12:30", false, "lunch", "02 13:00"},
		{"no known cluster has them all", "shop prod", "", "02 12:30", false, "lunch", "02 13:00"},
		{"no known cluster may not be the one that is open", "shop prod", "", "02 21:00", false, "", "03 09:00"},
		{"an application's windows", "billing dev", "x", "02 03:30", false, "batch", "02 04:00"},
		{"other applications'", "web dev", "x", "02 03:30", true, "", ""},
		{"own windows do not widen", "web prod-all", "ap-1", "02 18:00", false, "", "03 09:00"},
		{"nor keep closed what they cover", "web prod-all", "ap-1", "02 16:00", true, "office", "02 17:00"},
		{"own windows narrow", "web prod-own", "ap-1", "02 09:30", true, "office", "02 10:00"},
		{"to what both allow", "web prod-own", "ap-1", "02 10:30", false, "", "03 09:00"},
		{"another application's do not", "shop prod-own", "ap-1", "02 10:30", true, "office", "02 17:00"},
		{"own deny windows", "web prod-deny", "ap-1", "02 10:30", false, "market", "02 11:00"},
		{"own deny windows of a cluster", "web prod-deny", "ap-1 eu-1", "02 14:30", false, "eu-only", "02 15:00"},
		{"two clusters together", "web split", "a b", "02 11:00", true, "a", "02 12:00"},
		{"two clusters apart", "web split", "a b", "02 13:00", false, "", "03 10:00"},
		{"clusters that are never open together", "web split", "a c", "02 11:00", false, "", ""},
		{"the same cluster twice", "web split", "a a", "02 11:00", true, "a", "02 12:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			application, environment, _ := strings.Cut(c.target, " ")
			got := rules.Window(target(application, environment), strings.Fields(c.clusters), instant(t, "2026-03-"+c.at))
			next := ""
			if !got.Next.IsZero() {
				next = got.Next.Format("02 15:04")
			}
			if got.Open != c.open || got.By != c.by || next != c.next || got.Reason == "" {
				t.Errorf("got open %v by %q until %q (%s)", got.Open, got.By, next, got.Reason)
			}
		})
	}
}

// TestWindowMinuteByMinute holds the answers for several clusters against those for each of them, and Next against a search.
func TestWindowMinuteByMinute(t *testing.T) {
	t.Parallel()
	root := "windows:\n" +
		daily("allow", "a", 8, 4, "clusters: [a, both]") +
		daily("allow", "b", 10, 13, "clusters: [b]") +
		daily("deny", "d", 11, 1, "clusters: [b, c]") +
		daily("allow", "e", 23, 9)
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": root, "apps/web/sluice.yaml": "windows:\n" + daily("allow", "own", 7, 5)})
	at := target("web", "prod")
	each := func(when time.Time) bool {
		for _, cluster := range []string{"a", "b", "c"} {
			if !rules.Window(at, []string{cluster}, when).Open {
				return false
			}
		}
		return true
	}
	const step = 30 * time.Minute
	start := instant(t, "2026-03-02 00:15")
	for when := start; when.Before(start.Add(48 * time.Hour)); when = when.Add(step) {
		got := rules.Window(at, []string{"a", "b", "c"}, when)
		if got.Open != each(when) {
			t.Fatalf("%s: open is %v, and for each cluster %v", when, got.Open, each(when))
		}
		change := when
		for each(change) == got.Open {
			change = change.Add(step)
		}
		if got.Next.After(change) || !got.Next.After(change.Add(-step)) {
			t.Fatalf("%s: open %v changes at %s, and was found to by %s", when, got.Open, got.Next, change)
		}
	}
}

func TestTheReasonNamesTheClusterThatHolds(t *testing.T) {
	t.Parallel()
	rules := parse(t, promotion.PolicyFiles{"sluice.yaml": "windows:\n" + daily("allow", "eu", 8, 4, "clusters: [eu]") + daily("allow", "us", 14, 4, "clusters: [us]")})
	for clusters, want := range map[string]string{
		"eu us": "no allow window is active for cluster us",
		"":      "no allow window is active for clusters us, and no cluster is known to run this target",
	} {
		got := rules.Window(target("web", "prod"), strings.Fields(clusters), instant(t, "2026-03-02 09:00"))
		if got.Open || got.Reason != want {
			t.Errorf("%q: %+v", clusters, got)
		}
	}
}
