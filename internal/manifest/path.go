package manifest

import "strings"

// joinField appends a map key to a field path such as
// spec.containers[web].image. A key that would read as several is quoted.
func joinField(path, key string) string {
	if key == "" || strings.ContainsAny(key, `.[]"`) {
		return path + `["` + strings.ReplaceAll(key, `"`, `\"`) + `"]`
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
