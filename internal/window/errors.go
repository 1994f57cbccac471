package window

import (
	"strconv"
	"strings"
)

// The codes of the faults a windows file can have.
const (
	BadFile     = "bad-file"     // not a YAML or JSON windows file, or an unknown member
	BadName     = "bad-name"     // name is missing, blank or not a text
	BadKind     = "bad-kind"     // kind is anything but allow or deny
	BadSchedule = "bad-schedule" // schedule does not follow the syntax
	NeverFires  = "never-fires"  // schedule is well formed, but its day never comes
	BadDuration = "bad-duration" // duration cannot be read, is zero or less, or over MaxDuration
	BadTimezone = "bad-timezone" // timezone is empty, Local or unknown
)

// Error is one fault of one window.
type Error struct {
	Code   string `json:"code"`
	Window string `json:"window"` // its name; its place ("windows[2]") where it has none; empty for the file itself
	Reason string `json:"reason"`
}

func (e Error) Error() string {
	if e.Window == "" {
		return e.Code + ": " + e.Reason
	}
	return e.Code + ": window " + quote(e.Window) + ": " + e.Reason
}

// Errors are all faults of a list of windows, in the order of the list and,
// within one window, of the members of Spec.
type Errors []Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, fault := range e {
		lines[i] = fault.Error()
	}
	return strings.Join(lines, "\n")
}

func quote(text string) string { return strconv.Quote(text) }
