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

// boardFacts is what the board is made from. Gates are those of open promotions, by promotion.
type boardFacts struct {
	rows  []promotion.BoardRow
	gates map[int64][]promotion.GateResult
}

func (w *Web) boardFacts(ctx context.Context) (boardFacts, error) {
	rows, err := w.store.Board(ctx)
	if err != nil {
		return boardFacts{}, err
	}
	f := boardFacts{rows: rows, gates: map[int64][]promotion.GateResult{}}
	for _, row := range rows {
		for _, cell := range row.Cells {
			if cell.Open == nil || cell.Open.State() != promotion.StateOpen {
				continue
			}
			if f.gates[cell.Open.ID], err = w.store.Gates(ctx, cell.Open.ID); err != nil {
				return boardFacts{}, err
			}
		}
	}
	return f, nil
}

func (w *Web) showBoard(c echo.Context) error {
	facts, err := w.boardFacts(c.Request().Context())
	if err != nil {
		return err
	}
	filter := readBoardFilter(c.QueryParams())
	v := newBoardView(facts, filter, auth.ActorOf(c), w.now())
	if c.QueryParam("fragment") == "board" {
		return w.answerFragment(c, "board", v)
	}
	content, err := w.boardFragment(facts, filter, auth.ActorOf(c))
	if err != nil {
		return err
	}
	l := &live{Fragment: "/?" + filter.encode(url.Values{"fragment": {"board"}}),
		Events: "/events?" + filter.encode(url.Values{"seen": {hashOf(content)}})}
	return w.show(c, http.StatusOK, "board", page{Title: "Board", Reload: true, Live: l, Body: v})
}

func (w *Web) answerFragment(c echo.Context, name string, body any) error {
	content, err := w.fragment(name, body)
	if err != nil {
		return err
	}
	return c.HTMLBlob(http.StatusOK, content)
}

// boardFragment is the board's content as of a fixed time, so that it changes only with the facts.
func (w *Web) boardFragment(facts boardFacts, filter boardFilter, by promotion.Actor) ([]byte, error) {
	return w.fragment("board", newBoardView(facts, filter, by, time.Time{}))
}
