package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/rollback"
)

// wayBack is a step from one release to another, which may be one back, and what lies in the database between.
type wayBack struct {
	From, To           string // versions
	current, candidate int64  // ids of the two
	DataFacts
}

// waysBack are the steps of a promotion: for each release that runs in one of a target's clusters, the one that comes back to it
// afterwards, and the promotion's own.
type waysBack []wayBack

// dataOfWayBack asks for each release that runs now, or that main wants where no cluster was seen, whether it could come back
// after the promotion, and whether what is promoted can work with what it and others have left behind: an older release goes
// back itself.
func (s *Service) dataOfWayBack(ctx context.Context, f *situation) (waysBack, error) {
	var ids []int64
	for _, d := range f.deployments {
		if runs := d.ReleaseID != 0 || len(d.Images)+len(d.RunningImages) > 0; runs && !slices.Contains(ids, d.ReleaseID) {
			ids = append(ids, d.ReleaseID)
		}
	}
	if len(f.deployments) == 0 {
		latest, err := s.Store.LatestRevision(ctx, f.Target.ID)
		switch {
		case errors.Is(err, ErrNotFound) || err == nil && len(latest.Images) == 0:
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("what main renders for %s could not be read: %w", f.Target.Path, err)
		}
		ids = append(ids, latest.ReleaseID)
	}
	var ways waysBack
	for _, id := range ids {
		running := Release{Version: "what runs now"}
		if id != 0 {
			var err error
			if running, err = s.Store.Release(ctx, id); err != nil {
				return nil, fmt.Errorf("release %d, which runs here, could not be read: %w", id, err)
			}
		}
		ways = append(ways, s.dataOfWay(ctx, f.Target, f.Release, running))
		if id != f.Release.ID {
			way := s.dataOfWay(ctx, f.Target, running, f.Release)
			way.brings = f.Kind != KindRollback
			ways = append(ways, way)
		}
	}
	return ways, nil
}

func (s *Service) dataOfWay(ctx context.Context, t Target, current, candidate Release) wayBack {
	return wayBack{From: current.Version, To: candidate.Version, current: current.ID, candidate: candidate.ID, DataFacts: s.dataFacts(ctx, t, current, candidate)}
}

// of are the facts about one of the ways; nil when it is not among them.
func (w waysBack) of(current, candidate Release) *DataFacts {
	for i := range w {
		if w[i].current == current.ID && w[i].candidate == candidate.ID {
			return &w[i].DataFacts
		}
	}
	return nil
}

// steps are what is known of the database, of each way.
func (w waysBack) steps() []*DataFacts {
	var steps []*DataFacts
	for i := range w {
		steps = append(steps, &w[i].DataFacts)
	}
	return steps
}

func (w waysBack) unchecked() bool {
	return slices.ContainsFunc(w, func(b wayBack) bool { return b.Unchecked })
}

// holding is the first way of which one of these verdicts holds: Breaking, that it is barred; Unknown, that it is not known to be open.
func (w waysBack) holding(verdicts ...rollback.State) GateResult {
	for _, verdict := range verdicts {
		for _, b := range w {
			said := b.Said(verdict)
			switch {
			case verdict == rollback.Breaking && len(said) > 0:
				return block("%s could not work with the database that %s leaves behind: %s.", b.To, b.From, strings.Join(said, "; ")).with(map[string]any{"data": w})
			case verdict == rollback.Unknown && b.Problem != "" && !b.Unchecked:
				return block("unknown whether %s could work with the database that %s leaves behind: %s.", b.To, b.From, b.Problem).with(map[string]any{"data": w})
			case verdict == rollback.Unknown && len(b.Unread) > 0:
				return block("unknown whether %s could work with the database that %s leaves behind: %s.", b.To, b.From, strings.Join(b.Unread, "; ")).with(map[string]any{"data": w})
			case verdict == rollback.Unknown && len(said) > 0:
				return block("a person must say whether %s could work with the database that %s leaves behind: %s.", b.To, b.From, strings.Join(said, "; ")).with(map[string]any{"data": w})
			}
		}
	}
	return pass("")
}

// said is what was found of the database, to be said after the images.
func (w waysBack) said() string {
	count := 0
	for _, b := range w {
		count += len(b.Between)
	}
	switch {
	case len(w) == 0 || w.unchecked():
		return ""
	case w[0].Database == DatabaseNone:
		return ", and it has no database"
	case count == 0:
		return ", and no migration lies between"
	}
	return ", and works with the database after " + counted(count, "migration")
}
