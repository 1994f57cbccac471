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

// judged are the gates that are asked before a merge, and before a sync.
const (
	judgedToMerge = "('policy'), ('immutable-reference'), ('artifact-available'), ('upstream-verified'), ('renders'), ('no-plaintext-secret'), ('content'), ('approvals'), ('evidence'), ('hold'), ('sync-window'), ('rollback-safe'), ('deletions'), ('branch-protected')"
	judgedToSync  = "('policy'), ('content'), ('approvals'), ('evidence'), ('hold'), ('sync-window'), ('project-window'), ('concurrency')"
)

// unjudged lists in SQL the gates that nobody had judged at a moment.
func unjudged(gates, phases, moment string) string {
	return `SELECT p.id || ' ' || asked.gate FROM merged p, (VALUES ` + gates + `) asked (gate) WHERE ` + moment + ` IS NOT NULL
		AND NOT EXISTS (SELECT FROM gate_results g WHERE g.promotion_id = p.id AND g.gate = asked.gate AND g.phase IN (` + phases + `)
			AND g.evaluated_at <= ` + moment + ` AND (g.replaced_at IS NULL OR g.replaced_at > ` + moment + `))`
}

// settled tells in SQL why staging is not owed a hotfix's release any more: from what people and Sluice said, not from the view.
const settled = `(EXISTS (SELECT FROM audit_events e WHERE e.action = 'release.waived' AND e.release_id = h.release_id AND e.environment = 'staging')
	OR EXISTS (SELECT FROM audit_events e JOIN promotions paid ON paid.id = e.promotion_id JOIN releases had ON had.id = paid.release_id
		WHERE e.action = 'promotion.verified' AND e.environment = 'staging' AND had.line = r.line AND had.number >= r.number
		AND NOT EXISTS (SELECT FROM audit_events back WHERE back.action = 'promotion.rolled-back' AND back.promotion_id = paid.id)))`

// hotfixes are those that are live in prod and were not taken back.
const hotfixes = `WITH h AS (SELECT p.*, s.id AS staging FROM promotions p JOIN targets t ON t.id = p.target_id
	JOIN targets s ON s.application_id = t.application_id AND s.environment = 'staging'
	WHERE t.environment = 'prod' AND p.hotfix AND p.live_at IS NOT NULL AND p.rolled_back_at IS NULL) `

// waiting tells in SQL whether a promotion is asked for and neither merged nor over.
func waiting(p string) string {
	return p + ".kind <> 'change' AND " + p + ".decision = 'requested' AND " + p + ".pull_request <> 'merged'"
}

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
	"more than one open promotion of a target that has its turn": `SELECT target_id || ': ' || string_agg(id::text, ', ') FROM promotions
		WHERE kind <> 'change' AND decision = 'requested' AND pull_request <> 'merged' AND behind IS NULL GROUP BY target_id HAVING count(*) > 1`,
	"merged by Sluice with a gate that nobody judged": merged + unjudged(judgedToMerge, "'open', 'merge'", "p.merged_at") + ` AND p.merge_sha <> ALL ($1)`,
	"synced by Sluice with a gate that nobody judged": merged + unjudged(judgedToSync, "'sync'", "p.sync_started_at") + ` AND p.id = ANY ($2) AND NOT (` + syncedAround + `)`,
	"merged by Sluice unverified in staging, and no hotfix": merged + `SELECT p.id::text FROM merged p WHERE p.merge_sha <> ALL ($1) AND p.kind = 'release' AND NOT p.hotfix
		AND NOT EXISTS (SELECT FROM promotions s JOIN targets t ON t.id = s.target_id WHERE t.environment = 'staging' AND s.release_id = p.release_id AND s.verified_at <= p.merged_at)`,
	"a hotfix merged by Sluice with fewer than two approvals": merged + `SELECT p.id::text FROM merged p WHERE p.merge_sha <> ALL ($1) AND p.hotfix
		AND (SELECT count(DISTINCT a.actor) FROM approvals a WHERE a.promotion_id = p.id AND a.decision = 'approve' AND a.actor <> p.requested_by
			AND a.rendered_hash = p.rendered_hash AND a.decided_at <= p.merged_at AND NOT ` + absent("a.actor", "p.merged_at") + `) < 2 AND NOT ` + opened("approvals", "p.merged_at"),
	"a hotfix without a reason, or of a line that staging has": `SELECT p.id::text FROM promotions p JOIN releases r ON r.id = p.release_id WHERE p.hotfix AND (p.reason = '' OR r.line = 'main')`,
	"skipped by a hotfix, and not owed": hotfixes + `SELECT r.version FROM h JOIN releases r ON r.id = h.release_id WHERE NOT ` + settled + `
		AND NOT EXISTS (SELECT FROM releases_owed o WHERE o.target_id = h.staging AND o.release_id = h.release_id)`,
	"owed, although it is settled or was never skipped": hotfixes + `SELECT o.version FROM releases_owed o
		WHERE NOT EXISTS (SELECT FROM h JOIN releases r ON r.id = h.release_id WHERE o.target_id = h.staging AND o.release_id = h.release_id AND NOT ` + settled + `)`,
	"the turn of one while another waits for longer": `SELECT p.id || ' before ' || older.id FROM promotions p JOIN promotions older ON older.target_id = p.target_id AND older.id < p.id
		WHERE p.behind IS NULL AND ` + waiting("p") + ` AND ` + waiting("older"),
	"merged while another waited for longer": `SELECT p.id || ' before ' || older.id FROM promotions p JOIN promotions older ON older.target_id = p.target_id AND older.id < p.id
		WHERE p.kind <> 'change' AND older.kind <> 'change' AND p.merged_at > older.requested_at
		AND (older.merged_at IS NULL OR older.merged_at > p.merged_at) AND (older.decided_at IS NULL OR older.decided_at > p.merged_at)`,
	"out before its turn": `SELECT id::text FROM promotions WHERE behind IS NOT NULL AND (pull_request <> 'none' OR head_sha <> '')`,
	"passed over in a queue": `SELECT p.id || ' by ' || p.superseded_by FROM promotions p JOIN promotions newer ON newer.id = p.superseded_by
		WHERE newer.kind = 'release' AND newer.behind IS NOT NULL`,
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
		"its turn has come, and it waits": `SELECT p.id || ' behind ' || p.behind FROM promotions p WHERE ` + waiting("p") + `
			AND p.behind IS DISTINCT FROM (SELECT max(before.id) FROM promotions before WHERE before.target_id = p.target_id AND before.id < p.id AND ` + waiting("before") + `)`,
		"its turn has come, and nothing is made of it": `SELECT p.id || ': ' || p.waits_for FROM promotions p WHERE ` + waiting("p") + ` AND p.behind IS NULL AND p.head_sha = ''
			AND NOT EXISTS (SELECT FROM gate_results g WHERE g.promotion_id = p.id AND g.phase = 'open' AND g.verdict <> 'pass' AND g.replaced_at IS NULL)`,
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
