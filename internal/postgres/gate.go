package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/postgres/dbsqlc"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (r reader) Gates(ctx context.Context, promotionID int64) ([]promotion.GateResult, error) {
	rows, err := r.q.Gates(ctx, promotionID)
	if err != nil {
		return nil, err
	}
	all := make([]promotion.GateResult, len(rows))
	for i, g := range rows {
		all[i] = promotion.GateResult{Gate: g.Gate, Phase: promotion.Phase(g.Phase), Mode: promotion.Mode(g.Mode),
			Verdict: promotion.Verdict(g.Verdict), Reason: g.Reason, Until: value(g.Until), Override: value(g.OverrideID), EvaluatedAt: g.EvaluatedAt}
		if err := json.Unmarshal(g.Inputs, &all[i].Inputs); err != nil {
			return nil, fmt.Errorf("inputs of gate %s: %w", g.Gate, err)
		}
	}
	return promotion.InOrder(all), nil
}

// SaveGates keeps a row for every answer that differs from the one before, and
// leaves the others alone.
func (t *tx) SaveGates(ctx context.Context, promotionID int64, results []promotion.GateResult) error {
	if _, err := t.q.LockPromotion(ctx, promotionID); err != nil {
		return found(err)
	}
	rows, err := t.q.Gates(ctx, promotionID)
	if err != nil {
		return err
	}
	current := map[string]dbsqlc.GateResult{}
	for _, g := range rows {
		current[g.Phase+"/"+g.Gate] = g
	}
	for _, g := range results {
		inputs, err := json.Marshal(g.Inputs)
		if err != nil {
			return fmt.Errorf("inputs of gate %s: %w", g.Gate, err)
		}
		if g.Inputs == nil {
			inputs = []byte("{}")
		}
		old, known := current[string(g.Phase)+"/"+g.Gate]
		if known && sameAnswer(old, g, inputs) {
			continue
		}
		if err := t.replaceGate(ctx, promotionID, g, inputs, known); err != nil {
			return err
		}
	}
	return nil
}

func sameAnswer(old dbsqlc.GateResult, g promotion.GateResult, inputs []byte) bool {
	return old.Verdict == string(g.Verdict) && old.Reason == g.Reason && old.Mode == string(g.Mode) && value(old.OverrideID) == g.Override &&
		value(old.Until).Equal(g.Until.Truncate(time.Microsecond)) && sameDocument(old.Inputs, inputs)
}

// sameDocument compares documents as PostgreSQL stores them: it orders keys its own way.
func sameDocument(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	ax, errX := json.Marshal(x)
	by, errY := json.Marshal(y)
	return errX == nil && errY == nil && bytes.Equal(ax, by)
}

func (t *tx) replaceGate(ctx context.Context, promotionID int64, g promotion.GateResult, inputs []byte, known bool) error {
	if known {
		err := t.q.ReplaceGate(ctx, dbsqlc.ReplaceGateParams{PromotionID: promotionID, Gate: g.Gate, Phase: string(g.Phase), At: g.EvaluatedAt})
		if err != nil {
			return err
		}
	}
	return t.q.InsertGate(ctx, dbsqlc.InsertGateParams{PromotionID: promotionID, Gate: g.Gate, Phase: string(g.Phase), Mode: string(g.Mode),
		Verdict: string(g.Verdict), Reason: g.Reason, Until: nullTime(g.Until), Inputs: inputs, EvaluatedAt: g.EvaluatedAt, OverrideID: nullID(g.Override)})
}
