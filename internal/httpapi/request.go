package httpapi

import (
	"crypto/rand"
	"regexp"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

var requestIDForm = regexp.MustCompile(`^[0-9A-Za-z._-]{1,128}$`)

// IdentifyRequest gives every request an id, the caller's own when it sent a
// usable one, answers with it and puts it and the source address where audit events find them.
// sourceAddress says which address to believe: echo.ExtractIPDirect, or an extractor that trusts a proxy.
func IdentifyRequest(sourceAddress echo.IPExtractor) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			id := r.Header.Get(echo.HeaderXRequestID)
			if !requestIDForm.MatchString(id) {
				id = rand.Text()
			}
			c.Response().Header().Set(echo.HeaderXRequestID, id)
			identity := promotion.Request{ID: id, SourceAddress: sourceAddress(r)}
			c.SetRequest(r.WithContext(promotion.WithRequest(r.Context(), identity)))
			return next(c)
		}
	}
}
