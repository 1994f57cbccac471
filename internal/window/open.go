package window

import "time"

// calendarYears is how far ahead a change can lie: after 400 years the days of the
// month and of the week come in the same order again.
const calendarYears = 401

// Decision says whether changes may go out at an instant.
type Decision struct {
	Open   bool
	By     string    // name of the window that decided; empty where none did
	Reason string    // in words
	Next   time.Time // when Open changes next, in UTC, or up to when it is known not to; zero when it never does
}

// Open decides for one instant. Where several windows cover it, the first in the
// list that decides is named.
func Open(windows []Window, at time.Time) Decision {
	d := decide(windows, at)
	d.Next = next(windows, at.UTC(), d.Open)
	return d
}

func decide(windows []Window, at time.Time) Decision {
	allow, anyAllow := "", false
	for _, w := range windows {
		switch {
		case w.Kind == Allow:
			anyAllow = true
			if allow == "" && w.covers(at) {
				allow = w.Name
			}
		case w.covers(at):
			return Decision{By: w.Name, Reason: "deny window " + quote(w.Name) + " is active"}
		}
	}
	switch {
	case allow != "":
		return Decision{Open: true, By: allow, Reason: "allow window " + quote(allow) + " is active"}
	case anyAllow:
		return Decision{Reason: "no allow window is active"}
	case len(windows) > 0:
		return Decision{Open: true, Reason: "no deny window is active"}
	}
	return Decision{Open: true, Reason: "there are no sync windows"}
}

func (w Window) covers(at time.Time) bool {
	return w.always || len(Occurrences(w, at, at.Add(1))) > 0
}

// mostOccurrences bounds the work of looking ahead: windows of a few minutes each come by the million in 400 years.
// Of windows that come seldom every century is looked through.
const (
	mostOccurrences = 400_000
	oftenPerDay     = 12
)

// next looks further and further ahead for the end of the present answer. When there is no end in sight after many
// occurrences, it is the moment up to which the answer is known to stay.
func next(windows []Window, at time.Time, open bool) time.Time {
	if settled(windows) {
		return time.Time{}
	}
	began := at
	limit := at.AddDate(calendarYears, 0, 0)
	perDay := 0
	for _, w := range windows {
		perDay += len(w.starts.times)
	}
	if most := at.AddDate(0, 0, mostOccurrences/max(1, perDay)); perDay > oftenPerDay && most.Before(limit) {
		limit = most
	}
	for step := 8 * 24 * time.Hour; at.Before(limit); step = min(2*step, 366*24*time.Hour) {
		end := at.Add(step)
		found := Intervals(windows, at, end)
		switch {
		case !open && len(found) > 0:
			return found[0].From
		case open && len(found) == 0:
			return at
		case open && found[0].From.After(at):
			return at
		case open && found[0].To.Before(end):
			return found[0].To
		}
		at = end
	}
	if at.Before(began.AddDate(calendarYears, 0, 0)) {
		return at
	}
	return time.Time{}
}

// settled says whether the answer is plainly the same for ever, so that nobody
// need look through the centuries: by a deny window that never ends, or with
// no other deny window and the allow windows either none or one without end.
func settled(windows []Window) bool {
	anyAllow, anyDeny, alwaysAllowed := false, false, false
	for _, w := range windows {
		switch {
		case w.Kind == Deny && w.always:
			return true
		case w.Kind == Deny:
			anyDeny = true
		default:
			anyAllow = true
			alwaysAllowed = alwaysAllowed || w.always
		}
	}
	return !anyDeny && (alwaysAllowed || !anyAllow)
}

// Intervals lists every open interval between from and to: in order, in UTC, not
// empty, as long as possible and clipped to that range.
func Intervals(windows []Window, from, to time.Time) []Interval {
	var allowed, denied []Interval
	anyAllow := false
	for _, w := range windows {
		if w.Kind == Allow {
			anyAllow = true
			allowed = append(allowed, Occurrences(w, from, to)...)
		} else {
			denied = append(denied, Occurrences(w, from, to)...)
		}
	}
	if !anyAllow && from.Before(to) {
		allowed = []Interval{{from.UTC(), to.UTC()}}
	}
	return subtract(union(allowed), union(denied))
}
