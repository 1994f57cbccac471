package web

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
)

const (
	lookEvery = time.Second
	// streamFor bounds a stream; the browser comes again, and who it is is asked again.
	streamFor = time.Minute
)

// snapshot is the board as all streams see it, read once for all of them.
type snapshot struct {
	sync.Mutex
	at    time.Time
	facts *boardFacts
}

// boardAt reads the board unless another stream did so a moment before. It
// returns the same facts as long as nothing has changed.
func (w *Web) boardAt(ctx context.Context, tick time.Time) (*boardFacts, error) {
	w.board.Lock()
	defer w.board.Unlock()
	if w.board.facts != nil && tick.Sub(w.board.at) < lookEvery*9/10 {
		return w.board.facts, nil
	}
	facts, err := w.boardFacts(ctx)
	if err != nil {
		return nil, err
	}
	facts = facts.withoutLookTimes()
	w.board.at = tick
	if w.board.facts == nil || !reflect.DeepEqual(facts, *w.board.facts) {
		w.board.facts = &facts
	}
	return w.board.facts, nil
}

// withoutLookTimes leaves out when each deployment was last looked at, which changes all the time and is not shown.
func (f boardFacts) withoutLookTimes() boardFacts {
	rows := slices.Clone(f.rows)
	for i := range rows {
		rows[i].Cells = slices.Clone(rows[i].Cells)
		for j := range rows[i].Cells {
			cell := &rows[i].Cells[j]
			cell.Deployments = slices.Clone(cell.Deployments)
			for k := range cell.Deployments {
				cell.Deployments[k].ObservedAt = time.Time{}
			}
		}
	}
	f.rows = rows
	return f
}

// streamEvents tells a page that it is no longer what it would be if it were asked for
// again. The event carries no content: the page fetches it as whoever it is.
func (w *Web) streamEvents(c echo.Context) error {
	current, err := w.watched(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), streamFor)
	defer cancel()
	out := http.NewResponseController(c.Response())
	_ = out.SetWriteDeadline(time.Time{}) // a server that cannot do that has no deadline
	c.Response().Header().Set(echo.HeaderContentType, "text/event-stream")
	c.Response().WriteHeader(http.StatusOK)
	seen := c.Request().Header.Get("Last-Event-ID")
	if seen == "" {
		seen = c.QueryParam("seen")
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for tick := time.Now(); ; {
		content, err := current(ctx, tick)
		if err != nil {
			return nil // the browser comes again and gets what there is to say
		}
		message := ": nothing new\n\n"
		if hash := hashOf(content); hash != seen {
			seen = hash
			message = fmt.Sprintf("retry: 2000\nid: %s\nevent: changed\ndata: %s\n\n", hash, hash)
		}
		if _, err := c.Response().Write([]byte(message)); err != nil {
			return nil // the page was left
		}
		if err := out.Flush(); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.closed:
			return nil
		case tick = <-ticker.C:
		}
	}
}

// watched is the content that a stream compares: of a promotion's page, or else of the board.
func (w *Web) watched(c echo.Context) (func(context.Context, time.Time) ([]byte, error), error) {
	by := auth.ActorOf(c)
	if text := c.QueryParam("promotion"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, absent("unknown-promotion", "there is no promotion %q", text)
		}
		return func(ctx context.Context, _ time.Time) ([]byte, error) {
			facts, err := w.promotionFacts(ctx, id)
			if err != nil {
				return nil, err
			}
			return w.promotionFragment(facts, by)
		}, nil
	}
	filter := readBoardFilter(c.QueryParams())
	var last *boardFacts
	var content []byte
	return func(ctx context.Context, tick time.Time) ([]byte, error) {
		facts, err := w.boardAt(ctx, tick)
		if err != nil || facts == last {
			return content, err
		}
		last = facts
		content, err = w.boardFragment(*facts, filter, by)
		return content, err
	}, nil
}
