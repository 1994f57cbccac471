package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/api"
	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

const problemJSON = "application/problem+json"

// refusal is a request that the domain never sees.
type refusal struct {
	status               int
	code, field, message string
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, code, field, format string, args ...any) error {
	return &refusal{status: status, code: code, field: field, message: fmt.Sprintf(format, args...)}
}

// found turns the store's ErrNotFound into an answer for who asked.
func found(err error, code, format string, args ...any) error {
	if errors.Is(err, promotion.ErrNotFound) {
		return &promotion.Error{Kind: promotion.Absent, Code: code, Message: fmt.Sprintf(format, args...)}
	}
	return err
}

// ErrorHandler answers every error as problem+json (RFC 9457). What nobody outside can act on is
// logged under the request's id, and its text stays inside.
func ErrorHandler(log *slog.Logger) echo.HTTPErrorHandler {
	return func(err error, c echo.Context) {
		r := c.Request()
		p, expected := problemOf(err, r)
		p.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
		gone := r.Context().Err() != nil // nobody waits for an answer any more
		if (!expected || c.Response().Committed) && !gone {
			log.ErrorContext(r.Context(), "request failed", "error", err, "request_id", p.RequestID, "method", r.Method, "path", r.URL.Path)
		}
		if c.Response().Committed {
			return
		}
		if p.Status == http.StatusUnauthorized {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, "Bearer")
		}
		body, err := json.Marshal(p)
		if err == nil {
			err = c.Blob(p.Status, problemJSON, body)
		}
		if err != nil && !gone {
			log.ErrorContext(r.Context(), "answer a problem", "error", err, "request_id", p.RequestID)
		}
	}
}

// problemOf is expected unless the error is Sluice's own fault.
func problemOf(err error, r *http.Request) (p api.Problem, expected bool) {
	var decided *promotion.Error
	var refused *refusal
	var routed *echo.HTTPError
	switch {
	case errors.As(err, &decided):
		p = newProblem(auth.Status(decided.Kind), decided.Code, decided.Message)
		p.Field = decided.Field
		if decided.Kind == promotion.Refused {
			p.Gates = each(decided.Gates, gateAnswer)
		}
	case errors.As(err, &refused):
		p = newProblem(refused.status, refused.code, refused.message)
		p.Field = refused.field
	case errors.As(err, &routed) && routed.Code == http.StatusNotFound:
		p = newProblem(routed.Code, "not-found", fmt.Sprintf("there is nothing at %s: see /api/openapi.yaml for what there is", r.URL.Path))
	case errors.As(err, &routed) && routed.Code == http.StatusMethodNotAllowed:
		p = newProblem(routed.Code, "method-not-allowed", fmt.Sprintf("%s cannot be used on %s: see /api/openapi.yaml", r.Method, r.URL.Path))
	case errors.As(err, &routed) && routed.Code < http.StatusInternalServerError:
		text := http.StatusText(routed.Code)
		p = newProblem(routed.Code, strings.ToLower(strings.ReplaceAll(text, " ", "-")), text)
	default:
		return newProblem(http.StatusInternalServerError, "internal",
			"Sluice failed to do this. Try again; if it keeps failing, give an admin the request_id to look for in the log."), false
	}
	return p, true
}

func newProblem(status int, code, detail string) api.Problem {
	return api.Problem{Type: "urn:sluice:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}
