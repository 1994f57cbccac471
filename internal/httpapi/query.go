package httpapi

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/sluicehq/sluice/internal/promotion"
)

// query reads a request's query parameters. The first that is wrong ends up in err.
type query struct {
	values url.Values
	err    error
}

// readQuery refuses parameters that are not known: a filter with a misspelt
// name would answer with everything.
func readQuery(c echo.Context, known ...string) *query {
	values, err := url.ParseQuery(c.Request().URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.refuse("malformed-query", "", "the query cannot be read: escape special characters with %")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(known, name):
			q.refuse("unknown-parameter", name, fmt.Sprintf("parameter %q is not known here: use %s", name, cmp.Or(strings.Join(known, ", "), "none")))
		case len(values[name]) > 1:
			q.refuse("malformed-parameter", name, "parameter "+name+" is given twice: give it once")
		case !utf8.ValidString(q.text(name)) || strings.ContainsRune(q.text(name), 0):
			q.refuse("malformed-parameter", name, "parameter "+name+" is not text")
		}
	}
	return q
}

func (q *query) refuse(code, field, message string) {
	if q.err == nil {
		q.err = refuse(http.StatusBadRequest, code, field, "%s", message)
	}
}

// text is a parameter's value, empty when it was not given.
func (q *query) text(name string) string { return q.values.Get(name) }

// needed is the value of a parameter that has to be given.
func (q *query) needed(name string) string {
	value := q.text(name)
	if value == "" {
		q.refuse("missing-parameter", name, "parameter "+name+" is missing: give it a value")
	}
	return value
}

// about tells whether a target has the application and environment asked for.
func (q *query) about(t promotion.Target) bool {
	application, environment := q.text("application"), q.text("environment")
	return (application == "" || application == t.Application) && (environment == "" || environment == t.Environment)
}

// id is zero when the parameter was not given.
func (q *query) id(name string) int64 {
	value := q.text(name)
	if value == "" {
		return 0
	}
	id, err := parseID(value)
	if err != nil {
		q.refuse("malformed-parameter", name, fmt.Sprintf("parameter %s is %q: give a whole number above 0", name, value))
	}
	return id
}

func (q *query) flag(name string) bool {
	switch value := q.text(name); value {
	case "", "false":
	case "true":
		return true
	default:
		q.refuse("malformed-parameter", name, fmt.Sprintf("parameter %s is %q: say true or false", name, value))
	}
	return false
}

// moment is zero when the parameter was not given.
func (q *query) moment(name string) time.Time {
	value := q.text(name)
	if value == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		q.refuse("malformed-parameter", name,
			fmt.Sprintf("parameter %s is %q: give a time such as 2026-03-01T02:30:00Z, and write the + of a zone as %%2B", name, value))
	}
	return t
}

func (q *query) oneOf(name string, allowed ...string) string {
	value := q.text(name)
	if value != "" && !slices.Contains(allowed, value) {
		q.refuse("malformed-parameter", name, fmt.Sprintf("parameter %s is %q: use one of %s", name, value, strings.Join(allowed, ", ")))
	}
	return value
}

// page is one page of a list, newest first.
type page struct {
	before int64 // only ids below it; zero for the first page
	limit  int
}

const (
	defaultLimit = 50
	maxLimit     = 200
)

// page reads limit and cursor.
func (q *query) page() page {
	p := page{limit: defaultLimit}
	if value := q.text("limit"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxLimit {
			q.refuse("malformed-parameter", "limit", fmt.Sprintf("parameter limit is %q: give a number from 1 to %d", value, maxLimit))
		}
		p.limit = n
	}
	if value := q.text("cursor"); value != "" {
		text, err := base64.RawURLEncoding.DecodeString(value)
		if err == nil {
			p.before, err = parseID(string(text))
		}
		if err != nil {
			q.refuse("malformed-parameter", "cursor", "parameter cursor is not one that was given out: use next_cursor of the page before as it is")
		}
	}
	return p
}

// probe is one more item than the page has, to see whether another page follows.
func (p page) probe() int { return p.limit + 1 }

// cut turns what probe found into the page's items and the next page's cursor, empty when none follows.
func cut[From, To any](p page, found []From, id func(From) int64, answer func(From) To) (items []To, next string) {
	if len(found) > p.limit {
		found = found[:p.limit]
		next = base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(id(found[p.limit-1]), 10)))
	}
	return each(found, answer), next
}

// each maps a list; the answer is never nil, so that JSON has [] and not null.
func each[From, To any](from []From, answer func(From) To) []To {
	to := make([]To, 0, len(from))
	for _, item := range from {
		to = append(to, answer(item))
	}
	return to
}

func parseID(value string) (int64, error) {
	id, err := strconv.ParseInt(value, 10, 64)
	if err == nil && id < 1 {
		err = strconv.ErrRange
	}
	return id, err
}

// pathID reads the {id} of a path.
func pathID(c echo.Context) (int64, error) {
	id, err := parseID(c.Param("id"))
	if err != nil {
		return 0, refuse(http.StatusBadRequest, "malformed-parameter", "id", "id %q: give a whole number above 0", c.Param("id"))
	}
	return id, nil
}
