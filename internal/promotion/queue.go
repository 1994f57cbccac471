package promotion

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Where the policy says so, a release that is asked for while another promotion is open waits behind it instead of taking its
// place. It has its turn when the one before is merged or over: only then a pull request is made of it.

// lockOpen are a target's open promotions, each held until the end: the one that has its turn, then those that wait, in order.
func lockOpen(ctx context.Context, tx Tx, targetID int64) ([]Promotion, error) {
	listed, err := tx.OpenOn(ctx, targetID)
	if err != nil {
		return nil, err
	}
	var open []Promotion
	for _, p := range listed {
		if p, err = tx.LockPromotion(ctx, p.ID); err != nil {
			return nil, err
		}
		if p.Open() { // still, now that nobody else can change it
			open = append(open, p)
		}
	}
	return open, nil
}

// makeRoom has a new promotion wait behind what is open, or take its place: it says whose.
func (s *Service) makeRoom(ctx context.Context, tx Tx, by Actor, open []Promotion, p *Promotion) (replaced []Promotion, err error) {
	if len(open) == 0 {
		return nil, nil
	}
	queues, err := s.queues(ctx, tx, *p)
	if err != nil {
		return nil, err
	}
	if queues {
		p.Behind = open[len(open)-1].ID
		return nil, mayWait(open, *p)
	}
	for _, o := range open {
		if err := s.mayReplace(ctx, tx, o, *p); err != nil {
			return nil, err
		}
	}
	for i := range open {
		if err := s.supersede(ctx, tx, by, &open[i], *p); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// queues tells whether a promotion waits its turn. A rollback never does.
func (s *Service) queues(ctx context.Context, r Reader, p Promotion) (bool, error) {
	if p.Kind == KindRollback {
		return false, nil
	}
	policy, err := s.rulesOf(ctx, r, p.Target.Repository)
	return err == nil && policy.rules.For(p.Target).NewerWaits, err
}

// mayWait: what waits comes after everything that goes before it, and changes nothing but its own target.
func mayWait(open []Promotion, p Promotion) error {
	for _, o := range open {
		if err := refuseOlder(o, p); err != nil {
			return err
		}
	}
	if len(p.With) > 0 {
		return refuseOpen(open[0], p, "what is promoted together with other environments does not wait in a queue")
	}
	return nil
}

// lookAtQueue finds who goes before a promotion that waits.
func (s *Service) lookAtQueue(ctx context.Context, f *situation) error {
	if f.Behind == 0 || !f.Open() {
		return nil
	}
	open, err := s.Store.OpenOn(ctx, f.Target.ID)
	if err != nil {
		return fmt.Errorf("read the queue of %s: %w", f.Target.Path, err)
	}
	if i := slices.IndexFunc(open, func(o Promotion) bool { return o.ID == f.ID }); i > 0 {
		f.before = open[:i]
	}
	return nil
}

// ahead is whom it waits behind now; zero when it is its turn.
func (f *situation) ahead() Promotion {
	if len(f.before) == 0 {
		return Promotion{}
	}
	return f.before[len(f.before)-1]
}

// mayMoveUp: the one that it waited behind is merged or over.
func mayMoveUp(f *situation) bool {
	return f.Open() && f.Behind != 0 && f.Behind != f.ahead().ID
}

func (s *Service) moveUp(_ context.Context, f *situation) (record, error) {
	ahead := f.ahead().ID
	message := "it has its turn"
	if ahead != 0 {
		message = fmt.Sprintf("moved up in the queue, behind promotion %d", ahead)
	}
	return record{by: Sluice(), action: "promotion.moved-up", message: message,
		apply: func(p *Promotion) {
			if p.Open() { // a rollback may have taken its place meanwhile
				p.Behind = ahead
			}
		}, then: func(ctx context.Context, tx Tx, p Promotion) error { return tx.EnqueueTarget(ctx, p.Target.ID) }}, nil
}

// inQueue says where it is in the queue.
func (f *situation) inQueue() string {
	ahead := f.ahead()
	if ahead.ID == 0 {
		return "It is its turn in the queue."
	}
	return fmt.Sprintf("It waits at place %d of the queue for %s, behind promotion %d (%s), and moves up when that is merged or over.",
		len(f.before), f.Target.Environment, ahead.ID, ahead.Release.Version)
}

// planQueue says behind whom a promotion would wait.
func (s *Service) planQueue(ctx context.Context, p Promotion, plan *Plan) error {
	open, err := s.Store.OpenOn(ctx, p.Target.ID)
	if err != nil || len(open) == 0 || slices.ContainsFunc(open, func(o Promotion) bool { return o.Release.ID == p.Release.ID }) {
		return err
	}
	queues, err := s.queues(ctx, s.Store, p)
	if err != nil || !queues {
		return err
	}
	last := open[len(open)-1]
	plan.Behind = last.ID
	plan.Waits = strings.TrimSpace(fmt.Sprintf("It would wait in the queue behind promotion %d (%s). %s", last.ID, last.Release.Version, plan.Waits))
	return nil
}
