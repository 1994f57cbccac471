package rollback

import (
	"slices"
	"strings"
)

// weighAcceptances returns the unknowns that a second person has accepted, and
// the acceptances that do not count, as why:unknown.
func weighAcceptances(acceptances []Acceptance, found findings) (accepted, refused []string) {
	refused = []string{}
	for _, a := range acceptances {
		why := a.refusal(found)
		if why == "" {
			accepted = append(accepted, a.Unknown)
			continue
		}
		refused = append(refused, why+":"+a.Unknown)
	}
	return accepted, refused
}

// refusal says why an acceptance does not count; empty if it does. Where a name
// is missing there is no telling two persons apart.
func (a Acceptance) refusal(found findings) string {
	asked, accepted := strings.TrimSpace(a.RequestedBy), strings.TrimSpace(a.AcceptedBy)
	switch {
	case asked == accepted || asked == "" || accepted == "":
		return "acceptance-same-person"
	case strings.TrimSpace(a.Reason) == "":
		return "acceptance-without-reason"
	case slices.Contains(found.unknowns, a.Unknown):
		return ""
	case slices.Contains(found.nos, a.Unknown):
		return "acceptance-of-a-no"
	}
	return "acceptance-names-nothing"
}
