package web

import (
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// readBefore is the cursor of a list: only what has a lower id. Zero for the start.
func readBefore(c echo.Context) (int64, error) { return queryID(c, "before") }

// queryID is zero when the parameter is not given.
func queryID(c echo.Context, name string) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, &promotion.Error{Kind: promotion.Invalid, Code: "malformed-parameter", Field: name,
			Message: name + " is " + strconv.Quote(text) + ": give a whole number above 0"}
	}
	return id, nil
}

// cut takes one page off a list that was asked for one item more, and gives the
// last one's id when there is a next page.
func cut[Item any](found []Item, limit int, id func(Item) int64) (shown []Item, last int64) {
	if len(found) <= limit {
		return found, 0
	}
	return found[:limit], id(found[limit-1])
}

// older is the address of the next page, empty when there is none.
func older(path string, query url.Values, last int64) string {
	if last == 0 {
		return ""
	}
	query.Set("before", strconv.FormatInt(last, 10))
	return path + "?" + query.Encode()
}
