// Package api is the HTTP API's contract: its OpenAPI document and the types
// that server and client share, generated from it.
package api

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"strconv"
)

// Document is openapi.yaml.
//
//go:embed openapi.yaml
var Document []byte

// ReleaseName names a release by its id or its version. In JSON an id may be a
// number or a string.
type ReleaseName string

// UnmarshalJSON takes a string or a whole number.
func (n *ReleaseName) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '"':
		return json.Unmarshal(data, (*string)(n))
	}
	id, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return &json.UnmarshalTypeError{Value: "value", Type: reflect.TypeFor[ReleaseName]()}
	}
	*n = ReleaseName(strconv.FormatInt(id, 10))
	return nil
}
