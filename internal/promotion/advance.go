package promotion

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// step is one move of a promotion. Its effect on the world outside is idempotent and
// comes first; what became of it is then recorded in one transaction. Killed between the
// two, the next look finds the effect and records it.
type step struct {
	name    string
	applies func(*situation) bool
	// act has the effect and returns how to record it. The promotion it is
	// given to record on is the one locked in the transaction.
	act func(context.Context, *situation) (record, error)
}

// record writes what a step did onto the promotion, and says it in one sentence.
type record struct {
	apply   func(*Promotion)
	by      Actor
	action  string
	message string
	then    func(context.Context, Tx, Promotion) error // more in the same transaction
}

// steps in order of precedence: the first that applies is taken.
func (s *Service) steps() []step {
	return []step{
		{"find-merged", foundMerged, s.findMerged},
		{"find-closed", foundClosed, s.findClosed},
		{"withdraw", targetGone, s.withdraw},
		{"withdraw-merge", standingMergeOver, s.withdrawStandingMerge},
		{"close", mustClose, s.closePullRequest},
		{"notice", mustNotice, s.notice},
		{"review", s.mustTakeReviews, s.takeReviews},
		{"move-up", mayMoveUp, s.moveUp},
		{"propose", mustPropose, s.propose},
		{"open", mustOpen, s.openPullRequest},
		{"report", mustReport, s.report},
		{"merge", mayMerge, s.merge},
		{"lapse", mergeLapsed, s.lapse},
		{"overtake", overtaken, s.overtake},
		{"follow", deploymentMoved, s.follow},
		{"sync", maySync, s.startSync},
		{"verify", mayVerify, s.verify},
		{"clean-up", mustCleanUp, s.cleanUp},
	}
}

// Boundaries lists every place between two steps at which the process may die,
// as told to Checkpoint.
func Boundaries() []string {
	names := []string{"build:recorded", "request:recorded"}
	for _, st := range (&Service{}).steps() {
		names = append(names, st.name+":begun", st.name+":done", st.name+":recorded")
	}
	return names
}

// Advance takes a promotion as far as the facts allow. It returns when to look again, zero
// when only an event can change something. Busy is true when another server is at it.
func (s *Service) Advance(ctx context.Context, id int64) (next time.Time, busy bool, err error) {
	ran, err := s.Store.Exclusively(ctx, fmt.Sprintf("promotion/%d", id), func(ctx context.Context) error {
		next, err = s.advance(ctx, id)
		return s.noteLimitOf(ctx, id, err)
	})
	return next, !ran && err == nil, err
}

// AdvanceAll has every unfinished promotion looked at: the periodic look that
// finds what no event told of.
func (s *Service) AdvanceAll(ctx context.Context) error {
	return s.Store.Tx(ctx, func(tx Tx) error { return advanceUnfinished(ctx, tx) })
}

func advanceUnfinished(ctx context.Context, tx Tx) error {
	ids, err := tx.Unfinished(ctx, "")
	if err != nil {
		return fmt.Errorf("list unfinished promotions: %w", err)
	}
	return advanceEach(ctx, tx, ids)
}

// advanceEach has promotions looked at again.
func advanceEach(ctx context.Context, tx Tx, ids []int64) error {
	for _, id := range ids {
		if err := tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: id}); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) advance(ctx context.Context, id int64) (time.Time, error) {
	steps := s.steps()
	for range 2 * len(steps) {
		f, err := s.look(ctx, id)
		if err != nil {
			return time.Time{}, err
		}
		if f.gates, err = s.refresh(ctx, f); err != nil {
			return time.Time{}, err
		}
		if err := s.keepLine(ctx, f); err != nil {
			return time.Time{}, fmt.Errorf("keep promotion %d in the line of syncs: %w", id, err)
		}
		f.failUnrecovered()
		f.body = s.body(f)
		i := slices.IndexFunc(steps, func(st step) bool { return st.applies(f) })
		if i < 0 {
			return f.lookAgain(), s.recordWaiting(ctx, f)
		}
		if err := s.take(ctx, f, steps[i]); err != nil {
			return time.Time{}, fmt.Errorf("promotion %d, step %s: %w", id, steps[i].name, err)
		}
	}
	return s.Now().Add(time.Second), nil
}

func (s *Service) take(ctx context.Context, f *situation, st step) error {
	s.passed(st.name + ":begun")
	r, err := st.act(ctx, f)
	if err != nil {
		return err
	}
	s.passed(st.name + ":done")
	err = s.Store.Tx(ctx, func(tx Tx) error {
		p, err := tx.LockPromotion(ctx, f.ID)
		if err != nil {
			return err
		}
		before, wasOpen := p.State(), p.Open()
		r.apply(&p)
		if err := tx.SavePromotion(ctx, p); err != nil {
			return err
		}
		if err := s.concernOthers(ctx, tx, p, before, wasOpen); err != nil {
			return err
		}
		if r.then != nil {
			if err := r.then(ctx, tx, p); err != nil {
				return err
			}
		}
		if r.action == "" {
			return nil
		}
		e := s.promotionEvent(ctx, r.by, p, r.action, r.message)
		e.Before, e.After = map[string]any{"state": before}, map[string]any{"state": p.State()}
		return tx.Audit(ctx, e)
	})
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	s.passed(st.name + ":recorded")
	return nil
}

// concernOthers tells people of a failure, and of what is over ends a rollback's hold and has whoever waits behind it move up.
func (s *Service) concernOthers(ctx context.Context, tx Tx, p Promotion, before State, wasOpen bool) error {
	if before != StateFailed && p.State() == StateFailed {
		if err := s.notify(ctx, tx, p.failed(s.Now())); err != nil {
			return err
		}
	}
	if wasOpen && !p.Open() {
		if err := s.endHoldOf(ctx, tx, p); err != nil {
			return err
		}
		return tx.EnqueueTarget(ctx, p.Target.ID)
	}
	return nil
}

// refresh evaluates the gates and stores those whose answer changed.
func (s *Service) refresh(ctx context.Context, f *situation) ([]GateResult, error) {
	results := s.evaluate(ctx, f)
	if len(results) == 0 {
		return s.Store.Gates(ctx, f.ID)
	}
	err := s.Store.Tx(ctx, func(tx Tx) error { return tx.SaveGates(ctx, f.ID, results) })
	if err != nil {
		return nil, fmt.Errorf("store gate results of promotion %d: %w", f.ID, err)
	}
	return results, nil
}

// recordWaiting stores the sentence that says what the promotion waits for.
func (s *Service) recordWaiting(ctx context.Context, f *situation) error {
	sentence := f.waiting()
	if sentence == f.WaitsFor {
		return nil
	}
	return s.Store.Tx(ctx, func(tx Tx) error {
		p, err := tx.LockPromotion(ctx, f.ID)
		if err != nil {
			return err
		}
		p.WaitsFor = sentence
		if err := tx.SavePromotion(ctx, p); err != nil || f.needs() == "" {
			return err
		}
		return s.notify(ctx, tx, f.needsSomebody())
	})
}

// lookAgain is the next moment at which the mere passage of time changes something.
func (f *situation) lookAgain() time.Time {
	var next time.Time
	soonest := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, g := range f.gates {
		soonest(g.Until)
	}
	soonest(f.mergerUnknownUntil())
	if f.State() == StateLive && f.soaked.lasted < f.policy.Soak {
		soonest(f.soaked.until(f.now, f.policy.Soak))
	}
	return next
}
