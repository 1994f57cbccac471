package promotion

import (
	"context"
	"fmt"
	"time"
)

// Tidings are what a host's webhook says has happened in a config repository. They are never believed: they only say where
// to look now. A new name alone is written down as it was told, since nothing else says who gave it.
type Tidings struct {
	Host, Delivery string // the delivery's id is the host's own
	Repository     string // name of the config repository
	Refs           []string
	PullRequest    int
	Renamed        Renamed
}

// Renamed says that a repository has another name or owner on its host now; zero: it has not.
type Renamed struct {
	From, To string // owner/name
	By       string // as the host calls them
}

// deliveriesKept is how long a delivery is remembered; hosts redeliver for a few days.
const deliveriesKept = 30 * 24 * time.Hour

// Told has what tidings are about looked at. The same delivery again does nothing.
func (s *Service) Told(ctx context.Context, t Tidings) error {
	if _, ok := s.Sites[t.Repository]; !ok {
		return fmt.Errorf("config repository %q is not configured on this server", t.Repository)
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		now := s.Now()
		claimed, err := tx.ClaimDelivery(ctx, t.Host, t.Delivery, now, now.Add(-deliveriesKept))
		if err != nil || !claimed {
			return err
		}
		if err := s.recordRenamed(ctx, tx, t); err != nil {
			return err
		}
		if err := s.lookAtRefs(ctx, tx, t.Repository, t.Refs); err != nil {
			return err
		}
		if t.PullRequest == 0 {
			return nil
		}
		ids, err := tx.OfPullRequest(ctx, t.Repository, t.PullRequest)
		if err != nil {
			return err
		}
		if err := advanceEach(ctx, tx, ids); err != nil {
			return err
		}
		return tx.Enqueue(ctx, Work{Kind: WorkLook, Repository: t.Repository})
	})
}

// recordRenamed says who renamed a repository. Hosts redirect what is read under the old name, and what is written is refused.
func (s *Service) recordRenamed(ctx context.Context, tx Tx, t Tidings) error {
	if t.Renamed.From == "" {
		return nil
	}
	e := s.event(ctx, s.personOf(t.Repository, t.Renamed.By), "repository.renamed", fmt.Sprintf("config repository %s was renamed from %s to %s on its host: Sluice writes to it only under the name that its configuration gives",
		t.Repository, t.Renamed.From, t.Renamed.To))
	e.Object = "repository/" + t.Repository
	e.Before, e.After = map[string]any{"name": t.Renamed.From}, map[string]any{"name": t.Renamed.To}
	return tx.Audit(ctx, e)
}
