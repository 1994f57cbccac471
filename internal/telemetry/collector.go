package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// patience is how long the store may take for all questions of a scrape. Prometheus
// gives a scrape ten seconds unless told otherwise.
const patience = 5 * time.Second

// question is one query of the store and the metrics made of its answer.
type question struct {
	about   string // in the log
	metrics []*prometheus.Desc
	ask     func(ctx context.Context, store Store, at time.Time) ([]prometheus.Metric, error)
}

// collector asks the store whenever it is collected.
type collector struct {
	store     Store
	now       func() time.Time
	log       *slog.Logger
	up        *prometheus.Desc
	questions []question

	mu      sync.Mutex
	failing bool // as logged
}

func newCollector(store Store, now func() time.Time, log *slog.Logger) *collector {
	return &collector{store: store, now: now, log: log,
		up:        describe("store_up", "1 when the store answered every question of this scrape, else 0; what it did not answer is missing."),
		questions: questions(),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.up
	for _, q := range c.questions {
		for _, m := range q.metrics {
			ch <- m
		}
	}
}

// Collect implements prometheus.Collector. A question that fails leaves the answers to the others.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	at := c.now()
	var failure error
	for _, q := range c.questions {
		metrics, err := q.ask(ctx, c.store, at)
		if err != nil {
			failure = errors.Join(failure, fmt.Errorf("%s: %w", q.about, err))
			continue
		}
		for _, m := range metrics {
			ch <- m
		}
	}
	up := 1.0
	if failure != nil {
		up = 0
	}
	ch <- gauge(c.up, up)
	c.tell(failure)
}

// tell logs when the store begins to fail, and when it answers again.
func (c *collector) tell(failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case failure != nil && !c.failing:
		c.log.Error("metrics are incomplete: the store does not answer", "err", failure)
	case failure == nil && c.failing:
		c.log.Info("metrics are complete again")
	}
	c.failing = failure != nil
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sluice_"+name, help, labels, nil)
}

func gauge(of *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
}
