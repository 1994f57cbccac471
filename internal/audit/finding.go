package audit

import "fmt"

// Kind is what was done to the audit.
type Kind string

// The kinds of findings.
const (
	Altered   Kind = "altered"   // the event, or its seal's time or horizon, is not what was sealed
	Removed   Kind = "removed"   // the event is gone, or positions of the chain are
	Reordered Kind = "reordered" // the event is not the one sealed at its position, and out of order
	Inserted  Kind = "inserted"  // the event came after later ones were sealed
	Broken    Kind = "broken"    // a hash was changed, or does not follow from the one before
	Replaced  Kind = "replaced"  // the chain does not hold the head that was expected
)

// Finding is one thing that was done to the audit. Position or EventID is 0 where there is
// none.
type Finding struct {
	Kind     Kind   `json:"kind"`
	Position int64  `json:"position,omitempty"`
	EventID  int64  `json:"event_id,omitempty"`
	Message  string `json:"message"`
}

// String is one line for people.
func (f Finding) String() string { return fmt.Sprintf("%s: %s", f.Kind, f.Message) }
