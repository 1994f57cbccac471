package postgres

import (
	"context"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (t *tx) InsertAttestation(ctx context.Context, a promotion.Attestation) (int64, error) {
	return t.q.InsertAttestation(ctx, dbsqlc.InsertAttestationParams{BuildID: nullID(a.BuildID), FromReleaseID: nullID(a.From), ToReleaseID: nullID(a.To),
		Subject: string(a.Subject), Compatible: a.Verdict == promotion.AttestedCompatible, Since: a.Since, Reason: a.Reason, AttestedBy: a.By,
		AttestedAt: a.At, ExpiresAt: nullTime(a.ExpiresAt)})
}

func (r reader) AttestationsAbout(ctx context.Context, releaseIDs []int64, candidateID int64) ([]promotion.Attestation, error) {
	rows, err := r.q.AttestationsAbout(ctx, dbsqlc.AttestationsAboutParams{Releases: releaseIDs, Candidate: candidateID})
	all := make([]promotion.Attestation, len(rows))
	for i, a := range rows {
		all[i] = attestation(dbsqlc.AttestationsRow(a))
	}
	return all, err
}

func (r reader) Attestations(ctx context.Context, application string, limit int) ([]promotion.Attestation, error) {
	rows, err := r.q.Attestations(ctx, dbsqlc.AttestationsParams{Application: application, Most: int32(limit)}) //nolint:gosec // the domain bounds it
	all := make([]promotion.Attestation, len(rows))
	for i, a := range rows {
		all[i] = attestation(a)
	}
	return all, err
}

func attestation(a dbsqlc.AttestationsRow) promotion.Attestation {
	verdict := promotion.AttestedIncompatible
	if a.Compatible {
		verdict = promotion.AttestedCompatible
	}
	return promotion.Attestation{ID: a.ID, BuildID: a.BuildID, From: a.FromReleaseID, To: a.ToReleaseID, FromVersion: a.FromVersion, ToVersion: a.ToVersion,
		Subject: promotion.Subject(a.Subject), Verdict: verdict, Since: a.Since, Reason: a.Reason, By: a.AttestedBy, At: a.AttestedAt, ExpiresAt: value(a.ExpiresAt)}
}
