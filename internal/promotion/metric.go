package promotion

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Metrics answers what a metric was. An error means that it is not known, whatever the cause.
type Metrics interface {
	// Over is the lowest and the highest value of a PromQL query between two moments, both included. A query that is not one series with
	// a number at every moment is an error.
	Over(ctx context.Context, query string, from, to time.Time) (lowest, highest float64, err error)
}

// Threshold is what a metric must have been, all the time. The zero value asks for nothing.
type Threshold struct {
	Query string        // PromQL
	Above bool          // its value must be above the limit, otherwise below it
	Limit float64       // not itself allowed
	For   time.Duration // until now
}

func (t Threshold) String() string {
	side := "below "
	if t.Above {
		side = "above "
	}
	return side + strconv.FormatFloat(t.Limit, 'g', -1, 64) + " for " + Lasting(t.For)
}

// measured judges evidence that is a metric. It is asked for anew at each look; nothing of an answer is kept but the gate's result.
func (s *Service) measured(ctx context.Context, f *situation, needed NeededEvidence) GateResult {
	to := f.now
	if now := s.Now(); to.After(now) {
		to = now // a plan of a later moment
	}
	return s.keptTo(ctx, needed, to)
}

// keptTo asks whether a metric kept to its limit for its time, up to a moment.
func (s *Service) keptTo(ctx context.Context, needed NeededEvidence, to time.Time) GateResult {
	if s.Metrics == nil {
		return block("%s is not known: this server is connected to no Prometheus", needed)
	}
	lowest, highest, err := s.Metrics.Over(ctx, needed.Threshold.Query, to.Add(-needed.Threshold.For), to)
	switch {
	case err != nil:
		return block("%s is not known: %v", needed, err)
	case needed.Threshold.broken(lowest, highest) && needed.Threshold.Above:
		return wait("%s: it was as low as %s", needed, number(lowest))
	case needed.Threshold.broken(lowest, highest):
		return wait("%s: it was as high as %s", needed, number(highest))
	}
	return pass("%s", needed)
}

// broken tells of the lowest and the highest value whether one was at the limit or past it.
func (t Threshold) broken(lowest, highest float64) bool {
	if t.Above {
		return lowest <= t.Limit
	}
	return highest >= t.Limit
}

// number is as exact as people read it.
func number(v float64) string { return fmt.Sprintf("%.4g", v) }
