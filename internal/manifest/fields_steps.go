package manifest

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

// fieldNames are the fields that steps lead through, without the elements of lists.
func fieldNames(steps []string) []string {
	var names []string
	for _, step := range steps {
		if name, ok := strings.CutPrefix(step, "f:"); ok {
			names = append(names, name)
		}
	}
	return names
}

// elementName is the name of the innermost element of a list that steps lead through.
func elementName(steps []string) string {
	for _, step := range slices.Backward(steps) {
		if keys, ok := strings.CutPrefix(step, "k:"); ok {
			return text(elementKeys(keys)["name"])
		}
	}
	return ""
}

func elementKeys(text string) map[string]any {
	var keys map[string]any
	if json.Unmarshal([]byte(text), &keys) != nil {
		return nil
	}
	return keys
}

// stepTo takes one step from a map or a list: the key or index that it leads to. found is false where a list has no such element, or
// several.
func stepTo(from any, step string) (key string, index int, found bool) {
	kind, rest, _ := strings.Cut(step, ":")
	switch from := from.(type) {
	case map[string]any:
		return rest, -1, kind == "f"
	case []any:
		index = elementIndex(from, kind, rest)
		return "", index, index >= 0
	}
	return "", -1, false
}

func elementIndex(list []any, kind, rest string) int {
	if i, err := strconv.Atoi(rest); kind == "i" && err == nil && i >= 0 && i < len(list) {
		return i
	}
	keys := elementKeys(rest)
	if kind != "k" || len(keys) == 0 {
		return -1
	}
	found := -1
	for i, item := range list {
		if !hasKeys(item, keys) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func hasKeys(item any, keys map[string]any) bool {
	fields, ok := item.(map[string]any)
	for name, want := range keys {
		is, there := fields[name]
		if !there && name == "protocol" {
			is = "TCP" // the default that the API server keys by
		}
		ok = ok && isSame(is, want)
	}
	return ok
}

// isSame compares decoded scalars; of numbers the value.
func isSame(a, b any) bool {
	return reflect.DeepEqual(a, b) || isNumber(a) && isNumber(b) && string(canonical(a)) == string(canonical(b))
}

func isNumber(v any) bool {
	switch v.(type) {
	case int, int64, float64:
		return true
	}
	return false
}

// fieldAt is the value that steps lead to.
func fieldAt(content any, steps []string) (any, bool) {
	for _, step := range steps {
		key, i, ok := stepTo(content, step)
		if !ok {
			return nil, false
		}
		if i >= 0 {
			content = content.([]any)[i]
			continue
		}
		if content, ok = content.(map[string]any)[key]; !ok {
			return nil, false
		}
	}
	return content, true
}

// setField puts a scalar where steps lead to. Maps that are missing on the way are made; elements of lists are not, and neither a map
// nor a list is overwritten.
func setField(content any, steps []string, value any) bool {
	key, i, ok := stepTo(content, steps[0])
	if !ok {
		return false
	}
	var inner any
	if i >= 0 {
		inner = content.([]any)[i]
	} else {
		inner = content.(map[string]any)[key]
	}
	if len(steps) > 1 {
		if inner == nil && i < 0 && strings.HasPrefix(steps[1], "f:") {
			inner = map[string]any{}
			content.(map[string]any)[key] = inner
		}
		return setField(inner, steps[1:], value)
	}
	switch inner.(type) {
	case map[string]any, []any:
		return false
	}
	if i >= 0 {
		content.([]any)[i] = value
	} else {
		content.(map[string]any)[key] = value
	}
	return true
}
