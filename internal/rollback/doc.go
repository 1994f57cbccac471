// Package rollback answers whether a target can go back to an older release,
// from facts that others have gathered:
//
//	RollbackSafe = ArtifactAvailable ∧ ConfigCompatible ∧ DataCompatible
//	             ∧ TrafficSwitchable ∧ DependencyRecoverable
//
// Each of the five predicates is yes, no or unknown, with the reasons that say
// so. A fact that could not be read gives unknown, never no and never yes. Any
// no makes the rollback unsafe; otherwise any unknown blocks it until a second
// person accepts that named unknown.
//
// Everything here is a pure function. Old is the release to go back to; current
// is the one that runs.
package rollback
