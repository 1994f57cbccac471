package promotion

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Subject is something of a release's that an earlier one would meet and no SQL shows.
type Subject string

// The subjects. A policy asks for the last three; data are asked for wherever there is a database.
const (
	SubjectData        Subject = "data" // what it writes into the database
	SubjectMessages    Subject = "messages"
	SubjectCaches      Subject = "caches"
	SubjectSideEffects Subject = "side-effects" // what it has done outside
)

// Subjects are all there are.
func Subjects() []Subject {
	return []Subject{SubjectData, SubjectMessages, SubjectCaches, SubjectSideEffects}
}

// AttestedVerdict is what somebody says of a subject.
type AttestedVerdict string

// An earlier release can go on with it, or cannot.
const (
	AttestedCompatible   AttestedVerdict = "compatible"
	AttestedIncompatible AttestedVerdict = "incompatible"
)

// BuildAttestation is posted with a build, for the release that the build completes.
type BuildAttestation struct {
	Subject Subject         `json:"subject"`
	Verdict AttestedVerdict `json:"verdict"`
	Since   string          `json:"since"`   // of a compatible one: version of the oldest release that can go on. An incompatible one is about every earlier release
	Summary string          `json:"summary"` // what was tested, or what is wrong
}

// Attestation is somebody's word whether an earlier release can go on with what another has left behind. All are kept.
type Attestation struct {
	ID                     int64
	BuildID                int64 // that it was posted with; zero for what a person signed off
	From, To               int64 // releases; To is zero for what was posted
	FromVersion, ToVersion string
	Subject                Subject
	Verdict                AttestedVerdict
	Since                  string
	Reason                 string
	By                     string
	At                     time.Time
	ExpiresAt              time.Time // zero: never
}

// InForce tells whether it still counts.
func (a Attestation) InForce(now time.Time) bool {
	return a.ExpiresAt.IsZero() || a.ExpiresAt.After(now)
}

// String says it with who said it, and until when.
func (a Attestation) String() string {
	said := fmt.Sprintf("%s: %s from %s to %s, signed off by %s until %s", a.Subject, a.Verdict, a.FromVersion, a.ToVersion, a.By, clock(a.ExpiresAt))
	if a.BuildID != 0 {
		said = fmt.Sprintf("%s: %s, posted by %s with build %d of %s", a.Subject, a.Verdict, a.By, a.BuildID, a.FromVersion)
		if a.Since != "" {
			said += ", for releases from " + a.Since + " on"
		}
	}
	if a.Reason != "" {
		said += ": " + strings.TrimSuffix(a.Reason, ".")
	}
	return said
}

func (v AttestedVerdict) known() bool { return v == AttestedCompatible || v == AttestedIncompatible }

// mostSummary is the longest text that an attestation may have, in bytes.
const mostSummary = 2000

func (r BuildRequest) validateAttestations() error {
	seen := map[Subject]bool{}
	for i, a := range r.Attestations {
		field := fmt.Sprintf("attestations[%d].", i)
		switch {
		case !slices.Contains(Subjects(), a.Subject):
			return invalid("unknown-subject", field+"subject", "%s is %q: say one of %s", field+"subject", a.Subject, listedSubjects())
		case seen[a.Subject]:
			return invalid("duplicate-attestation", field+"subject", "%s is attested twice in one build", a.Subject)
		case !a.Verdict.known():
			return invalid("malformed-verdict", field+"verdict", "%s is %q: say compatible or incompatible", field+"verdict", a.Verdict)
		case a.Verdict == AttestedCompatible && !versionForm.MatchString(a.Since):
			return invalid("missing-since", field+"since", "%s is %q: say the version of the oldest release that can go on with the %s of this one", field+"since", a.Since, a.Subject)
		case a.Verdict == AttestedIncompatible && a.Since != "":
			return invalid("since-of-incompatible", field+"since", "%s is of what is compatible alone: incompatible is about every earlier release", field+"since")
		case len(a.Summary) > mostSummary:
			return invalid("long-summary", field+"summary", "%s has more than %d bytes: say it shorter", field+"summary", mostSummary)
		}
		seen[a.Subject] = true
	}
	return nil
}

func listedSubjects() string {
	var names []string
	for _, s := range Subjects() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
