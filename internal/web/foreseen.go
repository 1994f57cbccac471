package web

import (
	"context"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/promotion"
)

// foreseen lists what is known to stand in the way of a promotion that nobody has asked for
// yet. It is advice, made from what is stored: the gates decide once the promotion is there.
func (w *Web) foreseen(ctx context.Context, row promotion.BoardRow, environment string, r promotion.Release) ([]string, error) {
	i := slices.IndexFunc(row.Cells, func(c promotion.BoardCell) bool { return c.Target.Environment == environment })
	if i < 0 {
		return nil, nil
	}
	cell := row.Cells[i]
	var says []string
	if cell.Desired != nil && cell.Desired.ID == r.ID {
		says = append(says, fmt.Sprintf("main already has %s in %s: there is nothing to promote.", r.Version, environment))
	}
	if p := cell.Open; p != nil && p.Open() {
		says = append(says, openAlready(*p, r))
	}
	if cell.Target.RenderProblem != "" {
		says = append(says, fmt.Sprintf("%s does not render on main: %s", environment, cell.Target.RenderProblem))
	}
	for _, a := range r.Artifacts {
		if a.Digest == "" && a.CarriedFrom == 0 {
			says = append(says, fmt.Sprintf("%s is named by a tag, which can point elsewhere tomorrow: post a build of it with its digest.", a.Reference()))
		}
	}
	unverified, err := w.unverifiedBefore(ctx, row, cell.Target, r)
	if err != nil {
		return nil, err
	}
	for _, name := range unverified {
		says = append(says, fmt.Sprintf("%s is not verified in %s: it goes there first.", r.Version, name))
	}
	return says, nil
}

func openAlready(p promotion.Promotion, r promotion.Release) string {
	if p.Release.ID == r.ID {
		return fmt.Sprintf("promotion %d carries it there already: you are led to it.", p.ID)
	}
	return fmt.Sprintf("promotion %d is open there with %s: finish or cancel it first, unless %s may replace it.", p.ID, p.Release.Version, r.Version)
}

// unverifiedBefore names the environments before a target where the release is not verified.
func (w *Web) unverifiedBefore(ctx context.Context, row promotion.BoardRow, t promotion.Target, r promotion.Release) ([]string, error) {
	targets := make([]promotion.Target, len(row.Cells))
	for i, c := range row.Cells {
		targets[i] = c.Target
	}
	before := promotion.UpstreamOf(t, targets)
	if len(before) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(before))
	for i, b := range before {
		ids[i] = b.ID
	}
	verified, err := w.store.VerifiedOn(ctx, r.ID, ids)
	if err != nil {
		return nil, fmt.Errorf("read where release %d is verified: %w", r.ID, err)
	}
	var names []string
	for _, b := range before {
		if verified[b.ID] == 0 {
			names = append(names, b.Environment)
		}
	}
	return names, nil
}
