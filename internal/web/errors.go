package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

type errorView struct {
	Title, Message, Next, Where, RequestID string
	SignInURL                              string

	nobody bool // the request brought nothing that says who it comes from
}

// HandleError answers every error of a page with a page that says what is wrong, where and what to do. What
// nobody outside can act on is logged, and its text stays inside.
func (w *Web) HandleError(err error, c echo.Context) {
	r := c.Request()
	gone := r.Context().Err() != nil // nobody waits for an answer any more
	status, v, expected := explainError(err, r)
	v.Where = r.Method + " " + r.URL.Path
	v.RequestID = c.Response().Header().Get(echo.HeaderXRequestID)
	if (!expected || c.Response().Committed) && !gone {
		w.log.ErrorContext(r.Context(), "page failed", "error", err, "request_id", v.RequestID, "method", r.Method, "path", r.URL.Path)
	}
	if c.Response().Committed || gone {
		return
	}
	if err := w.answerError(c, status, v); err != nil {
		w.log.ErrorContext(r.Context(), "answer with an error page", "error", err, "request_id", v.RequestID)
	}
}

func (w *Web) answerError(c echo.Context, status int, v errorView) error {
	protect(c)
	r := c.Request()
	switch {
	case r.Method == http.MethodHead:
		return c.NoContent(status)
	case v.nobody && r.Method == http.MethodGet:
		return c.Redirect(http.StatusSeeOther, signInURL(c))
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		v.SignInURL = signInURL(c)
	}
	return w.show(c, status, "error", page{Title: v.Title, Body: v})
}

// explainError is expected unless the error is Sluice's own fault.
func explainError(err error, r *http.Request) (status int, v errorView, expected bool) {
	var decided *promotion.Error
	var routed *echo.HTTPError
	switch {
	case errors.As(err, &decided):
		status = auth.Status(decided.Kind)
		return status, errorView{Title: title(status), Message: decided.Message, Next: advice(status), nobody: decided.Code == "unauthenticated"}, true
	case errors.As(err, &routed) && routed.Code < http.StatusInternalServerError:
		v = errorView{Title: title(routed.Code), Message: http.StatusText(routed.Code) + ".", Next: advice(routed.Code)}
		if routed.Code == http.StatusNotFound {
			v.Message = fmt.Sprintf("There is no page at %s.", r.URL.Path)
		}
		return routed.Code, v, true
	}
	status = http.StatusInternalServerError
	return status, errorView{Title: title(status), Message: "This page could not be made.", Next: advice(status)}, false
}

func title(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "Sign in first"
	case http.StatusForbidden:
		return "You may not do this"
	case http.StatusNotFound:
		return "Not found"
	case http.StatusConflict, http.StatusUnprocessableEntity:
		return "Not done"
	case http.StatusInternalServerError:
		return "Sluice failed to do this"
	}
	return "This request does not work"
}

func advice(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "Nothing was changed. Sign in, then do it again."
	case http.StatusForbidden:
		return "Nothing was changed. Sign in as somebody who may, or ask an admin for the role."
	case http.StatusNotFound:
		return "It may have been removed, or the address is mistyped. The board has everything that Sluice knows."
	case http.StatusInternalServerError:
		return "Try again. If it keeps failing, give an admin the request's id below: the log says why."
	}
	return "Nothing was changed. Go back, or start from the board."
}

// found turns the store's ErrNotFound into an answer for who asked.
func found(err error, code, format string, args ...any) error {
	if errors.Is(err, promotion.ErrNotFound) {
		return absent(code, format, args...)
	}
	return err
}

func absent(code, format string, args ...any) error {
	return &promotion.Error{Kind: promotion.Absent, Code: code, Message: fmt.Sprintf(format, args...)}
}
