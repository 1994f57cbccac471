package web_test

import (
	"encoding/json"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// knownGood are facts of which nothing speaks against going back.
const knownGood = `{"artifact": {"image_manifest": "present", "missing_layers": 0, "image_platforms": ["linux/amd64"], "needed_platforms": ["linux/amd64"], "chart": "not-used"},
"config": {"old_manifests": "recorded", "refs": [], "apis": [{"api": "apps/v1/Deployment", "served": "yes"}]},
"data": {"migration_list": "complete", "schema_state": "clean", "rollback_runs_down": false, "migrations": [], "new_data": "none"},
"traffic": {"strategy": "RollingUpdate", "old_stack": "not-used", "selector_unchanged": "yes", "service_selects_old": "yes", "readiness_probe": "yes",
 "replicas": 3, "max_unavailable": 1, "surge_room": "yes", "switch_evicts_pods": false, "pdb_disruptions_allowed": 1},
"dependency": {"external_secrets": [], "sealed_secrets": [], "messages": "compatible", "cache": "not-used", "external_effects": "none"}, "acceptances": []}`

// factsOfRollback are the known good ones but for what is spoilt.
func factsOfRollback(spoil func(*rollback.Facts)) rollback.Facts {
	var f rollback.Facts
	if err := json.Unmarshal([]byte(knownGood), &f); err != nil {
		panic(err)
	}
	spoil(&f)
	return f
}

// sampleRollback: 1.1.0 lacks a key in today's configuration but not in its own; 1.0.0 is barred by a migration, and the registry was away.
func sampleRollback() promotion.RollbackCheck {
	releases := sampleReleases()
	check := promotion.RollbackCheck{Target: target(3, "checkout", "prod-eu", 50), Current: releases[0], At: before(2)}
	verdict := func(id int64, candidate promotion.Release, way promotion.Way, commit string, spoil func(*rollback.Facts)) promotion.RollbackVerdict {
		f := factsOfRollback(spoil)
		return promotion.RollbackVerdict{ID: id, Target: check.Target, Current: check.Current, Candidate: candidate, Way: way, Commit: commit, Facts: f,
			Verdict: rollback.Evaluate(f), EvaluatedAt: before(90), ConfirmedAt: before(2)}
	}
	keyGone := func(f *rollback.Facts) {
		f.Config.Refs = []rollback.Ref{{Kind: "ConfigMap", Name: "checkout", Key: "REGION", State: "key-absent"}}
		f.Unchecked = []string{rollback.DependencyRecoverable}
	}
	own := func(f *rollback.Facts) { f.Unchecked = []string{rollback.DependencyRecoverable} }
	barred := func(f *rollback.Facts) {
		f.Modes = map[string]rollback.Mode{rollback.TrafficSwitchable: rollback.ModeOff, rollback.ArtifactAvailable: rollback.ModeReport}
		f.Artifact = rollback.Artifact{Chart: "not-used"}
		f.Data.Migrations = []rollback.Migration{{ID: "0046_drop_<name>", Verdict: rollback.Breaking, Reversible: rollback.No}}
	}
	images, withConfig := verdict(31, releases[1], promotion.ImagesOnly, mergeSHA, keyGone), verdict(32, releases[1], promotion.ImagesAndConfig, mergeSHA, own)
	images.Notes = []string{"no tag holds the digest of checkout: the registry may delete it"}
	withConfig.Notes = images.Notes
	gone, goneToo := verdict(33, releases[2], promotion.ImagesOnly, "", barred), verdict(34, releases[2], promotion.ImagesAndConfig, "", barred)
	gone.Unread = []string{"registry.example.com: connection refused"}
	goneToo.Unread = gone.Unread
	undo := verdict(35, releases[1], promotion.Revert, mergeSHA, own)
	check.Candidates = []promotion.RollbackCandidate{{Release: releases[1], Images: images, WithConfig: withConfig, Undo: promotion.Undoing{Promotion: 12, Verdict: undo}},
		{Release: releases[2], Images: gone, WithConfig: goneToo, Undo: promotion.Undoing{Promotion: 10,
			Problem: "promotion 10 cannot be reverted: apps/checkout/overlays/prod-eu/kustomization.yaml:8 was changed since"}}}
	return check
}

// The unknowns of the way back that a gate names, as the database gives them.
const (
	unreadMigration = "migration-unknown:0046_name_optional"
	unreadMessages  = "messages-unattested"
)

func unknownWayBack() promotion.GateResult {
	return promotion.GateResult{Gate: promotion.GateRollbackSafe, Phase: promotion.PhaseMerge, Mode: promotion.Enforce, Verdict: promotion.Block,
		Reason: "Coming back from this to 1.1.0 is unknown.", Inputs: map[string]any{"current": 3.0, "candidate": 2.0, "unknowns": []any{unreadMigration, unreadMessages}}, EvaluatedAt: before(10)}
}

func sampleAttestations() []promotion.Attestation {
	return []promotion.Attestation{
		{ID: 4, From: 3, FromVersion: "1.2.0", To: 2, ToVersion: "1.1.0", Subject: promotion.SubjectMessages, Verdict: promotion.AttestedCompatible,
			Reason: "the <queue> is empty", By: "ada", At: before(600), ExpiresAt: noon.Add(24 * time.Hour)},
		{ID: 3, From: 3, FromVersion: "1.2.0", To: 2, ToVersion: "1.1.0", Subject: promotion.SubjectSideEffects, Verdict: promotion.AttestedCompatible,
			Reason: "no payout", By: "amir", At: before(90000), ExpiresAt: before(3600)},
		{ID: 2, BuildID: 7, From: 3, FromVersion: "1.2.0", Subject: promotion.SubjectCaches, Verdict: promotion.AttestedCompatible, Since: "1.1.0", By: "ci", At: before(90)},
		{ID: 1, BuildID: 7, From: 3, FromVersion: "1.2.0", Subject: promotion.SubjectData, Verdict: promotion.AttestedIncompatible, Reason: "prices are texts", By: "ci", At: before(90)},
	}
}

func sampleAcceptances() []promotion.Acceptance {
	return []promotion.Acceptance{
		{ID: 1, PromotionID: 12, Unknown: unreadMigration, RequestedBy: "rita", AcceptedBy: "ada", Reason: "the column is <optional> by now", AcceptedAt: before(90000), ExpiresAt: before(3600)},
		{ID: 2, PromotionID: 12, Unknown: unreadMessages, RequestedBy: "rita", AcceptedBy: "ada", Reason: "the queue is empty on Sundays", AcceptedAt: before(600), ExpiresAt: noon.Add(24 * time.Hour)},
	}
}
