package postgres

import (
	"context"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) EvidenceFor(ctx context.Context, releaseID int64) ([]promotion.Evidence, error) {
	rows, err := r.q.EvidenceFor(ctx, releaseID)
	all := make([]promotion.Evidence, len(rows))
	for i, e := range rows {
		all[i] = promotion.Evidence{ID: e.ID, ReleaseID: e.ReleaseID, Environment: e.Environment, Name: e.Name, Source: e.Source, Verdict: e.Verdict,
			URL: e.Url, Summary: e.Summary, ExpiresAt: value(e.ExpiresAt), PostedBy: e.PostedBy, PostedAt: e.PostedAt}
	}
	return all, err
}

func (t *tx) InsertEvidence(ctx context.Context, e promotion.Evidence) (int64, error) {
	return t.q.InsertEvidence(ctx, dbsqlc.InsertEvidenceParams{ReleaseID: e.ReleaseID, Environment: e.Environment, Name: e.Name, Source: e.Source,
		Verdict: e.Verdict, Url: e.URL, Summary: e.Summary, ExpiresAt: nullTime(e.ExpiresAt), PostedBy: e.PostedBy, PostedAt: e.PostedAt})
}

func (r reader) ReleasesWithDigest(ctx context.Context, application, digest string) ([]promotion.Release, error) {
	ids, err := r.q.ReleasesWithDigest(ctx, dbsqlc.ReleasesWithDigestParams{Application: application, Digest: digest})
	if err != nil {
		return nil, err
	}
	return r.releases(ctx, ids)
}
