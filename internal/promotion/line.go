package promotion

import (
	"cmp"
	"slices"
	"time"
)

// Priority is the class of a sync in the line: the higher one goes first.
type Priority int

// The priorities. A rollback goes before everything.
const (
	PriorityLow Priority = iota
	PriorityNormal
	PriorityHigh
	PriorityRollback
)

// Times of the line.
const (
	// placeLasts is how long a sync that neither ends nor fails keeps its place.
	placeLasts = 10 * time.Minute
	// ageing is after how long in the line a sync counts as of the next priority, so that none waits for ever.
	ageing = 15 * time.Minute
	// unjudgedFor is how long others wait for a merged promotion whose gates nobody has evaluated yet.
	unjudgedFor = time.Minute
)

// Lined is a sync that waits in the line or has a place.
type Lined struct {
	PromotionID              int64
	Application, Environment string
	Clusters                 []string
	Priority                 Priority
	Most                     int // may sync at once in each of its clusters
	MergedAt, JoinedAt       time.Time
	StartedAt                time.Time // it has a place since; zero while it waits
	Begun                    bool      // the engine applies it
	Unjudged                 bool      // its gates were not evaluated yet: it will be in the line, or held
}

// Placed is a sync with its place.
type Placed struct {
	Lined
	Has    bool   // it has a place
	May    bool   // it may take one now
	Number int    // in the line, from 1; zero when it has a place
	Behind *Lined // the one before it; nil for the first
}

// until is when the place of one that has it ends by itself.
func (l Lined) until() time.Time { return l.StartedAt.Add(placeLasts) }

// class is the priority, raised for having waited.
func (l Lined) class(now time.Time) Priority {
	return min(PriorityRollback, l.Priority+Priority(now.Sub(l.since())/ageing))
}

// since is from when on it waits. Whoever lost a place without a sync waits anew.
func (l Lined) since() time.Time {
	if !l.StartedAt.IsZero() {
		return l.until()
	}
	return l.JoinedAt
}

// oldest is what it is sorted by within its class.
func (l Lined) oldest() time.Time {
	if !l.StartedAt.IsZero() {
		return l.until()
	}
	return l.MergedAt
}

// Line puts syncs in order: by priority, then in turns of the applications, then the one merged first. It depends on nothing else, so
// every server comes to the same. Those with a place come first.
//
// None may start while as many sync in one of its clusters as its policy lets, or as that of one which syncs there does. Nobody goes
// past another one who waits for the same cluster.
func Line(all []Lined, now time.Time) []Placed {
	var placed []Placed
	var waiting []Lined
	turns, syncing, most := map[string]int{}, map[string]int{}, map[string]int{}
	take := func(l Lined) {
		for _, c := range l.Clusters {
			if syncing[c]++; most[c] == 0 || l.Most < most[c] {
				most[c] = l.Most
			}
		}
	}
	for _, l := range all {
		switch {
		case l.StartedAt.IsZero() || !now.Before(l.until()) && !l.Begun:
			waiting = append(waiting, l)
		case now.Before(l.until()):
			turns[l.Application]++
			take(l)
			placed = append(placed, Placed{Lined: l, Has: true})
		}
	}
	slices.SortFunc(placed, func(a, b Placed) int { return cmp.Compare(a.PromotionID, b.PromotionID) })
	shut := map[string]bool{} // clusters for which one waits already
	for i, l := range inTurns(waiting, turns, now) {
		p := Placed{Lined: l, May: true, Number: i + 1}
		if i > 0 {
			p.Behind = &placed[len(placed)-1].Lined
		}
		for _, c := range l.Clusters {
			full := syncing[c] > 0 && syncing[c] >= min(l.Most, most[c])
			p.May = p.May && !full && !shut[c]
		}
		if p.May {
			take(l)
		} else {
			for _, c := range l.Clusters {
				shut[c] = true
			}
		}
		placed = append(placed, p)
	}
	return placed
}

// inTurns sorts those who wait. turns counts the places that each application has.
func inTurns(waiting []Lined, turns map[string]int, now time.Time) []Lined {
	order := func(a, b Lined) int {
		return cmp.Or(cmp.Compare(b.class(now), a.class(now)), a.oldest().Compare(b.oldest()), cmp.Compare(a.PromotionID, b.PromotionID))
	}
	slices.SortFunc(waiting, order)
	turn := make(map[int64]int, len(waiting))
	for _, l := range waiting {
		turn[l.PromotionID] = turns[l.Application]
		turns[l.Application]++
	}
	slices.SortFunc(waiting, func(a, b Lined) int {
		return cmp.Or(cmp.Compare(b.class(now), a.class(now)), cmp.Compare(turn[a.PromotionID], turn[b.PromotionID]), order(a, b))
	})
	return waiting
}
