package promotion

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Notification is something that people must know of without looking. It holds no secret: what it says stands on pages too.
type Notification struct {
	Kind                     NotificationKind
	Object                   string // violation/…, override/…, promotion/…, drift/…, repository/…
	Occasion                 string // each of an object is told once
	At                       time.Time
	Application, Environment string
	PromotionID              int64
	Actor                    string // who did it, empty when it was nobody
	Message                  string
	Page                     string // path of the page that shows it
}

// NotificationKind says what a notification is about.
type NotificationKind string

// The kinds of notifications. Reminders have the kind of what they remind of.
const (
	NotifyViolation       NotificationKind = "violation"
	NotifyOverride        NotificationKind = "override"            // gates were opened
	NotifyOverrideReview  NotificationKind = "override-unreviewed" // used or expired, and nobody has reviewed it
	NotifyPromotionFailed NotificationKind = "promotion-failed"
	NotifyRollbackFailed  NotificationKind = "rollback-failed"
	NotifyPromotionNeeds  NotificationKind = "promotion-needs-somebody"
	NotifyDrift           NotificationKind = "drift"
	NotifyPolicy          NotificationKind = "policy-broken"
)

// NotificationKinds lists all kinds.
func NotificationKinds() []NotificationKind {
	return []NotificationKind{NotifyViolation, NotifyOverride, NotifyOverrideReview, NotifyPromotionFailed, NotifyRollbackFailed,
		NotifyPromotionNeeds, NotifyDrift, NotifyPolicy}
}

// Destination is somewhere that notifications go to.
type Destination struct {
	Name      string
	Kinds     []NotificationKind // none: all
	Messenger Messenger
}

func (d Destination) wants(k NotificationKind) bool {
	return len(d.Kinds) == 0 || slices.Contains(d.Kinds, k)
}

// Messenger brings messages to one destination. Its errors name neither address nor secret.
type Messenger interface {
	Send(ctx context.Context, m Message) error
}

// Message is what a destination gets. The same delivery may arrive more than once, with the same id.
type Message struct {
	Notification
	Delivery string // id
	URL      string // of the page
}

// notify stores what people are to be told, and has it delivered once the transaction is.
func (s *Service) notify(ctx context.Context, tx Tx, n Notification) error {
	n.At = s.Now()
	var to []string
	for _, d := range s.Destinations {
		if d.wants(n.Kind) {
			to = append(to, d.Name)
		}
	}
	deliveries, err := tx.InsertNotification(ctx, n, to)
	if err != nil {
		return fmt.Errorf("store the notification %s of %s: %w", n.Kind, n.Object, err)
	}
	for _, id := range deliveries {
		if err := tx.Enqueue(ctx, Work{Kind: WorkDeliver, Delivery: id}); err != nil {
			return err
		}
	}
	return nil
}

func (v Violation) notification(occasion, message string) Notification {
	return Notification{Kind: NotifyViolation, Object: fmt.Sprintf("violation/%s/%s/%s/%s", v.Target.Application, v.Target.Environment, v.Kind, v.Subject),
		Occasion: occasion, Application: v.Target.Application, Environment: v.Target.Environment, PromotionID: v.PromotionID,
		Actor: v.Actor, Message: message, Page: "/violations"}
}

func (o Override) notification(kind NotificationKind, occasion, message string) Notification {
	return Notification{Kind: kind, Object: fmt.Sprintf("override/%d", o.ID), Occasion: occasion, Application: o.Target.Application,
		Environment: o.Target.Environment, Actor: o.GivenBy, Message: message, Page: "/violations"}
}

func (p *Promotion) notification(kind NotificationKind, occasion, message string) Notification {
	return Notification{Kind: kind, Object: fmt.Sprintf("promotion/%d", p.ID), Occasion: occasion, Application: p.Target.Application,
		Environment: p.Target.Environment, PromotionID: p.ID, Actor: p.RequestedBy,
		Message: fmt.Sprintf("%s to %s: %s", p.Target.Application, p.Target.Environment, message), Page: fmt.Sprintf("/promotions/%d", p.ID)}
}

// failed says that the promotion failed: each time that it does so anew.
func (p *Promotion) failed(now time.Time) Notification {
	kind, what := NotifyPromotionFailed, "the promotion"
	if p.Kind == KindRollback {
		kind, what = NotifyRollbackFailed, "the rollback"
	}
	return p.notification(kind, now.UTC().Format(time.RFC3339Nano), fmt.Sprintf("%s has failed. %s", what, p.Failure))
}
