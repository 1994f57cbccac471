package promotion

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"
)

// Reminders say when what waits for a person is reminded of. Zero fields are the usual.
type Reminders struct {
	Override  time.Duration // an override that was used or has expired, and nobody has reviewed
	Violation time.Duration // a violation that nobody has closed
	Drift     time.Duration // drift of a target that nobody has mended
	Every     time.Duration // until it is done
}

func (r Reminders) orUsual() Reminders {
	return Reminders{Override: cmp.Or(r.Override, 4*time.Hour), Violation: cmp.Or(r.Violation, 24*time.Hour),
		Drift: cmp.Or(r.Drift, time.Hour), Every: cmp.Or(r.Every, 24*time.Hour)}
}

// Overdue is something that has waited for a person for too long.
type Overdue struct {
	Notification
	Since time.Time // from when on it waits
	Times int       // how often it has been due to be reminded of, at least once
}

// mostOverdue is how much of each sort is looked at.
const mostOverdue = 1000

// Overdue lists what has waited for too long, longest first.
func (s *Service) Overdue(ctx context.Context) ([]Overdue, error) {
	now, after := s.Now(), s.Reminders.orUsual()
	overrides, err := s.Store.Overrides(ctx, now)
	if err != nil {
		return nil, err
	}
	violations, err := s.Store.Violations(ctx, true, mostOverdue)
	if err != nil {
		return nil, err
	}
	drifts, err := s.Store.Drifts(ctx, 0, true, mostOverdue)
	if err != nil {
		return nil, err
	}
	var all []Overdue
	add := func(since time.Time, after, every time.Duration, say func(occasion string) Notification) {
		if late := now.Sub(since) - after; late >= 0 {
			times := int(late/every) + 1
			all = append(all, Overdue{Notification: say(fmt.Sprintf("%s reminder %d", since.UTC().Format(time.RFC3339Nano), times)), Since: since, Times: times})
		}
	}
	for _, o := range overrides {
		if o.ReviewedBy == "" {
			add(o.DueAt, after.Override, after.Every, o.unreviewed)
		}
	}
	for _, v := range violations {
		add(v.FoundAt, after.Violation, after.Every, v.unclosed)
	}
	for _, d := range oldestOfTargets(drifts) {
		add(d.FirstSeen, after.Drift, after.Every, d.unmended)
	}
	slices.SortStableFunc(all, func(a, b Overdue) int { return a.Since.Compare(b.Since) })
	return all, nil
}

// Remind tells of what is overdue, each as often as it is due. What was due while no server ran is told of once.
func (s *Service) Remind(ctx context.Context) error {
	all, err := s.Overdue(ctx)
	if err != nil {
		return fmt.Errorf("find what is overdue: %w", err)
	}
	for _, o := range all {
		if err := s.Store.Tx(ctx, func(tx Tx) error { return s.notify(ctx, tx, o.Notification) }); err != nil {
			return err
		}
	}
	return nil
}

func (o Override) unreviewed(occasion string) Notification {
	return o.notification(NotifyOverrideReview, occasion, fmt.Sprintf("the override %d by %s of %s in %s is to be reviewed by somebody else since %s: %s",
		o.ID, o.GivenBy, o.Target.Application, o.Target.Environment, clock(o.DueAt), o.Reason))
}

func (v Violation) unclosed(occasion string) Notification {
	return v.notification(occasion, fmt.Sprintf("the violation %d of %s in %s is to be reviewed since %s: %s",
		v.ID, v.Target.Application, v.Target.Environment, clock(v.FoundAt), v.Message))
}

func (d Drift) unmended(occasion string) Notification {
	t := d.Target
	return Notification{Kind: NotifyDrift, Object: fmt.Sprintf("drift/%s/%s", t.Application, t.Environment), Occasion: occasion, Application: t.Application,
		Environment: t.Environment, Message: fmt.Sprintf("%s in %s is not as Git says since %s: %s %s (%s)", t.Application, t.Environment,
			clock(d.FirstSeen), d.Object, d.Path, d.Class), Page: fmt.Sprintf("/applications/%s/%s", url.PathEscape(t.Application), url.PathEscape(t.Environment))}
}

// oldestOfTargets is the oldest drift that counts of each target.
func oldestOfTargets(all []Drift) []Drift {
	var oldest []Drift
	for _, d := range all {
		i := slices.IndexFunc(oldest, func(o Drift) bool { return o.Target.ID == d.Target.ID })
		switch {
		case !d.Counts():
		case i < 0:
			oldest = append(oldest, d)
		case d.FirstSeen.Before(oldest[i].FirstSeen):
			oldest[i] = d
		}
	}
	return oldest
}
