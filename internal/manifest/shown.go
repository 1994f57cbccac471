package manifest

// Shown is a value of an object's field as people may see it: the data of Secrets and what looks like a credential is hidden.
// keys are the names of the fields that lead to it, and name that of the element of a list around it, such as an environment
// variable's. What is not there is the empty text.
func Shown(object ID, keys []string, name string, value any) string {
	m, at := newMasks(object), place{keys: keys, name: name}
	if value == nil {
		return ""
	}
	if m.hides(at, value) {
		return hidden
	}
	return plainText(m.redact(at, value, "", hidden))
}

// ShownWhole tells whether people see a value as it is: nothing of it is hidden.
func ShownWhole(shown string, value any) bool { return value != nil && shown == plainText(value) }
