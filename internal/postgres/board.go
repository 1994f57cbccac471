package postgres

import (
	"context"
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
)

// boardPromotions bounds how many unfinished promotions the board shows.
const boardPromotions = 5_000

// Board is read in a handful of queries whatever the number of applications.
func (r reader) Board(ctx context.Context) ([]promotion.BoardRow, error) {
	targets, err := r.Targets(ctx)
	if err != nil {
		return nil, err
	}
	deployments, err := r.Deployments(ctx, "", "")
	if err != nil {
		return nil, err
	}
	unfinished, err := r.Promotions(ctx, promotion.PromotionFilter{Unfinished: true, Limit: boardPromotions})
	if err != nil {
		return nil, err
	}
	desired, err := r.desired(ctx)
	if err != nil {
		return nil, err
	}
	cells := make(map[int64]*promotion.BoardCell, len(targets))
	var rows []promotion.BoardRow
	for _, t := range targets {
		cell := desired[t.ID]
		cell.Target = t
		cells[t.ID] = &cell
	}
	for _, d := range deployments {
		if cell := cells[d.TargetID]; cell != nil {
			cell.Deployments = append(cell.Deployments, d)
		}
	}
	for i := range unfinished { // newest first, so the newest stands
		switch cell := cells[unfinished[i].Target.ID]; {
		case cell == nil:
		case unfinished[i].Behind != 0:
			cell.Waiting = slices.Insert(cell.Waiting, 0, unfinished[i])
		case cell.Open == nil:
			cell.Open = &unfinished[i]
		}
	}
	for _, t := range targets {
		if n := len(rows); n == 0 || rows[n-1].Application != t.Application {
			rows = append(rows, promotion.BoardRow{Application: t.Application})
		}
		last := &rows[len(rows)-1]
		last.Cells = append(last.Cells, *cells[t.ID])
	}
	return rows, nil
}

// desired is what main renders for each target.
func (r reader) desired(ctx context.Context) (map[int64]promotion.BoardCell, error) {
	revisions, err := r.q.LatestRevisions(ctx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, v := range revisions {
		if v.ReleaseID != nil {
			ids = append(ids, *v.ReleaseID)
		}
	}
	releases, err := r.releases(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*promotion.Release, len(releases))
	for i := range releases {
		byID[releases[i].ID] = &releases[i]
	}
	cells := make(map[int64]promotion.BoardCell, len(revisions))
	for _, v := range revisions {
		cells[v.TargetID] = promotion.BoardCell{Desired: byID[value(v.ReleaseID)], DesiredSHA: v.Commit}
	}
	return cells, nil
}
