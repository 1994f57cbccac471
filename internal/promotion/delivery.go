package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Delivery is a notification on its way to one destination.
type Delivery struct {
	ID           string
	Notification Notification
	Destination  string
	Attempts     int
	TriedAt      time.Time
	DeliveredAt  time.Time
	Problem      string // of the last attempt
}

// Deliver brings a notification to its destination, at least once: whoever dies between the two does it again, under the same
// id. The error says that it did not arrive, and is to be tried again.
func (s *Service) Deliver(ctx context.Context, id string) error {
	ran, err := s.Store.Exclusively(ctx, "delivery/"+id, func(ctx context.Context) error {
		d, err := s.Store.Delivery(ctx, id)
		if err != nil || !d.DeliveredAt.IsZero() {
			return err
		}
		return s.deliver(ctx, d)
	})
	if err == nil && !ran {
		return fmt.Errorf("another server delivers %s", id)
	}
	return err
}

// TryAgain has a notification that has not arrived delivered now, whether it is to be tried by itself again or was given up.
func (s *Service) TryAgain(ctx context.Context, by Actor, id string) error {
	if err := allow(by, "have a notification delivered again", RoleReleaseManager, RoleAdmin); err != nil {
		return err
	}
	d, err := s.Store.Delivery(ctx, id)
	if err != nil {
		return unknown(err, "unknown-delivery", "there is no delivery %s", id)
	}
	if !d.DeliveredAt.IsZero() {
		return conflict("delivered", "it has arrived at %s already, at %s", d.Destination, clock(d.DeliveredAt))
	}
	n := d.Notification
	e := s.event(ctx, by, "notification.tried-again", fmt.Sprintf("tried to tell %s again: %s", d.Destination, n.Message))
	e.Object, e.Application, e.Environment, e.PromotionID = "delivery/"+id, n.Application, n.Environment, n.PromotionID
	if err := s.Store.Tx(ctx, func(tx Tx) error { return tx.Audit(ctx, e) }); err != nil {
		return err
	}
	failed := s.Deliver(ctx, id)
	if d, err = s.Store.Delivery(ctx, id); err != nil {
		return errors.Join(failed, err)
	}
	if d.DeliveredAt.IsZero() && failed != nil {
		return conflict("undelivered", "it has not arrived at %s: %v", d.Destination, failed)
	}
	return nil
}

func (s *Service) deliver(ctx context.Context, d Delivery) error {
	failed := s.send(ctx, d)
	if ctx.Err() != nil {
		return ctx.Err() // it says nothing of the destination
	}
	s.passed("deliver:done")
	d.Attempts, d.TriedAt = d.Attempts+1, s.Now()
	if d.Problem = ""; failed != nil {
		d.Problem = failed.Error()
	} else {
		d.DeliveredAt = d.TriedAt
	}
	if err := s.Store.Tx(ctx, func(tx Tx) error { return tx.SaveDelivery(ctx, d) }); err != nil {
		return fmt.Errorf("record delivery %s: %w", d.ID, errors.Join(failed, err))
	}
	return failed
}

func (s *Service) send(ctx context.Context, d Delivery) error {
	i := slices.IndexFunc(s.Destinations, func(to Destination) bool { return to.Name == d.Destination })
	if i < 0 {
		return fmt.Errorf("%s is not among the configured destinations", d.Destination)
	}
	return s.Destinations[i].Messenger.Send(ctx, Message{Notification: d.Notification, Delivery: d.ID, URL: s.PublicURL + d.Notification.Page})
}
