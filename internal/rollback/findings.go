package rollback

import "slices"

// findings collects what speaks against one predicate.
type findings struct {
	nos, unknowns []string
}

func (f *findings) no(reason string)      { f.nos = append(f.nos, reason) }
func (f *findings) unknown(reason string) { f.unknowns = append(f.unknowns, reason) }

// state judges a fact that has good values and one bad one. Everything else, a
// value nobody has heard of included, says that nothing is known.
func (f *findings) state(fact, bad State, noReason, unknownReason string, good ...State) {
	switch {
	case fact == bad:
		f.no(noReason)
	case !slices.Contains(good, fact):
		f.unknown(unknownReason)
	}
}

// predicate is the value that the findings add up to.
func (f *findings) predicate() Predicate {
	p := Predicate{Value: Yes, Reasons: sorted(f.nos, f.unknowns)}
	switch {
	case len(f.nos) > 0:
		p.Value = No
	case len(f.unknowns) > 0:
		p.Value = Unknown
	}
	return p
}

func (f *findings) add(other findings) {
	f.nos, f.unknowns = append(f.nos, other.nos...), append(f.unknowns, other.unknowns...)
}

// overall is the verdict that the findings add up to.
func (f *findings) overall() Overall {
	switch {
	case len(f.nos) > 0:
		return Unsafe
	case len(f.unknowns) > 0:
		return UnknownOverall
	}
	return Safe
}

// sorted joins lists of reasons, each once. It is never nil: JSON shows a list.
func sorted(lists ...[]string) []string {
	all := append([]string{}, slices.Concat(lists...)...)
	slices.Sort(all)
	return slices.Compact(all)
}
