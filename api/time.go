package api

import (
	"encoding/json"
	"reflect"
	"time"
)

// Time is a moment in a request. One that is not RFC 3339 is refused with the name of its field.
type Time struct{ time.Time }

// UnmarshalJSON takes a string in RFC 3339.
func (t *Time) UnmarshalJSON(data []byte) error {
	if err := t.Time.UnmarshalJSON(data); err != nil {
		return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[Time]()}
	}
	return nil
}
