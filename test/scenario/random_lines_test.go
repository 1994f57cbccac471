package scenario_test

import (
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// The moves of hotfixes, of what they leave owed, and of a policy that queues.

// hotfix posts a release on a line of its own, which goes past staging, or goes on with one that is under way.
func (w *walker) hotfix() string {
	if id := w.one("p.hotfix AND p.decision = 'requested' AND p.pull_request = 'open'"); id != 0 && w.random.IntN(2) == 0 {
		return w.mergeNow(id)
	}
	r := w.onLine(fmt.Sprintf("1.0.%d", w.next()), pick(w, []string{"1.0", "1.0", "0.9"}))
	_, err := w.asksHotfix(r, "prod", pick(w, []string{"orders are lost", "orders are lost", ""}))
	return w.outcome(r.Version, err)
}

// anOwed is a release that staging is owed.
func (w *walker) anOwed() promotion.Owed {
	owed, err := w.service.Store.Owed(w.Context(), w.target("web", "staging").ID)
	w.must(err)
	return pick(w, owed)
}

// pay brings to staging what it is owed; sometimes it does not get well there.
func (w *walker) pay() string {
	owed := w.anOwed()
	if owed.Release.ID == 0 {
		return "nothing is owed"
	}
	return w.toStaging(owed.Release, w.random.IntN(4) > 0)
}

// waive says that staging need not get what it is owed; not everybody may.
func (w *walker) waive() string {
	owed, by := w.anOwed(), pick(w, []promotion.Actor{rita, rita, ci, vera})
	err := w.service.Waive(w.Context(), by, promotion.WaiveRequest{Application: "web", Environment: "staging", Release: fmt.Sprint(owed.Release.ID), Reason: "staging is past it"})
	return w.outcome(fmt.Sprint(owed.Release.Version, " by ", by.Name), err)
}

// promoteAll asks for everything that may go to prod, oldest first: where the policy queues they line up.
func (w *walker) promoteAll() string {
	var asked []string
	for _, id := range w.texts(`SELECT p.release_id::text FROM promotions p JOIN targets t ON t.id = p.target_id
		WHERE t.environment = 'staging' AND p.verified_at IS NOT NULL ORDER BY p.id DESC LIMIT 3`) {
		asked = append([]string{id}, asked...)
	}
	for i, id := range asked {
		_, err := w.service.Promote(w.Context(), rita, promotion.PromoteRequest{Application: "web", Environment: "prod", Release: id, Reason: "as planned"})
		asked[i] = w.outcome(id, err)
	}
	return fmt.Sprint(asked)
}

// policyOf asks prod for some approvals, and has what is newer take the place of what is open, or queue behind it.
func policyOf(approvals int, newer string, n int) string {
	return fmt.Sprintf("version: 1\n# %d\nenvironments:\n  prod: {approvals: {count: %d}, when_newer: %s}\n", n, approvals, newer)
}

func (w *walker) changePolicy() string {
	count, newer := 1+w.random.IntN(2), pick(w, []string{"supersede", "queue"})
	w.byHand = append(w.byHand, w.clone().Push("main", "sluice.yaml", policyOf(count, newer, w.next())))
	return fmt.Sprint(count, " approvals, ", newer)
}

// goesWell takes one promotion to prod on a day on which nothing comes between: the walk seldom gets as far by itself.
func (w *walker) goesWell() string {
	ctx := w.Context()
	_ = w.service.Resume(ctx, rita, promotion.HoldRequest{Application: "web", Environment: "prod", Reason: "go on"})
	for _, id := range w.texts("SELECT id::text FROM freezes WHERE ended_at IS NULL") {
		var freeze int64
		_, _ = fmt.Sscan(id, &freeze)
		w.outcome(id, w.service.Thaw(ctx, rita, freeze))
	}
	if now := w.clock.now(); now.Minute() >= openMinutes {
		w.pass(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
	}
	said := w.mergeProperly()
	w.lookAtEverything()
	w.clusterApplies()
	w.pass(soak)
	return said
}
