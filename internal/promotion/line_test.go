package promotion_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

var nine = time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)

// waiting is a sync of an application that was merged, and joined the line, so many minutes before nine.
func waiting(id int64, application string, minutes int, most int, clusters ...string) promotion.Lined {
	at := nine.Add(-time.Duration(minutes) * time.Minute)
	return promotion.Lined{PromotionID: id, Application: application, Environment: "prod", Clusters: clusters, Most: most,
		Priority: promotion.PriorityNormal, MergedAt: at, JoinedAt: at}
}

func syncing(l promotion.Lined) promotion.Lined {
	l.StartedAt, l.Begun = nine.Add(-time.Minute), true
	return l
}

func inClass(p promotion.Priority, l promotion.Lined) promotion.Lined {
	l.Priority = p
	return l
}

func TestLine(t *testing.T) {
	t.Parallel()
	lost := waiting(1, "a", 14, 5, "eu")
	lost.StartedAt = nine.Add(-11 * time.Minute)
	stuck := syncing(waiting(1, "a", 14, 1, "eu"))
	stuck.StartedAt = nine.Add(-11 * time.Minute)
	for name, c := range map[string]struct {
		all  []promotion.Lined
		want string // each by its number, with + when it may go and * when it goes already
	}{
		"the oldest first":         {[]promotion.Lined{waiting(1, "a", 1, 1, "eu"), waiting(2, "b", 2, 1, "eu")}, "2+ 1"},
		"applications take turns":  {[]promotion.Lined{waiting(1, "a", 9, 2, "eu"), waiting(2, "a", 8, 2, "eu"), waiting(3, "b", 7, 2, "eu")}, "1+ 3+ 2"},
		"one that syncs is a turn": {[]promotion.Lined{syncing(waiting(1, "a", 9, 2, "eu")), waiting(2, "a", 8, 2, "eu"), waiting(3, "b", 7, 2, "eu")}, "1* 3+ 2"},
		"priority before turns": {[]promotion.Lined{waiting(1, "a", 9, 1, "eu"), inClass(promotion.PriorityRollback, waiting(2, "b", 0, 1, "eu")),
			inClass(promotion.PriorityLow, waiting(3, "c", 14, 1, "eu"))}, "2+ 1 3"},
		"age is priority":                         {[]promotion.Lined{inClass(promotion.PriorityHigh, waiting(1, "a", 1, 1, "eu")), waiting(2, "b", 16, 1, "eu")}, "2+ 1"},
		"each cluster has its own room":           {[]promotion.Lined{syncing(waiting(1, "a", 9, 1, "eu")), waiting(2, "b", 8, 1, "eu"), waiting(3, "c", 7, 1, "us")}, "1* 2 3+"},
		"nobody passes one who waits for both":    {[]promotion.Lined{syncing(waiting(1, "a", 9, 1, "eu")), waiting(2, "b", 8, 1, "eu", "us"), waiting(3, "c", 7, 1, "us")}, "1* 2 3"},
		"the strictest of those that sync counts": {[]promotion.Lined{syncing(waiting(1, "a", 9, 1, "eu")), waiting(2, "b", 8, 9, "eu")}, "1* 2"},
		"a place without a sync is lost":          {[]promotion.Lined{lost, waiting(2, "b", 9, 1, "eu")}, "2+ 1"},
		"a place does not last":                   {[]promotion.Lined{stuck, waiting(2, "b", 9, 1, "eu")}, "2+"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range promotion.Line(c.all, nine) {
				word := fmt.Sprint(p.PromotionID)
				switch {
				case p.Has:
					word += "*"
				case p.May:
					word += "+"
				}
				got = append(got, word)
			}
			if want := fmt.Sprint(c.want); fmt.Sprint(got) != "["+want+"]" {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// TestLineOverTime lets syncs come and go at random: there are never more than allowed, the order in which they are read makes no
// difference, and whoever waits gets there although more urgent ones keep coming.
func TestLineOverTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			most := 1 + random.IntN(4)
			first := inClass(promotion.PriorityLow, waiting(1, "patient", 0, most, "eu"))
			all, now, next := []promotion.Lined{first}, nine, int64(2)
			for !slices.ContainsFunc(all, func(l promotion.Lined) bool { return l.PromotionID == 1 && !l.StartedAt.IsZero() }) {
				if now.After(nine.Add(2 * time.Hour)) {
					t.Fatal("the patient one never got a place")
				}
				now = now.Add(time.Minute)
				all = slices.DeleteFunc(all, func(l promotion.Lined) bool { return !l.StartedAt.IsZero() && random.IntN(2) == 0 })
				for range random.IntN(most + 1) {
					all = append(all, promotion.Lined{PromotionID: next, Application: fmt.Sprint(random.IntN(5)), Clusters: []string{"eu", "us"}[random.IntN(2):],
						Priority: promotion.Priority(1 + random.IntN(3)), Most: most + random.IntN(2), MergedAt: now, JoinedAt: now})
					next++
				}
				all = step(t, all, now, random)
			}
		})
	}
}

// step starts all that may, and holds it against what was promised.
func step(t *testing.T, all []promotion.Lined, now time.Time, random *rand.Rand) []promotion.Lined {
	t.Helper()
	placed := promotion.Line(all, now)
	shuffled := slices.Clone(all)
	random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if again := promotion.Line(shuffled, now); !reflect.DeepEqual(placed, again) {
		t.Fatalf("the order depends on how it was read:\n%+v\n%+v", placed, again)
	}
	running, least := map[string]int{}, map[string]int{}
	var after []promotion.Lined
	for _, p := range placed {
		if p.May {
			p.StartedAt, p.Begun = now, true
		}
		after = append(after, p.Lined)
		if p.StartedAt.IsZero() {
			continue
		}
		for _, c := range p.Clusters {
			running[c]++
			if least[c] == 0 || p.Most < least[c] {
				least[c] = p.Most
			}
		}
	}
	for c, n := range running {
		if n > least[c] {
			t.Fatalf("%d sync in %s, where %d may", n, c, least[c])
		}
	}
	return after
}
