package web_test

import (
	"context"
	"html"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// stream follows an event stream until its context ends.
func stream(ctx context.Context, d *door, target string) (events func() []string, ended <-chan struct{}) {
	w, done := newFlushed(), make(chan struct{})
	go func() {
		defer close(done)
		d.echo.ServeHTTP(w, request("", target, nil).WithContext(ctx))
	}()
	return w.events, done
}

func TestEventsOnlyWhenSomethingChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newAnonymousDoor(t)
		ctx, stop := context.WithCancel(t.Context())
		board, ended := stream(ctx, d, "/events")
		other, otherEnded := stream(ctx, d, "/events?q=search")
		one, oneEnded := stream(ctx, d, "/events?promotion=12")

		time.Sleep(5500 * time.Millisecond) // of the bubble's clock: no time passes
		if a, b, c := len(board()), len(other()), len(one()); a != 1 || b != 1 || c != 1 {
			t.Errorf("while nothing changed there were %d, %d and %d events, want the first of each", a, b, c)
		}
		d.Lock()
		d.rows = sampleBoard()
		d.rows[1].Cells[0].Deployments[0].Health = promotion.Degraded // checkout
		d.Unlock()
		time.Sleep(2 * time.Second)
		if a, b, c := len(board()), len(other()), len(one()); a != 2 || b != 1 || c != 1 {
			t.Errorf("after a change of checkout there were %d, %d and %d events, want 2, 1 and 1", a, b, c)
		}
		stop()
		<-ended
		<-otherEnded
		<-oneEnded
	})
}

func TestStopIsToldToEveryOpenPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newAnonymousDoor(t)
		ctx, stop := context.WithCancel(t.Context())
		board, ended := stream(ctx, d, "/events")
		one, oneEnded := stream(ctx, d, "/events?promotion=10")
		time.Sleep(1500 * time.Millisecond)
		before, beforeOne := len(board()), len(one())
		d.Lock()
		d.holds = []promotion.Hold{sampleStop()}
		d.Unlock()
		time.Sleep(2 * time.Second)
		if got, gotOne := len(board())-before, len(one())-beforeOne; got != 1 || gotOne != 1 {
			t.Errorf("when everything was stopped the board and a promotion's page were told %d and %d times, want once each", got, gotOne)
		}
		stop()
		<-ended
		<-oneEnded
	})
}

func TestReconnectingHearsNothingOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newAnonymousDoor(t)
		events, ended := stream(t.Context(), d, "/events")
		time.Sleep(500 * time.Millisecond)
		id := strings.TrimPrefix(strings.Split(events()[0], "\n")[1], "id: ")
		d.web.Close()
		<-ended // at once, though nobody left

		d = newAnonymousDoor(t)
		r, w := request("", "/events?seen=older", nil), newFlushed()
		r.Header.Set("Last-Event-ID", id)
		d.echo.ServeHTTP(w, r) // ends by itself after a minute
		if got := w.events(); len(got) != 0 {
			t.Errorf("a browser that has the newest was told %v", got)
		}
	})
}

func TestPageKnowsItsOwnState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, target := range []string{"/?q=check", "/promotions/12"} {
			d, w := newAnonymousDoor(t), newFlushed()
			_, rest, ok := strings.Cut(d.get("", target).Body.String(), `data-events="`)
			address, _, _ := strings.Cut(rest, `"`)
			if !ok {
				t.Fatalf("GET %s is not live", target)
			}
			d.echo.ServeHTTP(w, request("", html.UnescapeString(address), nil))
			if got := w.events(); len(got) != 0 {
				t.Errorf("the page %s, just loaded, is told at once that it is old: %v", target, got)
			}
		}
	})
}
