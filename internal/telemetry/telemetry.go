// Package telemetry tells Prometheus how the server and what it looks after are doing.
// Labels are names that a configuration or the code gives (repositories, environments,
// clusters, gates, routes): never ids, digests, people or free text.
package telemetry

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes are answered at once; further ones get 503, so that
// they cannot use up the database's connections.
const maxScrapes = 4

// Metrics answers scrapes. It has a registry of its own.
type Metrics struct {
	handler  http.Handler
	requests *prometheus.HistogramVec
}

// New prepares metrics of this process and of what the store knows, asked at each scrape.
// A store that does not answer within five seconds is reported as sluice_store_up 0 and
// logged once until it answers again.
func New(store Store, now func() time.Time, log *slog.Logger) *Metrics {
	registry := prometheus.NewRegistry()
	m := &Metrics{requests: newRequests()}
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
		m.requests,
		newCollector(store, now, log),
	)
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
	return m
}

// ServeHTTP answers one scrape, whatever the path.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.handler.ServeHTTP(w, r) }
