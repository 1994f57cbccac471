// Package prometheus asks a Prometheus, or what speaks as one, for metrics.
package prometheus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Options say where the server is and who asks.
type Options struct {
	URL   string
	Token func() (string, error) // a bearer token, read anew for each question; nil: none is sent
}

// Server is one Prometheus.
type Server struct{ api v1.API }

// timeout bounds one question: gates wait for it.
const timeout = 5 * time.Second

// points is how many moments of the time are looked at.
const points = 60

// New opens a server. It does not ask it anything yet.
func New(o Options) (*Server, error) {
	client, err := api.NewClient(api.Config{Address: o.URL, RoundTripper: bearer{o.Token}})
	if err != nil {
		return nil, fmt.Errorf("prometheus at %s: %w", o.URL, err)
	}
	return &Server{v1.NewAPI(client)}, nil
}

type bearer struct{ token func() (string, error) }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != nil {
		token, err := b.token()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// Over implements promotion.Metrics.
func (s *Server) Over(ctx context.Context, query string, from, to time.Time) (lowest, highest float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	from, to = from.Truncate(time.Second), to.Truncate(time.Second)
	step := max(to.Sub(from)/points, time.Second).Truncate(time.Second)
	value, warnings, _, err := s.api.QueryRange(ctx, query, v1.Range{Start: from, End: to, Step: step}, v1.WithTimeout(timeout))
	if errors.Is(err, context.DeadlineExceeded) {
		return 0, 0, fmt.Errorf("prometheus did not answer within %s", timeout)
	} else if err != nil {
		return 0, 0, fmt.Errorf("prometheus: %s", shortened(err))
	}
	if len(warnings) > 0 { // such as a part of the data that did not answer
		return 0, 0, fmt.Errorf("prometheus warns: %s", shortened(errors.New(warnings[0])))
	}
	series, ok := value.(model.Matrix)
	switch {
	case !ok:
		return 0, 0, fmt.Errorf("prometheus answered with a %s, not with a series", value.Type())
	case len(series) == 0:
		return 0, 0, errors.New("the query has no value")
	case len(series) > 1:
		return 0, 0, fmt.Errorf("the query has %d series, such as %s and %s: it must have one", len(series), series[0].Metric, series[1].Metric)
	case len(series[0].Histograms) > 0:
		return 0, 0, errors.New("the query has histograms, not numbers")
	}
	return extremes(series[0].Values, from, to, step)
}

// extremes refuses a series with holes: what was not measured is not known.
func extremes(values []model.SamplePair, from, to time.Time, step time.Duration) (lowest, highest float64, err error) {
	lowest, highest = math.Inf(1), math.Inf(-1)
	next := from
	for _, v := range values {
		at := v.Timestamp.Time()
		if at.Sub(next) >= step {
			return 0, 0, fmt.Errorf("the query has no value at %s", next.UTC().Format(time.RFC3339))
		}
		if math.IsNaN(float64(v.Value)) {
			return 0, 0, fmt.Errorf("the query's value at %s is not a number", at.UTC().Format(time.RFC3339))
		}
		lowest, highest = min(lowest, float64(v.Value)), max(highest, float64(v.Value))
		next = at.Add(step)
	}
	if to.Sub(next) >= step {
		return 0, 0, fmt.Errorf("the query has no value at %s", next.UTC().Format(time.RFC3339))
	}
	return lowest, highest, nil
}

// shortened keeps a server's error page out of a gate's reason.
func shortened(err error) string {
	const most = 200
	text := strings.Join(strings.Fields(err.Error()), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

var _ promotion.Metrics = (*Server)(nil)
