package manifest

import (
	"regexp"
	"slices"
	"strings"
)

// What stands for a hidden value. A change shows one on each side, so that one
// sees that the values differ and nothing else about them.
const (
	hidden       = "(hidden)"
	hiddenBefore = "(hidden, before)"
	hiddenAfter  = "(hidden, after)"
)

var (
	credentialKey = regexp.MustCompile(`(?i)(passw(or)?d|passphrase|pwd|secret|token|credential|` +
		`api[-_.]?key|access[-_.]?key|private[-_.]?key|signing[-_.]?key|encryption[-_.]?key|` +
		`auth[-_.]?key|client[-_.]?key|dsn|connection[-_.]?string|htpasswd|dockerconfig)`)
	// A key that names where a credential is, or how long it lives, is not one.
	referenceKey = regexp.MustCompile(`(?i)(names?|refs?|keyref|file|path|dir|mount|class|type|kind|` +
		`seconds|ttl|expiry|expiration|issuer|audiences?|namespace|enabled|version|store|provider|` +
		`url|uri|endpoint|mode)$`)
	privateKey       = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`)
	credentialInText = regexp.MustCompile(`(?i)(` +
		`://[^/\s:@]*:[^/\s@]+@` + // a password in a URL
		`|\bbearer\s+[a-z0-9._~+/-]{8,}` +
		`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}` + // a JSON Web Token
		`|\b(AKIA|ASIA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bxox[abprs]-[A-Za-z0-9-]{8,}` +
		`|[a-z0-9_.-]*(passw(or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key)[a-z0-9_.-]*["']?\s*[=:]\s*["']?[^\s"'$<{(]{3,}` +
		`)`)
)

// masks decides what of one object's values people may see.
type masks struct{ secret bool }

func newMasks(object ID) masks {
	return masks{secret: object.Group == "" && object.Kind == "Secret"}
}

// hides tells whether a value that is neither map nor list is hidden whole.
func (m masks) hides(at place, value any) bool {
	if m.secret && len(at.keys) > 0 && (at.keys[0] == "data" || at.keys[0] == "stringData") {
		return true
	}
	// A Secret applied with kubectl has its data in an annotation once more.
	if m.secret && slices.Contains(at.keys, "annotations") {
		return true
	}
	switch value := value.(type) {
	case nil, bool:
		return false
	case string:
		return isCredential(at) || privateKey.MatchString(value) ||
			!strings.Contains(value, "\n") && credentialInText.MatchString(value)
	}
	return isCredential(at)
}

// isCredential goes by the key or, for a key `value`, by the name beside it.
func isCredential(at place) bool {
	key := at.key()
	if key == "value" && at.name != "" {
		key = at.name
	}
	return credentialKey.MatchString(key) && !referenceKey.MatchString(key)
}

// show writes both sides of a change.
func (m masks) show(at place, old, new any) (string, string) {
	if m.hides(at, old) || m.hides(at, new) {
		return m.mark(old, hiddenBefore), m.mark(new, hiddenAfter)
	}
	before, after := text(old), text(new)
	return plainText(m.redact(at, old, after, hiddenBefore)), plainText(m.redact(at, new, before, hiddenAfter))
}

func (m masks) mark(value any, mark string) string {
	if value == nil {
		return ""
	}
	return mark
}

// plainText writes text as it is and everything else as JSON.
func plainText(value any) string {
	switch value := value.(type) {
	case nil:
		return ""
	case string:
		return value
	}
	return strings.TrimSuffix(string(canonical(value)), "\n")
}

// Redact returns a copy in which the data of Secrets and everything that looks
// like a credential is hidden.
func Redact(r Rendered) Rendered {
	objects := make([]Object, len(r.Objects))
	for i, object := range r.Objects {
		redacted := newMasks(object.ID).redact(place{}, object.Content, "", hidden)
		object.Content, _ = redacted.(map[string]any)
		objects[i] = object
	}
	return Rendered{Objects: objects}
}

// redact hides what is to be hidden inside a value. A text of several lines
// loses only the lines that show a credential; those that other has too are
// marked as equal on both sides.
func (m masks) redact(at place, value any, other, mark string) any {
	switch value := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(value))
		at.name = text(value["name"])
		for key, child := range value {
			fields[key] = m.redact(at.field(key), child, other, mark)
		}
		return fields
	case []any:
		list := make([]any, len(value))
		for i, child := range value {
			list[i] = m.redact(at, child, other, mark)
		}
		return list
	}
	if m.hides(at, value) {
		return mark
	}
	if lines, ok := value.(string); ok && strings.Contains(lines, "\n") {
		return redactLines(lines, other, mark)
	}
	return value
}

func redactLines(value, other, mark string) string {
	lines, others := strings.Split(value, "\n"), strings.Split(other, "\n")
	for i, line := range lines {
		if !credentialInText.MatchString(line) {
			continue
		}
		lines[i] = mark
		if slices.Contains(others, line) {
			lines[i] = hidden
		}
	}
	return strings.Join(lines, "\n")
}
