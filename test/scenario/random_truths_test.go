package scenario_test

import (
	"regexp"
	"strings"
)

var replicaCount = regexp.MustCompile(`count: \d+`)

// merged are the promotions of prod that are on main.
const merged = `WITH merged AS (SELECT p.* FROM promotions p JOIN targets t ON t.id = p.target_id JOIN applications a ON a.id = t.application_id
	WHERE a.name = 'web' AND t.environment = 'prod' AND p.merged_at IS NOT NULL) `

// opened tells in SQL whether glass is broken for a gate of a promotion at a moment.
func opened(gate, moment string) string {
	return "EXISTS (SELECT FROM overrides o WHERE o.target_id = p.target_id AND '" + gate + "' = ANY (o.gates) AND o.given_at <= " + moment + " AND o.expires_at > " + moment + ")"
}

// absent tells in SQL whether somebody held no role at a moment.
func absent(actor, moment string) string {
	return "EXISTS (SELECT FROM scenario.absences x WHERE x.name = " + actor + " AND x.since <= " + moment + " AND (x.until IS NULL OR x.until > " + moment + "))"
}

// syncedAround tells in SQL that what was synced was synced around Sluice, after a retry too, and that a violation says so.
const syncedAround = "EXISTS (SELECT FROM violations v WHERE v.target_id = p.target_id AND v.kind = 'synced' AND v.subject = p.merge_sha)"

// Every query lists what must not be. $1 are the commits that people made on main.
var always = map[string]string{
	"merged by Sluice past a gate that held": merged + `SELECT p.id || ' ' || g.gate || ': ' || g.reason FROM merged p JOIN gate_results g ON g.promotion_id = p.id
		WHERE p.merge_sha <> ALL ($1) AND g.phase IN ('open', 'merge') AND g.mode = 'enforce' AND g.verdict <> 'pass' AND g.override_id IS NULL
		AND g.evaluated_at <= p.merged_at AND (g.replaced_at IS NULL OR g.replaced_at > p.merged_at)`,
	"merged by Sluice outside the window": merged + `SELECT p.id || ' at ' || p.merged_at FROM merged p WHERE p.merge_sha <> ALL ($1)
		AND extract(minute FROM p.merged_at) >= 40 AND NOT ` + opened("sync-window", "p.merged_at"),
	"merged by Sluice in a freeze": merged + `SELECT p.id || ' at ' || p.merged_at FROM merged p JOIN freezes f ON f.starts_at <= p.merged_at AND f.created_at <= p.merged_at
		AND f.ends_at > p.merged_at AND (f.ended_at IS NULL OR f.ended_at > p.merged_at) WHERE p.merge_sha <> ALL ($1) AND NOT ` + opened("sync-window", "p.merged_at"),
	"merged by Sluice without another person's approval of the same content": merged + `SELECT p.id::text FROM merged p WHERE p.merge_sha <> ALL ($1)
		AND NOT EXISTS (SELECT FROM approvals a WHERE a.promotion_id = p.id AND a.decision = 'approve' AND a.actor <> p.requested_by
			AND a.rendered_hash = p.rendered_hash AND a.decided_at <= p.merged_at AND NOT ` + absent("a.actor", "p.merged_at") + `) AND NOT ` + opened("approvals", "p.merged_at"),
	"merged by Sluice after a rejection": merged + `SELECT p.id::text FROM merged p JOIN approvals a ON a.promotion_id = p.id AND a.decision = 'reject'
		AND a.decided_at <= p.merged_at WHERE p.merge_sha <> ALL ($1)`,
	"merged by a person past a gate, and no violation": merged + `SELECT p.id || ' ' || g.gate || ': ' || g.reason FROM merged p JOIN gate_results g ON g.promotion_id = p.id
		WHERE p.merge_sha = ANY ($1) AND g.phase IN ('open', 'merge') AND g.mode = 'enforce' AND g.verdict <> 'pass' AND g.override_id IS NULL
		AND g.evaluated_at <= p.merged_at AND (g.replaced_at IS NULL OR g.replaced_at > p.merged_at)
		AND NOT EXISTS (SELECT FROM violations v WHERE v.target_id = p.target_id AND v.subject = p.merge_sha AND v.kind = 'merged')`,
	"synced by Sluice past a gate that held": merged + `SELECT p.id || ' ' || g.gate || ': ' || g.reason FROM merged p JOIN gate_results g ON g.promotion_id = p.id
		WHERE p.id = ANY ($2) AND NOT (` + syncedAround + `) AND g.phase = 'sync' AND g.mode = 'enforce' AND g.verdict <> 'pass' AND g.override_id IS NULL
		AND g.evaluated_at <= p.sync_started_at AND (g.replaced_at IS NULL OR g.replaced_at > p.sync_started_at)`,
	"synced by Sluice without another person's approval": merged + `SELECT p.id::text FROM merged p WHERE p.id = ANY ($2) AND NOT (` + syncedAround + `) AND p.sync_started_at IS NOT NULL
		AND NOT EXISTS (SELECT FROM approvals a WHERE a.promotion_id = p.id AND a.decision = 'approve' AND a.actor <> p.requested_by
			AND a.rendered_hash = p.rendered_hash AND a.decided_at <= p.sync_started_at AND NOT ` + absent("a.actor", "p.sync_started_at") + `) AND NOT ` + opened("approvals", "p.sync_started_at"),
	"synced by Sluice outside the window": merged + `SELECT p.id || ' at ' || p.sync_started_at FROM merged p WHERE p.id = ANY ($2) AND NOT (` + syncedAround + `)
		AND extract(minute FROM p.sync_started_at) >= 40 AND NOT ` + opened("sync-window", "p.sync_started_at"),
	"more than one open promotion of a target": `SELECT target_id || ': ' || string_agg(id::text, ', ') FROM promotions
		WHERE kind <> 'change' AND decision = 'requested' AND pull_request <> 'merged' GROUP BY target_id HAVING count(*) > 1`,
	"an approval by the requester that counted": `SELECT p.id::text FROM gate_results g JOIN promotions p ON p.id = g.promotion_id
		WHERE g.gate = 'approvals' AND g.inputs -> 'by' ? p.requested_by`,
}

// holdsTrue holds what is always true against the database.
func (w *walker) holdsTrue() {
	w.Helper()
	syncs := []int64{}
	for _, s := range w.cluster.syncs {
		syncs = append(syncs, s.PromotionID)
	}
	byHand := append([]string{}, w.byHand...)
	for what, query := range always {
		// Every query takes both arguments, whether it needs them or not.
		query = "WITH given AS (SELECT $1::text[] AS hands, $2::bigint[] AS syncs) SELECT * FROM (" + query + ") found, given"
		if found := w.texts(strings.Replace(query, "SELECT * FROM", "SELECT found.* FROM", 1), byHand, syncs); len(found) > 0 {
			w.Errorf("%s: %s", what, strings.Join(found, "; "))
		}
	}
	if w.Failed() {
		w.FailNow()
	}
}

// leavesNothingOpen holds what is true when everything has come to rest.
func (w *walker) leavesNothingOpen() {
	w.Helper()
	for what, query := range map[string]string{
		"on main without a promotion or a violation": `SELECT r.commit || ' by ' || r.author FROM target_revisions r JOIN targets t ON t.id = r.target_id
			JOIN applications a ON a.id = t.application_id WHERE a.name = 'web' AND t.environment = 'prod' AND NOT r.imported AND r.promotion_id IS NULL
			AND NOT EXISTS (SELECT FROM violations v WHERE v.target_id = r.target_id AND v.subject = r.commit)`,
		"finished without having been cleaned up": `SELECT id::text FROM promotions WHERE state IN ('verified', 'superseded', 'rejected', 'cancelled', 'rolled back')
			AND kind <> 'change' AND NOT cleaned_up`,
	} {
		if found := w.texts(query); len(found) > 0 {
			w.Errorf("%s: %s", what, strings.Join(found, "; "))
		}
	}
	w.clone().Git("fetch", "--quiet", "--prune", "origin")
	for _, branch := range w.texts("SELECT branch FROM promotions WHERE branch <> '' AND kind <> 'change' AND state NOT IN ('requested', 'open')") {
		if w.clone().Remote(branch) != "" {
			w.Errorf("branch %s is left", branch)
		}
	}
}
