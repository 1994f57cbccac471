package window

import (
	"strings"
	"time"
	_ "time/tzdata" // a container without a zone database must not change what a policy means
)

// Kind says what a window does to the time it covers.
type Kind string

// The two kinds of windows.
const (
	Allow Kind = "allow"
	Deny  Kind = "deny"
)

// MaxDuration is the longest a single occurrence of a window may last.
const MaxDuration = 31 * 24 * time.Hour

// Spec is a window as it stands in a file.
type Spec struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Schedule string `json:"schedule"` // five cron fields: when it starts
	Duration string `json:"duration"` // a Go duration over zero, at most MaxDuration
	Timezone string `json:"timezone"` // an IANA name
}

// Window is a checked Spec. Only Compile and Parse make one.
type Window struct {
	Spec
	starts schedule
	lasts  time.Duration
	zone   *time.Location
	always bool // covers every instant there is
}

// Compile checks all windows together: one that is invalid is never skipped,
// so either every window is returned or an Errors that names every fault.
func Compile(specs []Spec) ([]Window, error) {
	var errs Errors
	windows := make([]Window, 0, len(specs))
	for _, spec := range specs {
		w, faults := compile(spec)
		errs = append(errs, faults...)
		windows = append(windows, w)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return windows, nil
}

// compile checks the members in the order of Spec.
func compile(spec Spec) (Window, Errors) {
	var errs Errors
	fail := func(code, reason string) {
		errs = append(errs, Error{Code: code, Window: spec.Name, Reason: reason})
	}
	if strings.TrimSpace(spec.Name) == "" {
		fail(BadName, "name is missing; decisions are reported by it")
	}
	if spec.Kind != Allow && spec.Kind != Deny {
		fail(BadKind, "kind "+quote(string(spec.Kind))+" must be allow or deny")
	}
	starts, err := parseSchedule(spec.Schedule)
	switch {
	case err != nil:
		fail(BadSchedule, "schedule "+quote(spec.Schedule)+": "+err.Error())
	case !starts.fires():
		fail(NeverFires, "schedule "+quote(spec.Schedule)+" names no day that ever comes")
	}
	lasts, reason := parseDuration(spec.Duration)
	if reason != "" {
		fail(BadDuration, reason)
	}
	zone, reason := loadZone(spec.Timezone)
	if reason != "" {
		fail(BadTimezone, reason)
	}
	return Window{Spec: spec, starts: starts, lasts: lasts, zone: zone, always: starts.gapless(lasts)}, errs
}

func parseDuration(text string) (time.Duration, string) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, "duration " + quote(text) + " is not a duration such as 8h or 90m"
	case d <= 0:
		return 0, "duration " + quote(text) + " must be over zero"
	case d > MaxDuration:
		return 0, "duration " + quote(text) + " is over 31 days (744h)"
	}
	return d, ""
}
