package telemetry

import (
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

func newRequests() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "sluice_http_request_duration_seconds",
		Help:    "Time to answer requests of API and pages, by route template, method and class of status. Streams of events are not measured.",
		Buckets: prometheus.DefBuckets,
	}, []string{"route", "method", "status"})
}

// Requests measures requests. It must be the outermost middleware: it has errors answered,
// since only then their status is known.
func (m *Metrics) Requests() echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := time.Now()
			status := "5xx" // of a handler that panics
			defer func() {
				if !isStream(c) {
					m.requests.WithLabelValues(routeOf(c), methodOf(c), status).Observe(time.Since(start).Seconds())
				}
			}()
			err := next(c)
			if err != nil {
				c.Error(err)
			}
			status = statusOf(c, err)
			return nil
		}
	}
}

// routeOf is the template of the route. What matched none is one route, whatever its path.
func routeOf(c echo.Context) string {
	if c.Path() == "" {
		return "none"
	}
	return c.Path()
}

// methodOf is one of those that HTTP defines: a client may send any word.
func methodOf(c echo.Context) string {
	switch method := c.Request().Method; method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// statusOf is 4xx for a request whose client went before there was an answer.
func statusOf(c echo.Context, err error) string {
	if err != nil && !c.Response().Committed {
		return "4xx"
	}
	return fmt.Sprintf("%dxx", c.Response().Status/100)
}

// isStream tells a stream of events, which lasts as long as somebody looks at the page.
func isStream(c echo.Context) bool {
	kind, _, err := mime.ParseMediaType(c.Response().Header().Get(echo.HeaderContentType))
	return err == nil && kind == "text/event-stream"
}
