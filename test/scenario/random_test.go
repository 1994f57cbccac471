package scenario_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// For a long run: go test -run TestWhateverHappens ./test/scenario -seeds 100 -first-seed 1000 -steps 200.
var (
	seeds     = flag.Int("seeds", 4, "how many random walks")
	firstSeed = flag.Uint64("first-seed", 20, "the seed of the first random walk; the next ones count up")
	walkSteps = flag.Int("steps", 60, "how many steps a random walk takes")
)

// Whatever people, programs, the cluster and the clock do, in whatever order, prod gets nothing that an enforced gate held, unless
// somebody broke the glass or there is a violation that says so.
func TestWhateverHappensTheGatesHold(t *testing.T) {
	for i := range *seeds {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			w := newWalker(t, seed)
			w.newRelease()
			for range *walkSteps {
				w.walk()
				w.holdsTrue()
			}
			w.comesToRest()
			w.holdsTrue()
			w.leavesNothingOpen()
			w.says()
		})
	}
}

// walker takes random steps through one world, in which web goes through staging to prod.
type walker struct {
	*world
	random *rand.Rand
	taken  []string // what was done, to be read when something went wrong
	made   int      // things that were named after a number
	byHand []string // commits on main that people made
	pulls  []pull   // of people
}

// pull is a person's pull request.
type pull struct {
	number int
	branch string
}

// The window of prod is open for 40 minutes of each hour.
const openMinutes = 40

func newWalker(t *testing.T, seed uint64) *walker {
	newer := []string{"supersede", "queue"}[seed%2]
	w := &walker{random: rand.New(rand.NewPCG(seed, seed)), world: newWorldOf(t, func(files map[string][]byte) {
		delete(files, overlay("web", "dev"))
		files["sluice.yaml"] = []byte(policyOf(1, newer, 0))
	})}
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("seed %d, steps taken:\n%s", seed, strings.Join(w.taken, "\n"))
		}
	})
	w.policies.change = func(t promotion.Target, p *promotion.EnvironmentPolicy) {
		if t.Application == "web" && t.Environment == "prod" {
			p.Evidence = []promotion.NeededEvidence{{Name: "load-test"}}
		}
	}
	w.policies.window = func(t promotion.Target, at time.Time) promotion.WindowDecision {
		if t.Environment != "prod" {
			return promotion.WindowDecision{Open: true, Reason: "always", By: "test"}
		}
		hour := at.Truncate(time.Hour)
		if edge := hour.Add(openMinutes * time.Minute); at.Before(edge) {
			return promotion.WindowDecision{Open: true, Next: edge, Reason: "the first part of the hour", By: "test"}
		}
		return promotion.WindowDecision{Next: hour.Add(time.Hour), Reason: "the rest of the hour", By: "test"}
	}
	w.sees("web", "prod", healthy)
	w.sees("web", "staging", healthy)
	return w
}

// walk takes one step. What is refused is a step too; often the work that it makes is left for later.
func (w *walker) walk() {
	w.Helper()
	moves := w.moves()
	m := moves[w.random.IntN(len(moves))]
	said := m.do()
	w.taken = append(w.taken, fmt.Sprintf("%3d %s %s: %s", len(w.taken)+1, w.clock.now().Format(time.TimeOnly), m.name, said))
	if w.random.IntN(4) > 0 {
		w.settle()
	}
}

// says how far the walk came, so that one can see whether it proves anything.
func (w *walker) says() {
	w.Helper()
	hands := w.texts(merged+"SELECT id::text FROM merged WHERE merge_sha = ANY ($1)", w.byHand)
	settledHotfixes := w.texts(hotfixes + "SELECT h.id::text FROM h JOIN releases r ON r.id = h.release_id WHERE " + settled)
	w.Logf("merged %d, of these by hand %d; syncs %d; violations %d; rolled back %d; hotfixes live %d, of these settled %d, waived %d; moved up in the queue %d",
		len(w.texts(merged+"SELECT id::text FROM merged")), len(hands), len(w.cluster.syncs), w.count("SELECT count(*) FROM violations"), w.happened("promotion.rolled-back"),
		len(w.texts(hotfixes+"SELECT id::text FROM h")), len(settledHotfixes), w.happened("release.waived"), w.happened("promotion.moved-up"))
}

// happened counts what was audited.
func (w *walker) happened(action string) int {
	return w.count("SELECT count(*) FROM audit_events WHERE action = $1", action)
}

// comesToRest has everything looked at until nothing is left to do.
func (w *walker) comesToRest() {
	w.Helper()
	w.clock.pass(time.Minute)
	for range 3 {
		w.lookAtEverything()
	}
}

// pick is one of all, or the zero value without any.
func pick[T any](w *walker, all []T) (one T) {
	if len(all) > 0 {
		one = all[w.random.IntN(len(all))]
	}
	return one
}

// one is a promotion of prod that a query's condition finds, zero without one.
func (w *walker) one(condition string) int64 {
	var id int64
	all := w.texts("SELECT p.id::text FROM promotions p JOIN targets t ON t.id = p.target_id WHERE t.environment = 'prod' AND " + condition + " ORDER BY p.id")
	_, _ = fmt.Sscan(pick(w, all), &id)
	return id
}

func (w *walker) next() int { w.made++; return w.made }

// outcome is how a step ended, in a few words. A refusal is as good as a success; anything else is a failure.
func (w *walker) outcome(what any, err error) string {
	w.Helper()
	if err == nil {
		return fmt.Sprint(what)
	}
	var refusal *promotion.Error
	if !errors.As(err, &refusal) && !errors.Is(err, promotion.ErrConflict) {
		w.Fatalf("%v: %v", what, err)
	}
	return fmt.Sprintf("%v refused: %v", what, err)
}
