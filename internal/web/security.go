package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// maxForm is how many bytes a form may have.
const maxForm = 64 << 10

// policy lets a page load only what this server has, and run no script or style that is written into it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (w *Web) secure(h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		protect(c)
		if err := w.crossOrigin.Check(c.Request()); err != nil {
			return &promotion.Error{Kind: promotion.Forbidden, Code: "cross-origin",
				Message: "this form was sent from another site, and nothing was done: open the page here and send it again"}
		}
		c.Request().Body = http.MaxBytesReader(c.Response(), c.Request().Body, maxForm)
		return h(c)
	}
}

// protect sets the headers that every page has. The referrer stays within this site but
// is sent there: without it browsers send forms with the origin "null".
func protect(c echo.Context) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
