package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// boardFilter says what of the board is shown.
type boardFilter struct {
	Query string // part of an application's name
	Busy  bool   // only what is not quiet
}

func readBoardFilter(q url.Values) boardFilter {
	return boardFilter{Query: q.Get("q"), Busy: q.Get("busy") == "1"}
}

func (f boardFilter) encode(more url.Values) string {
	if f.Query != "" {
		more.Set("q", f.Query)
	}
	if f.Busy {
		more.Set("busy", "1")
	}
	return more.Encode()
}

// boardFacts is what the board is made from.
type boardFacts struct {
	rows      []promotion.BoardRow
	gates     map[int64][]promotion.GateResult // of open promotions, by promotion
	held      map[int64]*promotion.Hold        // by target; zero: everything
	paused    map[int64]*promotion.SyncPause   // by target
	drifting  map[int64]int                    // fields that are not as Git says, by target
	overrides map[int64][]promotion.Override   // in force, by target
	owed      map[int64][]promotion.Owed       // by target
	toReview  string
	overdue   []promotion.Overdue
	faults    []policyView // of policies that cannot be read
}

// boardFacts reads all that the board shows.
func (w *Web) boardFacts(ctx context.Context) (boardFacts, error) {
	f, err := w.factsOfTargets(ctx)
	if err != nil {
		return f, err
	}
	for _, row := range f.rows {
		for _, cell := range row.Cells {
			if cell.Open == nil || cell.Open.State() != promotion.StateOpen {
				continue
			}
			if f.gates[cell.Open.ID], err = w.store.Gates(ctx, cell.Open.ID); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

// factsOfTargets reads what single targets are shown with: everything but the gates.
func (w *Web) factsOfTargets(ctx context.Context) (boardFacts, error) {
	rows, err := w.store.Board(ctx)
	if err != nil {
		return boardFacts{}, err
	}
	f := boardFacts{rows: rows, gates: map[int64][]promotion.GateResult{}, held: map[int64]*promotion.Hold{}, paused: map[int64]*promotion.SyncPause{}, drifting: map[int64]int{}, overrides: map[int64][]promotion.Override{}, owed: map[int64][]promotion.Owed{}}
	return f, w.addExceptions(ctx, &f)
}

// addExceptions adds what is not as it should be: holds, what is owed, overrides, violations and broken policies.
func (w *Web) addExceptions(ctx context.Context, f *boardFacts) error {
	holds, err := w.store.HoldsOf(ctx, 0)
	if err != nil {
		return err
	}
	for _, h := range holds {
		f.held[h.Target.ID] = &h
	}
	owed, err := w.store.Owed(ctx, 0)
	if err != nil {
		return err
	}
	for _, o := range owed {
		f.owed[o.Target.ID] = append(f.owed[o.Target.ID], o)
	}
	pauses, err := w.store.SyncPauses(ctx, 0)
	if err != nil {
		return err
	}
	for _, p := range pauses {
		f.paused[p.Target.ID] = &p
	}
	drifts, err := w.store.Drifts(ctx, 0, true, driftShown)
	if err != nil {
		return err
	}
	for _, d := range drifts {
		if d.Counts() {
			f.drifting[d.Target.ID]++
		}
	}
	overrides, err := w.store.Overrides(ctx, w.now())
	if err != nil {
		return err
	}
	for _, o := range overrides {
		if inForce(o, w.now()) {
			f.overrides[o.Target.ID] = append(f.overrides[o.Target.ID], o)
		}
	}
	violations, err := w.store.Violations(ctx, true, violationsShown)
	if err != nil {
		return err
	}
	f.toReview = toReview(len(violations), unreviewed(overrides))
	if f.overdue, err = w.useCases.Overdue(ctx); err != nil {
		return err
	}
	f.faults, err = w.brokenPolicies(ctx)
	return err
}

func (w *Web) showBoard(c echo.Context) error {
	facts, err := w.boardFacts(c.Request().Context())
	if err != nil {
		return err
	}
	filter := readBoardFilter(c.QueryParams())
	v := newBoardView(facts, filter, auth.ActorOf(c), w.now())
	if c.QueryParam("fragment") == "board" {
		return w.answerFragment(c, "board", body{Stopped: facts.stopped(w.now()), Body: v})
	}
	content, err := w.boardFragment(facts, filter, auth.ActorOf(c))
	if err != nil {
		return err
	}
	l := &live{Fragment: "/?" + filter.encode(url.Values{"fragment": {"board"}}),
		Events: "/events?" + filter.encode(url.Values{"seen": {hashOf(content)}})}
	return w.show(c, http.StatusOK, "board", page{Title: "Board", Reload: true, Live: l, Body: v})
}

func (w *Web) answerFragment(c echo.Context, name string, b body) error {
	content, err := w.fragment(name, b)
	if err != nil {
		return err
	}
	return c.HTMLBlob(http.StatusOK, content)
}

// boardFragment is the board's content as of a fixed time, so that it changes only with the facts.
func (w *Web) boardFragment(facts boardFacts, filter boardFilter, by promotion.Actor) ([]byte, error) {
	return w.fragment("board", body{Stopped: facts.stopped(time.Time{}), Body: newBoardView(facts, filter, by, time.Time{})})
}

// stopped is the hold of everything, nil without one.
func (f boardFacts) stopped(now time.Time) *heldView { return newHeldView(f.held[0], now) }

// cellView is a cell with what holds its target or opens its gates.
func (f boardFacts) cellView(c promotion.BoardCell, now time.Time) cellView {
	v := newCellView(c, now)
	v.Held = newHeldView(f.held[c.Target.ID], now)
	v.Paused = newPausedView(f.paused[c.Target.ID], c.Deployments, now)
	if n := f.drifting[c.Target.ID]; n > 0 {
		v.Drifting = &mark{Shape: "differs", Tone: "bad", Word: "drift", Title: plural(n, "field") + " not as Git says"}
	}
	v.Overrides = each(f.overrides[c.Target.ID], func(o promotion.Override) exceptionView { return newOverrideView(o, now) })
	v.Owed = each(f.owed[c.Target.ID], func(o promotion.Owed) owedView { return newOwedView(o, now) })
	return v
}
