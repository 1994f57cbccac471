package promotion

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// DatabaseLook is when an application's database was asked last for what it has applied, and what came of it.
type DatabaseLook struct {
	DatabaseKey
	At      time.Time // zero: it was never asked
	ReadAt  time.Time // when it answered last; zero: never
	Problem string    // why it was not read the last time; empty when it was
}

// ApplicationDatabases are those that the server's configuration names, with what is known of each, by name.
func (s *Service) ApplicationDatabases(ctx context.Context) ([]DatabaseLook, error) {
	looks, err := s.Store.DatabaseLooks(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the looks at applications' databases: %w", err)
	}
	known := map[DatabaseKey]DatabaseLook{}
	for _, l := range looks {
		known[l.DatabaseKey] = l
	}
	keys := slices.SortedFunc(maps.Keys(s.Databases), func(a, b DatabaseKey) int {
		return cmp.Or(cmp.Compare(a.Application, b.Application), cmp.Compare(a.Environment, b.Environment))
	})
	all := make([]DatabaseLook, len(keys))
	for i, key := range keys {
		all[i] = known[key]
		all[i].DatabaseKey = key
	}
	return all, nil
}

// noteTime is how long storing a look may take.
const noteTime = 2 * time.Second

// noteDatabase stores what came of a question, also of one that ran out of time. A verdict does not fail for it.
func (s *Service) noteDatabase(ctx context.Context, key DatabaseKey, problem error) {
	l := DatabaseLook{DatabaseKey: key, At: s.Now()}
	if problem != nil {
		l.Problem = problem.Error()
	} else {
		l.ReadAt = l.At
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := s.Store.Tx(ctx, func(tx Tx) error { return tx.SaveDatabaseLook(ctx, l) }); err != nil {
		s.Log.Warn("the look at an application's database was not stored", "application", key.Application, "environment", key.Environment, "err", err)
	}
}
