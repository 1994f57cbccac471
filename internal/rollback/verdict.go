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

// Predicate is one of the five checks. Value is Yes, No or Unknown (Unchecked or Off
// if Facts say so); a reason is a code, or code:subject. Reasons are sorted. Mode is
// empty where the predicate is held to.
type Predicate struct {
	Value   State    `json:"value"`
	Reasons []string `json:"reasons"`
	Mode    Mode     `json:"mode,omitempty"`
}

// Predicates are the five checks.
type Predicates struct {
	ArtifactAvailable     Predicate `json:"ArtifactAvailable"`
	ConfigCompatible      Predicate `json:"ConfigCompatible"`
	DataCompatible        Predicate `json:"DataCompatible"`
	TrafficSwitchable     Predicate `json:"TrafficSwitchable"`
	DependencyRecoverable Predicate `json:"DependencyRecoverable"`
}

// NamedPredicate is one of the five checks with its name, and with the word that policy has for it.
type NamedPredicate struct {
	Name, Word string
	Predicate
}

// All are the five checks in their usual order.
func (p Predicates) All() []NamedPredicate {
	return []NamedPredicate{{ArtifactAvailable, "artifact", p.ArtifactAvailable}, {ConfigCompatible, "config", p.ConfigCompatible},
		{DataCompatible, "data", p.DataCompatible}, {TrafficSwitchable, "traffic", p.TrafficSwitchable}, {DependencyRecoverable, "dependency", p.DependencyRecoverable}}
}

// Verdict is what the facts add up to. Accepting an unknown changes no value
// and not the overall one: it only opens the gate. A predicate that is only reported
// counts in the overall one, and closes no gate; one that is off counts nowhere.
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
	var all, holding findings
	unchecked := []string{}
	judge := func(name string, f findings) Predicate {
		mode := facts.mode(name)
		if mode == ModeOff {
			return Predicate{Value: Off, Reasons: []string{}, Mode: mode}
		}
		p := f.predicate()
		if slices.Contains(facts.Unchecked, name) {
			unchecked = append(unchecked, name)
			if len(f.nos) == 0 {
				p, f = Predicate{Value: Unchecked, Reasons: []string{}}, findings{}
			}
		}
		all.add(f)
		if mode == ModeReport {
			p.Mode = mode
			return p
		}
		holding.add(f)
		return p
	}
	v := Verdict{
		Predicates: Predicates{
			ArtifactAvailable:     judge(ArtifactAvailable, artifactAvailable(facts.Artifact)),
			ConfigCompatible:      judge(ConfigCompatible, configCompatible(facts.Config)),
			DataCompatible:        judge(DataCompatible, dataCompatible(facts.Data)),
			TrafficSwitchable:     judge(TrafficSwitchable, trafficSwitchable(facts.Traffic)),
			DependencyRecoverable: judge(DependencyRecoverable, dependencyRecoverable(facts.Dependency)),
		},
		Overall: all.overall(),
		Gate:    Open,
	}
	v.Unchecked = sorted(unchecked)
	accepted, refused := weighAcceptances(facts.Acceptances, holding)
	v.Blocking, v.RefusedAcceptances = sorted(holding.nos), refused
	if len(holding.nos) == 0 {
		v.Blocking = slices.DeleteFunc(sorted(holding.unknowns), func(reason string) bool { return slices.Contains(accepted, reason) })
	}
	if len(v.Blocking) > 0 {
		v.Gate = Blocked
	}
	return v
}
