package promotion

import (
	"iter"
	"maps"
	"strings"
	"time"
)

// Mode says what a gate's verdict does.
type Mode string

// A gate is not evaluated, shown only, or held to.
const (
	Off     Mode = "off"
	Report  Mode = "report"
	Enforce Mode = "enforce"
)

// EnvironmentPolicy says how changes go into one environment.
type EnvironmentPolicy struct {
	AutomaticPromotion bool        // a new release starts its promotion by itself
	AutomaticMerge     bool        // merged by Sluice as soon as the gates pass
	MergeMethod        MergeMethod // by which Sluice merges
	Approvals          int         // how many people other than the requester
	ApproverRoles      []Role
	ExcludeAuthors     bool              // who wrote what a release brings does not approve it
	ApproverGroups     []string          // of which an approver is in one; none: no matter which
	ApprovalExpiry     time.Duration     // after which an approval no longer counts; zero: never
	ReasonRequired     bool              // whoever asks for a promotion says why
	Evidence           []NeededEvidence  // that must have passed
	NewerWaits         bool              // a release asked for while another is open waits for its turn, and does not take its place
	UpstreamAny        bool              // verified in one environment of the rank before is enough, not in all
	SyncBySluice       bool              // the target's sync is started by Sluice, not by the engine
	SyncsAtOnce        int               // how many targets that Sluice syncs may do so at once in a cluster; at least 1
	SyncPriority       Priority          // in the line of syncs
	Soak               time.Duration     // healthy without interruption before it counts as verified
	WindowLead         time.Duration     // the status turns red this long before a sync window closes
	WindowLeft         time.Duration     // a change is held when less than this is left of a sync window
	Registries         map[string]string // repository prefixes that this environment pulls from elsewhere, by what CI posts
	Database           Database          // what the application has of one
	Attest             []Subject         // what somebody has to attest of a release before it can be gone back from; nil: nothing is said
	Modes              map[string]Mode
	Checks             map[string]Mode // of the gate rollback-safe, by their words: what is enforced holds as far as the gate does

	RollbackApprovals      *int // how many a rollback needs; nil: as many as anything else
	HotfixApprovals        *int // how many a hotfix needs; nil: as many as anything else, and two at least
	RollbackIgnoresWindows bool // sync windows do not hold a rollback; freezes do

	Dependencies []NeededEvidence // what must be well for the target to go back: metrics, and applications by name, in the same environment unless said

	Recovery      []NeededEvidence // metrics that a rollback must bring back before it counts as verified
	RecoverWithin time.Duration    // of being live; later it has failed. Never shorter than the longest of Recovery
}

// Of is the policy as it is for a promotion.
func (p EnvironmentPolicy) Of(c Promotion) EnvironmentPolicy {
	p.ExcludeAuthors = p.ExcludeAuthors && c.Kind != KindRollback // it brings what was approved before
	switch {
	case c.Kind == KindRollback && p.RollbackApprovals != nil:
		p.Approvals = *p.RollbackApprovals
	case c.Hotfix && p.HotfixApprovals != nil:
		p.Approvals = *p.HotfixApprovals
	case c.Hotfix:
		p.Approvals = max(p.Approvals, leastHotfixApprovals)
	}
	return p
}

// leastHotfixApprovals is what makes up for the environments that a hotfix goes past, where the policy says nothing else.
const leastHotfixApprovals = 2

// Ranks of the well-known environments. Names in between rank in between.
const (
	RankDev     = 10
	RankStaging = 30
	RankProd    = 50
)

// DefaultPolicy is what holds without a policy file: the first stage goes by
// itself, the middle ones need a person's request, and production needs another
// person's approval, a person's merge and a sync by Sluice. An environment whose name says
// nothing may be production too, so it needs the approval and the person's merge.
func DefaultPolicy(rank int) EnvironmentPolicy {
	p := EnvironmentPolicy{
		AutomaticPromotion: rank <= RankDev,
		AutomaticMerge:     rank <= RankStaging,
		SyncBySluice:       rank >= RankProd,
		Soak:               5 * time.Second,
		SyncsAtOnce:        10,
		SyncPriority:       PriorityNormal,
		RecoverWithin:      15 * time.Minute,
		Modes: map[string]Mode{
			GateBranchProtected: Report,
			GateServerDryRun:    Report,
			GateRollbackSafe:    Report,
		},
		Checks: map[string]Mode{},
	}
	if !p.AutomaticMerge {
		p.Approvals = 1
		p.ApproverRoles = []Role{RoleApprover, RoleReleaseManager, RoleAdmin}
	}
	return p
}

// Mode of a gate; a gate is held to unless policy says otherwise.
func (p EnvironmentPolicy) Mode(gate string) Mode {
	if m, ok := p.Modes[gate]; ok {
		return m
	}
	return Enforce
}

// CheckMode is of one of the checks of the gate rollback-safe; it is held to unless policy says otherwise.
func (p EnvironmentPolicy) CheckMode(check string) Mode {
	if m, ok := p.Checks[check]; ok {
		return m
	}
	return Enforce
}

// PulledAs is where this environment pulls an image from that CI posted. The longest prefix of whole path elements counts.
func (p EnvironmentPolicy) PulledAs(reference string) string {
	return withoutTag(moved(reference, maps.All(p.Registries)))
}

// PostedAs is the reference that CI posted for an image that runs in this environment.
func (p EnvironmentPolicy) PostedAs(reference string) string {
	return withoutTag(moved(reference, func(yield func(string, string) bool) {
		for posted, pulled := range p.Registries {
			if !yield(pulled, posted) {
				return
			}
		}
	}))
}

// moved replaces the longest of the prefixes that ends where an element of the reference's repository does.
func moved(reference string, prefixes iter.Seq2[string, string]) string {
	best, out := "", reference
	for from, to := range prefixes {
		rest, ok := strings.CutPrefix(reference, from)
		if ok && len(from) > len(best) && (rest == "" || strings.ContainsRune("/:@", rune(rest[0]))) {
			best, out = from, to+rest
		}
	}
	return out
}
