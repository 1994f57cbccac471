package promotion

// State is the one word shown for a promotion, derived from its facts.
type State string

// The states of a promotion's life.
const (
	StateRequested  State = "requested"
	StateOpen       State = "open"
	StateMerged     State = "merged"
	StateSyncing    State = "syncing"
	StateLive       State = "live"
	StateVerified   State = "verified"
	StateSuperseded State = "superseded"
	StateRejected   State = "rejected"
	StateCancelled  State = "cancelled"
	StateFailed     State = "failed"
	StateRolledBack State = "rolled back"
)

// State derives the shown state. What was merged is followed whatever was
// decided: a decision cannot undo a merge.
func (p *Promotion) State() State {
	if p.PullRequest != PullRequestMerged {
		return p.stateBeforeMerge()
	}
	switch {
	case !p.RolledBackAt.IsZero():
		return StateRolledBack
	case !p.OvertakenAt.IsZero():
		return StateSuperseded
	case !p.VerifiedAt.IsZero():
		return StateVerified
	case p.Failure != "":
		return StateFailed
	case !p.LiveAt.IsZero():
		return StateLive
	case !p.SyncStartedAt.IsZero() || !p.SyncedAt.IsZero():
		return StateSyncing
	}
	return StateMerged
}

func (p *Promotion) stateBeforeMerge() State {
	switch p.Decision {
	case Cancelled:
		return StateCancelled
	case Rejected:
		return StateRejected
	case Superseded:
		return StateSuperseded
	}
	if p.PullRequest == PullRequestOpen {
		return StateOpen
	}
	return StateRequested
}

// Open tells whether the promotion occupies its target: decided on, not
// merged, not turned down.
func (p *Promotion) Open() bool {
	return p.Decision == Requested && p.PullRequest != PullRequestMerged
}

// Finished tells whether nothing will happen to the promotion any more.
func (s State) Finished() bool {
	switch s {
	case StateVerified, StateSuperseded, StateRejected, StateCancelled, StateRolledBack:
		return true
	}
	return false
}
