package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Level says how bad a finding is. Either makes the lint fail.
type Level string

// An error is wrong as it stands. A warning is wrong unless something outside
// the repository makes up for it.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// Finding is one thing that is wrong at one place.
type Finding struct {
	Code    string   `json:"code"`
	Level   Level    `json:"level"`
	File    string   `json:"file"` // relative to the root
	Line    int      `json:"line"` // from 1
	Object  string   `json:"object,omitempty"`
	Targets []string `json:"targets,omitempty"` // paths of the overlays that see it
	Message string   `json:"message"`
	Why     string   `json:"why"`
	Mend    string   `json:"mend"`
	Commit  *Commit  `json:"commit,omitempty"` // that brought it in; known with the history only

	Suppressed       bool   `json:"suppressed,omitempty"`
	SuppressedReason string `json:"suppressed_reason,omitempty"`
	SuppressedUntil  string `json:"suppressed_until,omitempty"` // the last day, as 2027-01-31
}

// Commit says who brought something in, and when.
type Commit struct {
	Hash   string    `json:"hash"`
	Author string    `json:"author"`
	When   time.Time `json:"when"`
}

// String gives place, level, code and message in one line.
func (f Finding) String() string {
	s := fmt.Sprintf("%s:%d: %s %s: %s", f.File, f.Line, f.Level, f.Code, f.Message)
	if f.Suppressed {
		s += fmt.Sprintf(" (suppressed until %s: %s)", f.SuppressedUntil, f.SuppressedReason)
	}
	return s
}

// identity is what stays when lines move and other overlays come to see it.
type identity struct{ code, file, object, message, commit string }

func (f Finding) identity() identity {
	id := identity{code: f.Code, file: f.File, object: f.Object, message: f.Message}
	if f.Commit != nil {
		id.commit = f.Commit.Hash
	}
	return id
}

// New returns the findings in after that before does not have: those that a
// change introduces, or whose suppression it takes away. Lines that moved and
// overlays that came to share a base do not make a finding new; a second one
// of the same kind in the same file does.
func New(before, after []Finding) []Finding {
	known := map[identity]int{}
	for _, f := range before {
		if !f.Suppressed {
			known[f.identity()]++
		}
	}
	var found []Finding
	for _, f := range after {
		if f.Suppressed {
			continue
		}
		if known[f.identity()]--; known[f.identity()] < 0 {
			found = append(found, f)
		}
	}
	return found
}

// merge sorts findings and makes one of those that several overlays see of the
// same line.
func merge(findings []Finding) []Finding {
	slices.SortStableFunc(findings, compare)
	var merged []Finding
	for _, f := range findings {
		last := len(merged) - 1
		if last < 0 || compare(merged[last], f) != 0 {
			f.Targets = slices.Clone(f.Targets)
			merged = append(merged, f)
			continue
		}
		merged[last].Targets = append(merged[last].Targets, f.Targets...)
	}
	for i := range merged {
		slices.Sort(merged[i].Targets)
		merged[i].Targets = slices.Compact(merged[i].Targets)
	}
	return merged
}

func compare(a, b Finding) int {
	return cmp.Or(
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		strings.Compare(a.Code, b.Code),
		strings.Compare(a.Object, b.Object),
		strings.Compare(a.Message, b.Message),
		strings.Compare(a.identity().commit, b.identity().commit),
	)
}
