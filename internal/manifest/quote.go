package manifest

import (
	"encoding/json"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

// plainForm is what may stand without quotes in block and flow style alike;
// what it reads as is another question.
var plainForm = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./@+:-]*$`)

// write writes a string as YAML in the style of the scalar it replaces. It adds
// quotes where plain text would be read as something else than this string, by
// the parser of YAML 1.2 or by that of kustomize and Helm.
func write(value string, style yaml.Style, asJSON bool) string {
	switch {
	case style&yaml.SingleQuotedStyle != 0 && !strings.ContainsAny(value, "\n\r\t"):
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	case !asJSON && style&yaml.DoubleQuotedStyle == 0 && isPlain(value):
		return value
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string always marshals
	}
	return string(quoted)
}

func isPlain(value string) bool {
	if !plainForm.MatchString(value) || strings.HasSuffix(value, ":") {
		return false
	}
	var newer, older any
	if yaml.Unmarshal([]byte(value), &newer) != nil || k8syaml.Unmarshal([]byte(value), &older) != nil {
		return false
	}
	return newer == value && older == value
}
