package scenario_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// tired is a host that answers no more calls for some time.
type tired struct {
	promotion.PullRequestHost
	until time.Time
}

func (h *tired) Error() string      { return "too many calls" }
func (h *tired) RetryAt() time.Time { return h.until }

func (h *tired) ListOpen(context.Context) ([]promotion.PullRequest, error) { return nil, h }

func (h *tired) Get(context.Context, int) (promotion.PullRequest, error) {
	return promotion.PullRequest{}, h
}

// Why nothing happens while a host wants no calls can be seen.
func TestAHostThatWantsNoCallsIsShown(t *testing.T) {
	for name, test := range map[string]func(w *world, id int64) error{
		"a look": func(w *world, _ int64) error {
			_, err := w.service.LookAtRepository(w.Context(), repository)
			return err
		},
		"a promotion": func(w *world, id int64) error {
			_, _, err := w.service.Advance(w.Context(), id)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			id := w.atProd("1.1.0")
			site := w.service.Sites[repository]
			host := &tired{PullRequestHost: site.Host, until: w.clock.now().Add(40 * time.Minute)}
			site.Host = host
			w.service.Sites[repository] = site
			var limit promotion.Limited
			if err := test(w, id); !errors.As(err, &limit) {
				t.Fatalf("the error is %v, want the host's", err)
			}
			shown := func() time.Time {
				r, err := w.service.Store.Repository(w.Context(), repository)
				w.must(err)
				return r.LimitedUntil
			}
			first := host.until
			if !shown().Equal(first) {
				t.Errorf("shown until %s, want %s", shown(), first)
			}
			host.until = first.Add(-time.Hour) // what was said before does not shorten it
			_ = test(w, id)                    //nolint:errcheck // as above
			if !shown().Equal(first) {
				t.Errorf("then shown until %s, want %s", shown(), first)
			}
		})
	}
}
