package rollback

// Mode says what a predicate's value does.
type Mode string

// A predicate is not judged, shown only, or held to.
const (
	ModeOff     Mode = "off"
	ModeReport  Mode = "report"
	ModeEnforce Mode = "enforce"
)

// Off is the value of a predicate that policy has switched off.
const Off State = "off"

// mode of a predicate; it is held to unless the facts say otherwise.
func (f Facts) mode(name string) Mode {
	if m, said := f.Modes[name]; said {
		return m
	}
	return ModeEnforce
}

// Blocks tells whether what was found of the predicate may close the gate.
func (p Predicate) Blocks() bool { return p.Mode == "" }

// Acceptable are the reasons that an acceptance can do something about: the unknowns that close the gate. There are none while something
// that closes it is known to be so.
func (v Verdict) Acceptable() []string {
	for _, p := range v.Predicates.All() {
		if p.Blocks() && p.Value == No {
			return nil
		}
	}
	return v.Blocking
}
