package argocd

import (
	"fmt"
	"maps"
	"strconv"
)

// flat names every value in an object by its path with dots, and makes it text,
// as an ApplicationSet without goTemplate and its selectors see it.
func flat(object map[string]any) map[string]string {
	all := map[string]string{}
	flattenInto(all, "", object)
	return all
}

func flattenInto(all map[string]string, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			flattenInto(all, joined(name, key), inner)
		}
	case map[string]string:
		for key, inner := range value {
			all[joined(name, key)] = inner
		}
	case []string:
		for i, inner := range value {
			all[joined(name, strconv.Itoa(i))] = inner
		}
	case []any:
		for i, inner := range value {
			flattenInto(all, joined(name, strconv.Itoa(i)), inner)
		}
	default:
		all[name] = fmt.Sprint(value)
	}
}

func joined(name, key string) string {
	if name == "" {
		return key
	}
	return name + "." + key
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case float64:
		return value == 0
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// over lays one object over another, map by map. What is empty in it leaves
// what is below.
func over(upper, lower map[string]any) map[string]any {
	merged := maps.Clone(lower)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range upper {
		above, isMap := value.(map[string]any)
		below, _ := merged[key].(map[string]any)
		switch {
		case isMap && below != nil:
			merged[key] = over(above, below)
		case !isEmpty(value) || merged[key] == nil:
			merged[key] = value
		}
	}
	return merged
}

// patched is a JSON merge patch (RFC 7396) of an object: maps are merged, null
// deletes, anything else takes the place of what was there.
func patched(object, patch map[string]any) map[string]any {
	result := maps.Clone(object)
	if result == nil {
		result = map[string]any{}
	}
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		below, _ := result[key].(map[string]any)
		switch {
		case value == nil:
			delete(result, key)
		case isMap:
			result[key] = patched(below, inner)
		default:
			result[key] = value
		}
	}
	return result
}
