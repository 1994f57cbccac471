package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/httpapi"
	"github.com/sluicehq/sluice/internal/telemetry"
	"github.com/sluicehq/sluice/internal/web"
)

// answer begins to answer on the listener: at once for the built-in PR host and
// what is mounted beside it, which the server itself needs to get ready, and with 503 for everything else.
func (s *server) answer() {
	s.setDoors(nil)
	s.http = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.doors.Load()).ServeHTTP(w, r) }),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	go func() {
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("the server no longer answers", "err", err)
		}
	}()
}

// setDoors mounts the built-in host's git and all that is beside it in front of Sluice's own doors.
func (s *server) setDoors(own http.Handler) {
	if own == nil {
		own = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Sluice is starting up; try again in a moment", http.StatusServiceUnavailable)
		})
	}
	git := http.StripPrefix("/git", s.host.Handler())
	mounts := maps.Clone(s.mounts) // the doors before these may be ranging over theirs
	var doors http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for prefix, handler := range mounts {
			if r.URL.Path == prefix || strings.HasSuffix(prefix, "/") && strings.HasPrefix(r.URL.Path, prefix) {
				handler.ServeHTTP(w, r)
				return
			}
		}
		if repository, _, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/git/"), "/"); ok && strings.HasSuffix(repository, ".git") {
			git.ServeHTTP(w, r) // the host itself decides who may push
			return
		}
		own.ServeHTTP(w, r)
	})
	s.doors.Store(&doors)
}

// openDoors puts API and pages in front of the use cases.
func (s *server) openDoors() error {
	hooks, err := s.webhooks()
	if err != nil {
		return err
	}
	s.mounts["/webhooks/"] = hooks
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	pages, err := web.New(web.Options{UseCases: s.service, Store: s.store, Auth: s.auth, Demo: s.demo, Log: s.log, Now: time.Now,
		PullRequests: pullRequestPages{s.host}})
	if err != nil {
		return fmt.Errorf("prepare the pages: %w", err)
	}
	apiErrors := httpapi.ErrorHandler(s.log)
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		if isProgram(c.Request().URL.Path) {
			apiErrors(err, c)
		} else {
			pages.HandleError(err, c)
		}
	}
	metrics := telemetry.New(s.store, time.Now, s.log)
	s.mounts["/metrics"] = metrics
	e.Use(metrics.Requests(), httpapi.IdentifyRequest(echo.ExtractIPDirect()), s.auth.Middleware())
	router := auth.NewRouter(e)
	httpapi.New(httpapi.Options{UseCases: s.service, Store: s.store, Ready: s.readiness, Now: time.Now, Log: s.log}).Register(router)
	pages.Register(router)
	if open := router.Undeclared(); len(open) > 0 {
		return fmt.Errorf("routes without a declared access: %v", open)
	}
	s.http.RegisterOnShutdown(pages.Close) // ends the streams that would keep it waiting
	s.setDoors(e)
	return nil
}

// isProgram tells whether a path is for programs, which read problem+json, not for people.
func isProgram(path string) bool {
	return strings.HasPrefix(path, "/api/") || path == "/healthz" || path == "/readyz"
}
