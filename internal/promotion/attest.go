package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AttestRequest signs off, for one pair of releases, whether the one can go on with what the other has left behind.
type AttestRequest struct {
	Application string
	From, To    string // id or version: the release that left it, and the one to go back to
	Subject     Subject
	Verdict     AttestedVerdict
	Reason      string
	ExpiresAt   time.Time
}

// longestAttestation bounds how long a person's word counts without anybody looking again.
const longestAttestation = 90 * 24 * time.Hour

// Attest stores a person's word. It counts until it expires, or until somebody signs the same pair and subject again. It speaks for
// everything that the earlier release would meet of the subject, also of what ran in between.
func (s *Service) Attest(ctx context.Context, by Actor, r AttestRequest) (Attestation, error) {
	if err := allow(by, "attest compatibility", RoleApprover, RoleReleaseManager, RoleAdmin); err != nil {
		return Attestation{}, err
	}
	now := s.Now()
	reason := strings.TrimSpace(r.Reason)
	switch {
	case !slices.Contains(Subjects(), r.Subject):
		return Attestation{}, invalid("unknown-subject", "subject", "%q is no subject: say one of %s", r.Subject, listedSubjects())
	case !r.Verdict.known():
		return Attestation{}, invalid("malformed-verdict", "verdict", "verdict %q: say compatible or incompatible", r.Verdict)
	case reason == "":
		return Attestation{}, invalid("missing-reason", "reason", "say how it is known: approvers read it, and so does whoever asks later")
	case len(reason) > mostSummary:
		return Attestation{}, invalid("long-reason", "reason", "the reason has more than %d bytes: say it shorter", mostSummary)
	case !r.ExpiresAt.After(now):
		return Attestation{}, invalid("bad-expiry", "expires_at", "say until when it counts: a moment to come")
	case r.ExpiresAt.After(now.Add(longestAttestation)):
		return Attestation{}, invalid("bad-expiry", "expires_at", "it counts for %d days at most", int(longestAttestation.Hours()/24))
	}
	from, err := s.findRelease(ctx, PromoteRequest{Application: r.Application, Release: r.From})
	if err != nil {
		return Attestation{}, inField(err, "from")
	}
	to, err := s.findRelease(ctx, PromoteRequest{Application: r.Application, Release: r.To})
	if err != nil {
		return Attestation{}, inField(err, "to")
	}
	if from.ID == to.ID {
		return Attestation{}, invalid("same-release", "to", "%s can go on with its own: say another release", to.Version)
	}
	a := Attestation{From: from.ID, To: to.ID, FromVersion: from.Version, ToVersion: to.Version, Subject: r.Subject, Verdict: r.Verdict, Reason: reason,
		By: by.Name, At: now, ExpiresAt: r.ExpiresAt}
	err = s.Store.Tx(ctx, func(tx Tx) error { return s.storeAttestation(ctx, tx, by, from, &a) })
	return a, err
}

// storeAttestation has every promotion of the application judged anew that waits for it.
func (s *Service) storeAttestation(ctx context.Context, tx Tx, by Actor, from Release, a *Attestation) error {
	var err error
	if a.ID, err = tx.InsertAttestation(ctx, *a); err != nil {
		return fmt.Errorf("store the attestation: %w", err)
	}
	event := s.releaseEvent(ctx, by, from, "attestation.signed", a.String())
	event.After = *a
	targets, err := tx.TargetsOf(ctx, from.ApplicationID)
	if err != nil {
		return err
	}
	return s.auditAndWake(ctx, tx, event, targets)
}
