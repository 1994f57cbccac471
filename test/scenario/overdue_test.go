package scenario_test

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// reminds is the periodic look for what is overdue.
func (w *world) reminds() {
	w.Helper()
	w.must(w.service.Remind(w.Context()))
	w.settle()
}

func (w *world) overdue() []promotion.Overdue {
	w.Helper()
	all, err := w.service.Overdue(w.Context())
	w.must(err)
	return all
}

func TestAnOverrideIsNaggedForUntilSomebodyElseReviewsIt(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyOverrideReview)
	w.service.Reminders = promotion.Reminders{Override: 2 * time.Hour}
	o := w.breaksGlass()
	w.settle()
	after := func(d time.Duration, want int) {
		t.Helper()
		w.clock.pass(d)
		w.reminds()
		w.reminds()
		same(w, "reminders", len(chat.got), want)
	}
	after(time.Hour+time.Second, 0) // it has expired
	after(2*time.Hour-time.Minute, 0)
	after(time.Minute, 1)
	w.contains("the reminder", chat.got[0].Message, "by gil", "web in prod", "reviewed by somebody else", "prod is down")
	after(23*time.Hour, 1)
	after(time.Hour, 2)
	after(24*time.Hour, 3)
	after(5*24*time.Hour, 4) // nobody is told of the days on which no server ran
	same(w, "overdue", len(w.overdue()), 1)
	same(w, "times", w.overdue()[0].Times, 8)
	w.refused(w.service.ReviewOverride(w.Context(), gil, o.ID, "it was right"), "own-override")
	after(24*time.Hour, 5)
	w.must(w.service.ReviewOverride(w.Context(), ada, o.ID, "it was right"))
	after(24*time.Hour, 5)
	same(w, "overdue after the review", len(w.overdue()), 0)
}

func TestAnOverrideThatWasUsedIsToBeReviewedFromThenOn(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyOverrideReview)
	w.service.Reminders = promotion.Reminders{Override: 10 * time.Minute}
	id := w.atProd("1.1.0")
	w.breaksGlass()
	w.settle()
	w.clock.pass(20 * time.Minute) // in force, and not used
	w.reminds()
	same(w, "reminders before it is used", len(chat.got), 0)
	w.merges(rita, id)
	w.clock.pass(9 * time.Minute)
	w.reminds()
	same(w, "reminders soon after", len(chat.got), 0)
	w.clock.pass(2 * time.Minute) // it would be in force for half an hour yet
	w.reminds()
	same(w, "reminders", len(chat.got), 1)
}

func TestAViolationIsNaggedForUntilItIsClosed(t *testing.T) {
	w := newWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyViolation)
	w.edits(overlay("web", "prod"), "count: 4", "count: 40")
	w.look()
	w.clock.pass(time.Minute)
	w.look()
	w.settle()
	same(w, "told", len(chat.got), 1)
	w.clock.pass(23 * time.Hour)
	w.reminds()
	same(w, "told within the day", len(chat.got), 1)
	w.clock.pass(time.Hour)
	w.reminds()
	same(w, "told after a day", len(chat.got), 2)
	w.contains("the reminder", chat.got[1].Message, "to be reviewed since")
	all, err := w.service.Store.Violations(w.Context(), true, 10)
	w.must(err)
	w.must(w.service.CloseViolation(w.Context(), rita, all[0].ID, "a hotfix by hand"))
	w.clock.pass(48 * time.Hour)
	w.reminds()
	same(w, "told after it was closed", len(chat.got), 2)
}

func TestDriftThatStaysIsToldAndAnewWhenItComesBack(t *testing.T) {
	w := newProdWorld(t)
	chat := w.newReceiver()
	w.tells("chat", chat, promotion.NotifyDrift)
	w.verifies(w.mergedInProd("1.1.0").ID)
	cluster := w.inspected()
	excused := promotion.Drift{Object: "Deployment.apps shop/web", Path: "spec.paused", Have: "true", Class: promotion.DriftHuman, Excuse: "ignoreDifferences"}
	drifts := func(found ...promotion.Drift) {
		cluster.found = promotion.Inspection{Differences: found}
		w.compares("prod")
	}
	drifts(excused)
	w.clock.pass(2 * time.Hour)
	w.reminds()
	same(w, "told of what is excused", len(chat.got), 0)
	drifts(excused, scaled("5"))
	w.clock.pass(50 * time.Minute)
	drifts(excused, scaled("6"))
	w.reminds()
	same(w, "told of what is new", len(chat.got), 0)
	w.clock.pass(10 * time.Minute)
	w.reminds()
	same(w, "told after an hour", len(chat.got), 1)
	w.contains("the message", chat.got[0].Message, "web in prod", "spec.replicas", "human")
	drifts()
	w.clock.pass(25 * time.Hour)
	w.reminds()
	same(w, "told of what is mended", len(chat.got), 1)
	drifts(scaled("5"))
	w.clock.pass(time.Hour)
	w.reminds()
	same(w, "told of what came back", len(chat.got), 2)
}
