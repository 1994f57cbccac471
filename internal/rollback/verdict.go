package rollback

import "slices"

// Overall is the verdict in one word.
type Overall string

// The three verdicts.
const (
	Safe           Overall = "safe"
	UnknownOverall Overall = "unknown"
	Unsafe         Overall = "unsafe"
)

// Gate says whether the rollback may go on.
type Gate string

// The two answers.
const (
	Open    Gate = "open"
	Blocked Gate = "blocked"
)

// The names of the predicates, as in Predicates and Facts.Unchecked.
const (
	ArtifactAvailable     = "ArtifactAvailable"
	ConfigCompatible      = "ConfigCompatible"
	DataCompatible        = "DataCompatible"
	TrafficSwitchable     = "TrafficSwitchable"
	DependencyRecoverable = "DependencyRecoverable"
)

// Unchecked is the value of a predicate whose source was never connected.
const Unchecked State = "unchecked"

// Predicate is one of the five checks. Value is Yes, No or Unknown (Unchecked if
// Facts say so); a reason is a code, or code:subject. Reasons are sorted.
type Predicate struct {
	Value   State    `json:"value"`
	Reasons []string `json:"reasons"`
}

// Predicates are the five checks.
type Predicates struct {
	ArtifactAvailable     Predicate `json:"ArtifactAvailable"`
	ConfigCompatible      Predicate `json:"ConfigCompatible"`
	DataCompatible        Predicate `json:"DataCompatible"`
	TrafficSwitchable     Predicate `json:"TrafficSwitchable"`
	DependencyRecoverable Predicate `json:"DependencyRecoverable"`
}

// NamedPredicate is one of the five checks with its name.
type NamedPredicate struct {
	Name string
	Predicate
}

// All are the five checks in their usual order.
func (p Predicates) All() []NamedPredicate {
	return []NamedPredicate{{ArtifactAvailable, p.ArtifactAvailable}, {ConfigCompatible, p.ConfigCompatible}, {DataCompatible, p.DataCompatible},
		{TrafficSwitchable, p.TrafficSwitchable}, {DependencyRecoverable, p.DependencyRecoverable}}
}

// Verdict is what the facts add up to. Accepting an unknown changes no value
// and not the overall one: it only opens the gate.
type Verdict struct {
	Predicates         Predicates `json:"predicates"`
	Overall            Overall    `json:"overall"`
	Blocking           []string   `json:"blocking"`            // reasons, sorted
	RefusedAcceptances []string   `json:"refused_acceptances"` // why:unknown, in the order given
	Gate               Gate       `json:"gate"`
	Unchecked          []string   `json:"unchecked"` // predicates nothing is connected for, sorted
}

// Evaluate judges the facts. What is known to speak against a rollback counts also
// for a predicate that is called unchecked.
func Evaluate(facts Facts) Verdict {
	var all findings
	judge := func(name string, f findings) Predicate {
		if slices.Contains(facts.Unchecked, name) && len(f.nos) == 0 {
			return Predicate{Value: Unchecked, Reasons: []string{}}
		}
		all.nos = append(all.nos, f.nos...)
		all.unknowns = append(all.unknowns, f.unknowns...)
		return f.predicate()
	}
	v := Verdict{
		Predicates: Predicates{
			ArtifactAvailable:     judge(ArtifactAvailable, artifactAvailable(facts.Artifact)),
			ConfigCompatible:      judge(ConfigCompatible, configCompatible(facts.Config)),
			DataCompatible:        judge(DataCompatible, dataCompatible(facts.Data)),
			TrafficSwitchable:     judge(TrafficSwitchable, trafficSwitchable(facts.Traffic)),
			DependencyRecoverable: judge(DependencyRecoverable, dependencyRecoverable(facts.Dependency)),
		},
		Overall:   Safe,
		Gate:      Open,
		Unchecked: sorted(facts.Unchecked),
	}
	accepted, refused := weighAcceptances(facts.Acceptances, all)
	v.RefusedAcceptances = refused
	switch {
	case len(all.nos) > 0:
		v.Overall, v.Blocking = Unsafe, sorted(all.nos)
	case len(all.unknowns) > 0:
		v.Overall = UnknownOverall
		v.Blocking = slices.DeleteFunc(sorted(all.unknowns), func(reason string) bool { return slices.Contains(accepted, reason) })
	default:
		v.Blocking = []string{}
	}
	if len(v.Blocking) > 0 {
		v.Gate = Blocked
	}
	return v
}
