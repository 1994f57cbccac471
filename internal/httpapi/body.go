package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	kjson "sigs.k8s.io/json"

	"github.com/sluicehq/sluice/api"
)

// The most bytes that a request's body may have: 1 MiB, and 8 MiB for a build, which may bring its migrations.
const (
	maxBody  = 1 << 20
	maxBuild = 8 << 20
)

// decode reads a JSON body strictly: unknown and repeated fields, another type
// and anything after the value are refused.
func decode(c echo.Context, into any) error { return decodeUpTo(c, into, maxBody) }

// decodeUpTo is decode for a body of at most so many bytes.
func decodeUpTo(c echo.Context, into any, most int64) error {
	body, err := read(c, most)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return refuse(http.StatusBadRequest, "invalid-json", "", "the body is empty: send a JSON object")
	}
	return unmarshal(body, into)
}

// decodeOptional is decode for an operation that needs no body.
func decodeOptional(c echo.Context, into any) error {
	body, err := read(c, maxBody)
	if err != nil || len(body) == 0 {
		return err
	}
	return unmarshal(body, into)
}

func read(c echo.Context, most int64) ([]byte, error) {
	r := c.Request()
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), r.Body, most))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "too-large", "", "the body is larger than %d bytes: send less in one request", tooLarge.Limit)
	} else if err != nil {
		return nil, refuse(http.StatusBadRequest, "unreadable-body", "", "the body ended before it was complete: send it again")
	}
	if len(body) == 0 {
		return nil, nil
	}
	given := r.Header.Get(echo.HeaderContentType)
	if media, _, err := mime.ParseMediaType(given); err != nil || media != echo.MIMEApplicationJSON {
		return nil, refuse(http.StatusUnsupportedMediaType, "unsupported-media-type", echo.HeaderContentType,
			"the body is sent as %q: send JSON, with the header Content-Type: application/json", given)
	}
	return body, nil
}

func unmarshal(body []byte, into any) error {
	switch {
	case !utf8.Valid(body):
		return refuse(http.StatusBadRequest, "invalid-json", "", "the body is not valid UTF-8: encode it as UTF-8")
	case bytes.Contains(body, []byte(`\u0000`)):
		return refuse(http.StatusBadRequest, "invalid-json", "", `the body has the character \u0000, which cannot be stored: leave it out`)
	}
	unknown, err := kjson.UnmarshalStrict(body, into, kjson.DisallowUnknownFields)
	var wrong *json.UnmarshalTypeError
	if ok, offset := kjson.SyntaxErrorOffset(err); ok {
		return refuse(http.StatusBadRequest, "invalid-json", "", "the body is not valid JSON at %s: %v", position(body, offset), err)
	} else if errors.As(err, &wrong) {
		return refuse(http.StatusBadRequest, "wrong-type", wrong.Field, "%s must be %s", subject(wrong.Field), nameOf(wrong.Type))
	} else if err != nil {
		return refuse(http.StatusBadRequest, "invalid-json", "", "the body cannot be read: %v", err)
	}
	if field, ok := firstField(unknown); ok {
		return refuse(http.StatusBadRequest, "unknown-field", field, "field %s is not known here: check its name against /api/openapi.yaml", field)
	}
	repeated, err := kjson.UnmarshalStrict(body, into, kjson.DisallowDuplicateFields)
	if field, ok := firstField(repeated); ok {
		return refuse(http.StatusBadRequest, "duplicate-field", field, "field %s is given twice: give it once", field)
	}
	return err
}

func firstField(strict []error) (path string, ok bool) {
	var at kjson.FieldError
	if len(strict) == 0 || !errors.As(strict[0], &at) {
		return "", false
	}
	return at.FieldPath(), true
}

// position says where in the body an offset in bytes is.
func position(body []byte, offset int64) string {
	before := body[:max(0, min(offset-1, int64(len(body))))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}

func subject(field string) string {
	if field == "" {
		return "the body"
	}
	return field
}

func nameOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[api.ReleaseName]():
		return "the id of a release or a version"
	case reflect.TypeFor[api.Time]():
		return "a time such as 2026-03-01T02:30:00Z"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}
