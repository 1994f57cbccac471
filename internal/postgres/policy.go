package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) PolicyInForce(ctx context.Context, repository string) (promotion.PolicyInForce, error) {
	p, err := r.q.PolicyInForce(ctx, repository)
	return promotion.PolicyInForce{ID: p.ID, Commit: p.Commit, Since: p.InForceFrom}, found(err)
}

func (r reader) PolicyFiles(ctx context.Context, id int64) (promotion.PolicyFiles, error) {
	text, err := r.q.PolicyFiles(ctx, id)
	if err != nil {
		return nil, found(err)
	}
	files := promotion.PolicyFiles{}
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("policy %d: %w", id, err)
	}
	return files, nil
}

func (t *tx) SavePolicy(ctx context.Context, repository, commit string, files promotion.PolicyFiles, from time.Time) error {
	if files == nil {
		files = promotion.PolicyFiles{}
	}
	text, err := json.Marshal(files)
	if err != nil {
		return err
	}
	return t.q.InsertPolicy(ctx, dbsqlc.InsertPolicyParams{Repository: repository, Commit: commit, Files: text, InForceFrom: from})
}
