package main

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/api"
)

var (
	laterTime = someTime.Add(time.Hour)
	heldGates = []api.Gate{
		{Name: "approvals", Verdict: api.GateVerdictWait, Mode: api.GateModeEnforce, Reason: "1 is missing", Override: 2},
		{Name: "sync-window", Verdict: api.GateVerdictWait, Mode: api.GateModeEnforce, Reason: "closed until Monday"},
	}
	planAnswer = api.Plan{Application: "web", Environment: "prod", Release: 3, ReleaseNumber: 2, Version: "1.4.2", At: someTime, Gates: heldGates,
		Held: true, Earliest: &laterTime, WaitsFor: "closed until Monday", Diff: "Deployment/web\n  image: a → \x1b[2Jb\n"}
	webFreeze = api.Freeze{ID: 4, Kind: api.FreezeKindFreeze, Reason: "the fair", Owner: "ops", Environments: []string{"prod-*"},
		StartsAt: someTime, EndsAt: laterTime, CreatedBy: "rita"}
	everyHold = api.Hold{ID: 5, Everything: true, Reason: "fire", HeldBy: "rita", HeldAt: someTime}
	webHold   = api.Hold{ID: 6, Application: "web", Environment: "prod", Reason: "load test", HeldBy: "ada", HeldAt: someTime}
	webPause  = api.SyncPause{ID: 4, Application: "web", Environment: "prod", Owner: "ada", PausedBy: "rita", ExpiresAt: laterTime, Overdue: true, Reason: "fire"}
	webDrift  = api.Drift{ID: 41, Application: "web", Environment: "prod", Object: "Deployment.apps web/web", Path: "spec.replicas", Want: "2", Have: "5",
		Class: api.DriftClassHuman, Owner: "kubectl scale", FirstSeenAt: someTime}
	webUnknown  = api.DriftLook{Application: "web", Environment: "prod", Problem: "the cluster is away", ProblemSince: someTime}
	webOverride = api.Override{ID: 2, Application: "web", Environment: "prod", Gates: []string{"sync-window", "approvals"}, Reason: "fire",
		GivenBy: "bo", ExpiresAt: laterTime}
)

const (
	planText = `plan         web 1.4.2 (number 2, id 3) to prod
judged at    2026-03-01 12:00:00Z
approvals    wait (override 2): 1 is missing
sync-window  wait: closed until Monday
earliest     2026-03-01 13:00:00Z
waits for    closed until Monday
Deployment/web
  image: a →  [2Jb
`
	freezeText = `ID  KIND    FROM                  UNTIL                 APPLICATIONS  ENVIRONMENTS  CLUSTERS  OWNER  CREATED BY  REASON
4   freeze  2026-03-01 12:00:00Z  2026-03-01 13:00:00Z  all           prod-*        all       ops    rita        the fair
`
	holdText = `ID  APPLICATION  ENVIRONMENT  HELD BY  SINCE                 REASON
5   everything   everywhere   rita     2026-03-01 12:00:00Z  fire
6   web          prod         ada      2026-03-01 12:00:00Z  load test
`
	attestationsText = `ID  SUBJECT   VERDICT       FROM   TO                 BY   AT                    EXPIRES               REASON
4   messages  compatible    1.4.2  1.4.1              ada  2026-03-01 12:00:00Z  2026-03-01 13:00:00Z  same schema
3   caches    incompatible  1.4.2  every earlier one  ci   2026-03-01 12:00:00Z  -                     keys are hashed
`
	pauseText = `ID  APPLICATION  ENVIRONMENT  OWNER  PAUSED BY  UNTIL                 OVERDUE  REASON
4   web          prod         ada    rita       2026-03-01 13:00:00Z  overdue  fire
`
	driftText = `ID  APPLICATION  ENVIRONMENT  OBJECT                   FIELD          GIT  CLUSTER  CLASS  BY             FIRST SEEN            RESOLVED  DOES NOT COUNT
41  web          prod         Deployment.apps web/web  spec.replicas  2    5        human  kubectl scale  2026-03-01 12:00:00Z  -         -
-   web          prod         unknown since 2026-03-01 12:00:00Z: the cluster is away
`
	overrideText = `ID  APPLICATION  ENVIRONMENT  GATES                   GIVEN BY  UNTIL                 REVIEWED BY  REASON  INCIDENT
2   web          prod         sync-window, approvals  bo        2026-03-01 13:00:00Z  -            fire    -
`
)

// attests is a sign-off, but for how long it counts.
var attests = []string{"--application", "web", "--from", "1.4.2", "--to", "1.4.1", "--subject", "messages", "--verdict", "compatible", "--reason", "same schema"}

// What each command sends and prints.
func TestGateCommands(t *testing.T) {
	t.Parallel()
	target := []string{"--application", "web", "--environment", "prod"}
	signed := api.Attestation{ID: 4, Subject: "messages", Verdict: "compatible", FromVersion: "1.4.2", ToVersion: "1.4.1", Reason: "same schema",
		AttestedBy: "ada", AttestedAt: someTime, ExpiresAt: laterTime}
	with := func(first []string, more ...string) []string { return append(append([]string{}, first...), more...) }
	tests := []struct {
		name   string
		cmd    *cobra.Command
		args   []string
		answer any
		sent   string // method, address and body
		out    string
		exit   int
		status int // of the answer; 200 when zero
	}{
		{"evidence", newEvidenceCommand(), []string{"post", "--application", "web", "--release", "1.4.2", "--environment", "staging",
			"--name", "integration-tests", "--verdict", "pass", "--source", "jenkins", "--url", "https://ci.test/88", "--summary", "212 passed",
			"--expires", "2026-03-01T13:00:00Z"},
			api.Evidence{ID: 8, Release: 3, Environment: "staging", Name: "integration-tests", Verdict: api.EvidenceVerdictPass, Source: "jenkins", ExpiresAt: laterTime},
			`POST /api/v1/evidence {"application":"web","environment":"staging","expires_at":"2026-03-01T13:00:00Z","name":"integration-tests",` +
				`"release":"1.4.2","source":"jenkins","summary":"212 passed","url":"https://ci.test/88","verdict":"pass"}`,
			"evidence 8   integration-tests: pass, by jenkins\nrelease      3\nenvironment  staging\nexpires      2026-03-01 13:00:00Z\n", 0, 201},
		{"evidence of an image", newEvidenceCommand(), []string{"post", "--digest", someDigest, "--name", "scan", "--verdict", "fail"},
			api.Evidence{ID: 9, Release: 3, Name: "scan", Verdict: api.EvidenceVerdictFail, Source: "ci"},
			`POST /api/v1/evidence {"digest":"` + someDigest + `","name":"scan","verdict":"fail"}`,
			"evidence 9  scan: fail, by ci\nrelease     3\n", 0, 201},
		{"attestation", newAttestCommand(), with(attests, "--expires", "2026-03-01T13:00:00Z"), signed,
			`POST /api/v1/attestations {"application":"web","expires_at":"2026-03-01T13:00:00Z","from":"1.4.2","reason":"same schema",` +
				`"subject":"messages","to":"1.4.1","verdict":"compatible"}`,
			"attestation 4  messages: compatible, by ada\nfrom           1.4.2\nto             1.4.1\nexpires        2026-03-01 13:00:00Z\n", 0, 201},
		{"attestations", newAttestCommand(), []string{"list", "--application", "web"},
			api.AttestationList{Items: []api.Attestation{signed, {ID: 3, Build: 7, Subject: "caches", Verdict: "incompatible", FromVersion: "1.4.2",
				Reason: "keys are hashed", AttestedBy: "ci", AttestedAt: someTime}}},
			"GET /api/v1/attestations?application=web ", attestationsText, 0, 0},
		{"plan that is held", newPlanCommand(), with(target, "--release", "1.4.2", "--at", "2026-03-01T12:00:00Z"), planAnswer,
			`POST /api/v1/promotions:plan {"application":"web","at":"2026-03-01T12:00:00Z","environment":"prod","release":"1.4.2"}`, planText, 3, 0},
		{"plan that is not", newPlanCommand(), with(target, "--release", "3"),
			api.Plan{Application: "web", Environment: "prod", Release: 3, ReleaseNumber: 2, Version: "1.4.2", At: someTime},
			`POST /api/v1/promotions:plan {"application":"web","environment":"prod","release":"3"}`,
			"plan       web 1.4.2 (number 2, id 3) to prod\njudged at  2026-03-01 12:00:00Z\nearliest   never: no sync window opens\n", 0, 0},
		{"commits to restore", newRestoreCommand(), with(target, "--list"), api.RevisionList{Items: []api.Revision{
			{Commit: someCommit, Author: "Rita <rita@sluice.test>", Message: "web 1.4.2\n\nSluice-Promotion: 12\n", CommittedAt: someTime, Release: &someID},
			{Commit: someDigest[7:47], Message: "start", CommittedAt: someTime}}},
			`GET /api/v1/revisions?application=web&environment=prod `,
			`COMMIT                                    COMMITTED             AUTHOR                   RELEASE  PROMOTION  MESSAGE
` + someCommit + `  2026-03-01 12:00:00Z  Rita <rita@sluice.test>  3        -          web 1.4.2
` + someDigest[7:47] + `  2026-03-01 12:00:00Z  -                        -        -          start
`, 0, 0},
		{"plan of a restoration", newRestoreCommand(), with(target, "--commit", someCommit, "--plan", "--base", "--secrets", "--images-of-today"),
			api.RestorationPlan{Application: "web", Environment: "prod", Release: 3, ReleaseNumber: 2, Version: "1.4.2", Files: []string{"base/web.yaml"},
				Deletes: []string{"new.yaml"}, Added: []string{"ConfigMap/web/old"}, PlaintextSecrets: []string{"Secret/web/db"},
				Removed: []api.RemovedObject{{Object: "PersistentVolumeClaim/web/data", Stateful: true}, {Object: "Service/web/web"}},
				Notes:   []string{"today's keys stay"}, AlsoChanges: []api.Target{{Application: "web", Environment: "dev"}}, Diff: "replicas: 3 → 2\n"},
			`POST /api/v1/restorations:plan {"application":"web","base":true,"commit":"` + someCommit + `","environment":"prod","images_of_today":true,"secrets":true}`,
			`plan               web 1.4.2 (number 2, id 3) to prod
writes             base/web.yaml
removes            new.yaml
adds               ConfigMap/web/old
deletes            PersistentVolumeClaim/web/data, and data with it
deletes            Service/web/web
plain text secret  Secret/web/db
also changes       web in dev
note               today's keys stay
replicas: 3 → 2
`, 0, 0},
		{"plan of a rollback", newRollbackCommand(), with([]string{"start"}, append(target, "--to", "1.4.1", "--way", "images-and-config", "--base", "--secrets", "--plan")...),
			api.RestorationPlan{Application: "web", Environment: "prod", Release: 3, ReleaseNumber: 2, Version: "1.4.1", Diff: "image: b → a\n"},
			`POST /api/v1/rollbacks:plan {"application":"web","base":true,"environment":"prod","secrets":true,"to":"1.4.1","way":"images-and-config"}`,
			"plan  web 1.4.1 (number 2, id 3) to prod\nimage: b → a\n", 0, 0},
		{"rollback", newRollbackCommand(), with([]string{"start"}, append(target, "--to", "1.4.1", "--reason", "orders")...), promotionAnswer,
			`POST /api/v1/rollbacks {"application":"web","environment":"prod","reason":"orders","to":"1.4.1","way":"images"}`, promotionText, 0, 201},
		{"plan of an adoption", newDriftCommand(), with([]string{"adopt", "--plan"}, target...),
			api.AdoptionPlan{Cause: "1.4.1 runs, an earlier release", SelfHeal: true, Plan: api.RestorationPlan{Application: "web", Environment: "prod", Release: 3, ReleaseNumber: 2,
				Version: "1.4.1", Diff: "image: b → a\n"}},
			`POST /api/v1/adoptions:plan {"application":"web","environment":"prod"}`,
			"adopts   1.4.1 runs, an earlier release\nwarning  self-heal is on: Argo CD undoes it by itself, maybe before Git says it. See sluice sync-pause\n" +
				"plan     web 1.4.1 (number 2, id 3) to prod\nimage: b → a\n", 0, 0},
		{"adopt", newDriftCommand(), with([]string{"adopt", "--field", "41", "--field", "42", "--reason", "INC-77"}, target...), promotionAnswer,
			`POST /api/v1/adoptions {"application":"web","environment":"prod","fields":[41,42],"reason":"INC-77"}`, promotionText, 0, 201},
		{"restore", newRestoreCommand(), with(target, "--commit", someCommit, "--reason", "limits"), promotionAnswer,
			`POST /api/v1/restorations {"application":"web","commit":"` + someCommit + `","environment":"prod","reason":"limits"}`, promotionText, 0, 201},
		{"freeze", newFreezeCommand(), []string{"create", "--environment", "prod-*", "--from", "2026-03-01T12:00:00Z", "--until", "2026-03-01T13:00:00Z",
			"--reason", "the fair", "--owner", "ops"}, webFreeze,
			`POST /api/v1/freezes {"ends_at":"2026-03-01T13:00:00Z","environments":["prod-*"],"kind":"freeze","owner":"ops",` +
				`"reason":"the fair","starts_at":"2026-03-01T12:00:00Z"}`,
			freezeText, 0, 201},
		{"plan of a freeze", newFreezeCommand(), []string{"create", "--plan", "--application", "web,api", "--cluster", "eu", "--from", "2026-03-01T12:00:00Z",
			"--until", "2026-03-01T13:00:00Z", "--reason", "r", "--owner", "o"},
			api.TargetList{Items: []api.Target{{Application: "web", Environment: "prod", Path: "apps/web/overlays/prod"}}},
			`POST /api/v1/freezes:plan {"applications":["web","api"],"clusters":["eu"],"ends_at":"2026-03-01T13:00:00Z","kind":"freeze",` +
				`"owner":"o","reason":"r","starts_at":"2026-03-01T12:00:00Z"}`,
			"APPLICATION  ENVIRONMENT  PATH\nweb          prod         apps/web/overlays/prod\n", 0, 0},
		{"window", newWindowCommand(), []string{"open", "--from", "2026-03-01T12:00:00Z", "--until", "2026-03-01T13:00:00Z", "--reason", "r", "--owner", "o"},
			webFreeze, `POST /api/v1/freezes {"ends_at":"2026-03-01T13:00:00Z","kind":"window","owner":"o","reason":"r","starts_at":"2026-03-01T12:00:00Z"}`,
			freezeText, 0, 201},
		{"freezes", newFreezeCommand(), []string{"list"}, api.FreezeList{Items: []api.Freeze{webFreeze}}, "GET /api/v1/freezes ", freezeText, 0, 0},
		{"end of a freeze", newFreezeCommand(), []string{"end", "4"}, nil, "POST /api/v1/freezes/4/end ", "freeze or window 4 has ended\n", 0, 204},
		{"hold", newHoldCommand(), with(target, "--reason", "load test"), api.HoldList{Items: []api.Hold{everyHold, webHold}},
			`POST /api/v1/holds {"application":"web","environment":"prod","reason":"load test"}`, holdText, 0, 0},
		{"hold of everything", newHoldCommand(), []string{"--everything", "--reason", "fire"}, api.HoldList{Items: []api.Hold{everyHold, webHold}},
			`POST /api/v1/holds {"everything":true,"reason":"fire"}`, holdText, 0, 0},
		{"holds", newHoldCommand(), []string{"list"}, api.HoldList{Items: []api.Hold{everyHold, webHold}}, "GET /api/v1/holds ", holdText, 0, 0},
		{"owed", newOwedCommand(), []string{"list"}, api.OwedList{Items: []api.Owed{{Application: "web", Environment: "staging", Release: 3, ReleaseNumber: 2, Version: "1.0.1",
			Line: "1.0", Promotion: 12, LiveIn: "prod", Since: someTime}}}, "GET /api/v1/owed ",
			"APPLICATION  ENVIRONMENT  RELEASE  LINE  LIVE IN  SINCE\nweb          staging      1.0.1    1.0   prod     2026-03-01 12:00:00Z\n", 0, 0},
		{"waiver", newOwedCommand(), with([]string{"waive"}, append(target, "--release", "1.0.1", "--reason", "past it")...), nil,
			`POST /api/v1/owed:waive {"application":"web","environment":"prod","reason":"past it","release":"1.0.1"}`, "web in prod need not get 1.0.1\n", 0, 204},
		{"hotfix", newPromoteCommand(), with(target, "--release", "1.0.1", "--hotfix", "--reason", "orders"), promotionAnswer,
			`POST /api/v1/promotions {"application":"web","environment":"prod","hotfix":true,"reason":"orders","release":"1.0.1"}`, promotionText, 0, 201},
		{"resume", newResumeCommand(), target, api.HoldList{}, `POST /api/v1/holds:resume {"application":"web","environment":"prod"}`, "nothing is held\n", 0, 0},
		{"resume everything", newResumeCommand(), []string{"--everything"}, api.HoldList{Items: []api.Hold{everyHold, webHold}},
			`POST /api/v1/holds:resume {"everything":true}`, holdText, 0, 0},
		{"pause", newSyncPauseCommand(), with(target, "--owner", "ada", "--until", "2026-03-01T13:00:00Z", "--reason", "fire"), webPause,
			`POST /api/v1/sync-pauses {"application":"web","environment":"prod","expires_at":"2026-03-01T13:00:00Z","owner":"ada","reason":"fire"}`, pauseText, 0, 201},
		{"pauses", newSyncPauseCommand(), []string{"list"}, api.SyncPauseList{Items: []api.SyncPause{webPause}}, "GET /api/v1/sync-pauses ", pauseText, 0, 0},
		{"end of a pause", newSyncPauseCommand(), with([]string{"resume"}, target...), api.SyncPauseList{},
			`POST /api/v1/sync-pauses:resume {"application":"web","environment":"prod"}`, "nothing is paused\n", 0, 0},
		{"drift", newDriftCommand(), with([]string{"list"}, target...), api.DriftList{Items: []api.Drift{webDrift}, Looks: []api.DriftLook{webUnknown}},
			"GET /api/v1/drifts?application=web&environment=prod&limit=50&open=true ", driftText, 0, 0},
		{"override", newOverrideCommand(), with(target, "--gate", "sync-window,approvals", "--until", "2026-03-01T13:00:00Z", "--reason", "fire",
			"--incident", "https://i.test/1"), webOverride,
			`POST /api/v1/overrides {"application":"web","environment":"prod","expires_at":"2026-03-01T13:00:00Z",` +
				`"gates":["sync-window","approvals"],"incident":"https://i.test/1","reason":"fire"}`,
			overrideText, 0, 201},
		{"overrides", newOverrideCommand(), []string{"list"}, api.OverrideList{Items: []api.Override{webOverride}}, "GET /api/v1/overrides ", overrideText, 0, 0},
		{"review of an override", newOverrideCommand(), []string{"review", "2", "--review", "right"}, nil,
			`POST /api/v1/overrides/2/review {"review":"right"}`, "override 2 is reviewed\n", 0, 204},
		{"notifications", newNotificationsCommand(), []string{"list", "--undelivered", "--limit", "7"}, api.NotificationList{Items: []api.Notification{
			{Kind: "drift", At: someTime, Message: "web drifts", Deliveries: []api.Delivery{{ID: "d-1", Destination: "chat", Problem: "it answered 500"}}},
			{Kind: "violation", At: someTime, Message: "pushed"}}},
			"GET /api/v1/notifications?limit=7&undelivered=true ",
			`AT                    KIND       WHAT        DELIVERY  TO      ARRIVED  PROBLEM
2026-03-01 12:00:00Z  drift      web drifts  d-1       chat    -        it answered 500
2026-03-01 12:00:00Z  violation  pushed      -         nobody  -        -
`, 0, 0},
		{"retry of a notification", newNotificationsCommand(), []string{"retry", "d-1"}, nil, "POST /api/v1/deliveries/d-1/retry ", "delivery d-1 has arrived\n", 0, 204},
		{"violations", newViolationsCommand(), []string{"list", "--limit", "7"}, api.ViolationList{Items: []api.Violation{
			{ID: 1, Application: "web", Environment: "prod", Kind: api.ViolationKindMerged, Actor: "rita", FoundAt: someTime, Message: "merged while closed"}}},
			"GET /api/v1/violations?limit=7&open=true ",
			`ID  APPLICATION  ENVIRONMENT  KIND    BY    FOUND                 REVIEWED BY  WHAT
1   web          prod         merged  rita  2026-03-01 12:00:00Z  -            merged while closed
`, 0, 0},
		{"all violations", newViolationsCommand(), []string{"list", "--all"}, api.ViolationList{}, "GET /api/v1/violations?limit=50&open=false ",
			"ID  APPLICATION  ENVIRONMENT  KIND  BY  FOUND  REVIEWED BY  WHAT\n", 0, 0},
		{"review of a violation", newViolationsCommand(), []string{"review", "1", "--review", "urgent"}, nil,
			`POST /api/v1/violations/1/review {"review":"urgent"}`, "violation 1 is reviewed\n", 0, 204},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &fakeServer{status: cmp.Or(tt.status, http.StatusOK), answer: tt.answer}
			out, exit, err := s.invoke(t, tt.cmd, tt.args...)
			if exit != tt.exit {
				t.Fatalf("exit status %d, want %d: %v", exit, tt.exit, err)
			}
			if diff := gocmp.Diff(tt.sent, s.method+" "+s.uri+" "+s.body); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if diff := gocmp.Diff(tt.out, out); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

// A plan that is held is printed as JSON too, with the exit status that says so.
func TestGateCommandsAsJSON(t *testing.T) {
	t.Parallel()
	s := &fakeServer{status: http.StatusOK, answer: planAnswer}
	out, exit, err := s.invoke(t, newPlanCommand(), "--application", "web", "--environment", "prod", "--release", "3", "-o", "json")
	var plan api.Plan
	if exit != 3 || err.Error() != "" || json.Unmarshal([]byte(out), &plan) != nil {
		t.Fatalf("exit status %d, %v, printed %s", exit, err, out)
	}
	if diff := gocmp.Diff(planAnswer, plan); diff != "" {
		t.Errorf("as JSON (-want +got):\n%s", diff)
	}
	s = &fakeServer{status: http.StatusNoContent}
	out, exit, err = s.invoke(t, newFreezeCommand(), "end", "4", "-o", "json")
	if exit != 0 || strings.TrimSpace(out) != "{\n  \"id\": 4\n}" {
		t.Errorf("exit status %d, %v, printed %s", exit, err, out)
	}
}

func TestChangesOfPeopleAreShown(t *testing.T) {
	t.Parallel()
	change := promotionAnswer
	change.Kind, change.Release, change.ReleaseNumber, change.Version, change.Gates = api.PromotionKindChange, nil, nil, "", heldGates
	change.Siblings = []api.PromotionSummary{{ID: 13, Application: "api", Environment: "prod", State: api.PromotionStateOpen}}
	change.Restore.Commit = someCommit
	s := &fakeServer{status: http.StatusOK, answer: change}
	out, _, err := s.invoke(t, newApproveCommand(), "12")
	want := `promotion 12   open
change         of web in prod, which matches no release
configuration  as of commit ` + someCommit + `
requested      by rita at 2026-03-01 12:00:00Z
pull request   https://git.test/config/pulls/4
approvals      wait (override 2): 1 is missing
sync-window    wait: closed until Monday
with it        promotion 13: api in prod, open
now            1 approval is missing
`
	if diff := gocmp.Diff(want, out); diff != "" {
		t.Errorf("%v, printed (-want +got):\n%s", err, diff)
	}
}

func TestTimesFromNow(t *testing.T) {
	t.Parallel()
	s := &fakeServer{status: http.StatusCreated, answer: webFreeze}
	before := time.Now().Truncate(time.Second)
	if _, exit, err := s.invoke(t, newFreezeCommand(), "create", "--until", "+90m", "--reason", "r", "--owner", "o"); exit != 0 {
		t.Fatal(err)
	}
	after := time.Now()
	var sent api.FreezeRequest
	if err := json.Unmarshal([]byte(s.body), &sent); err != nil {
		t.Fatal(err)
	}
	if sent.StartsAt.Before(before) || sent.StartsAt.After(after) {
		t.Errorf("starts at %s, asked at %s", sent.StartsAt, before)
	}
	if ends := sent.EndsAt.Add(-90 * time.Minute); ends.Before(before) || ends.After(after) {
		t.Errorf("ends at %s, asked at %s", sent.EndsAt, before)
	}
}

func TestGateCommandsRefuse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		cmd  *cobra.Command
		args []string
		says string
	}{
		{"evidence of nothing", newEvidenceCommand(), []string{"post", "--name", "scan", "--verdict", "pass"}, "--digest"},
		{"evidence of two things", newEvidenceCommand(), []string{"post", "--release", "3", "--digest", someDigest}, "--digest"},
		{"whose release", newEvidenceCommand(), []string{"post", "--release", "3", "--name", "scan", "--verdict", "pass"}, "--application is missing"},
		{"no verdict", newEvidenceCommand(), []string{"post", "--digest", someDigest, "--name", "scan"}, "--verdict is missing"},
		{"no release", newPlanCommand(), []string{"--application", "web", "--environment", "prod"}, "--release is missing"},
		{"no time", newPlanCommand(), []string{"--at", "tomorrow"}, "RFC 3339"},
		{"no duration", newPlanCommand(), []string{"--at", "+2"}, "+2h30m"},
		{"a time that has passed", newPlanCommand(), []string{"--at", "+-2h"}, "+2h30m"},
		{"list and plan", newRestoreCommand(), []string{"--list", "--plan"}, "not both"},
		{"adopt without a reason", newDriftCommand(), []string{"adopt", "--application", "web", "--environment", "prod"}, "--reason is missing"},
		{"no commit", newRestoreCommand(), []string{"--application", "web", "--environment", "prod", "--plan"}, "--commit is missing"},
		{"no reason", newRestoreCommand(), []string{"--application", "web", "--environment", "prod", "--commit", "c0"}, "--reason is missing"},
		{"no end", newFreezeCommand(), []string{"create", "--reason", "r", "--owner", "o"}, "--until is missing"},
		{"no owner", newWindowCommand(), []string{"open", "--until", "+1h", "--reason", "r"}, "--owner is missing"},
		{"no freeze", newFreezeCommand(), []string{"end"}, "end FREEZE"},
		{"no id", newFreezeCommand(), []string{"end", "fair"}, "whole number"},
		{"hotfix without a reason", newPromoteCommand(), []string{"--application", "web", "--environment", "prod", "--release", "1.0.1", "--hotfix"}, "--reason is missing"},
		{"an attestation of nothing", newAttestCommand(), []string{"--application", "web"}, "--from is missing"},
		{"an attestation for ever", newAttestCommand(), attests, "--expires is missing"},
		{"an attestation until nobody knows", newAttestCommand(), append(attests[:len(attests):len(attests)], "--expires", "soon"), "RFC 3339"},
		{"an attestation of something else", newAttestCommand(), append(attests[:len(attests):len(attests)], "--expires", "+1h", "--subject", "luck"), "side-effects"},
		{"an attestation that knows not", newAttestCommand(), append(attests[:len(attests):len(attests)], "--expires", "+1h", "--verdict", "maybe"), "compatible or incompatible"},
		{"attestations of nobody", newAttestCommand(), []string{"list"}, "--application is missing"},
		{"hold of nothing", newHoldCommand(), []string{"--reason", "fire"}, "--application is missing"},
		{"hold of two things", newHoldCommand(), []string{"--everything", "--application", "web", "--reason", "fire"}, "--everything"},
		{"hold without a reason", newHoldCommand(), []string{"--everything"}, "--reason is missing"},
		{"resume of half a target", newResumeCommand(), []string{"--application", "web"}, "--environment is missing"},
		{"no gate", newOverrideCommand(), []string{"--application", "web", "--environment", "prod", "--until", "+1h", "--reason", "fire"}, "--gate is missing"},
		{"an override for ever", newOverrideCommand(), []string{"--application", "web", "--environment", "prod", "--gate", "hold"}, "--until is missing"},
		{"no review", newViolationsCommand(), []string{"review", "1"}, "--review is missing"},
		{"no delivery", newNotificationsCommand(), []string{"retry"}, "retry DELIVERY"},
		{"no violation", newViolationsCommand(), []string{"review", "--review", "right"}, "review VIOLATION"},
		{"too many", newViolationsCommand(), []string{"list", "--limit", "201"}, "200"},
		{"misspelt", newHoldCommand(), []string{"lits"}, "lits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &fakeServer{status: http.StatusOK, answer: planAnswer}
			_, exit, err := s.invoke(t, tt.cmd, tt.args...)
			if exit != 2 || !strings.Contains(err.Error(), tt.says) || s.method != "" {
				t.Errorf("exit status %d, %v, asked %s; want it to say %q", exit, err, s.method, tt.says)
			}
		})
	}
	refusal := &fakeServer{status: http.StatusForbidden, answer: api.Problem{Code: "own-violation", Detail: "you did this yourself"}}
	out, exit, err := refusal.invoke(t, newViolationsCommand(), "review", "1", "--review", "fine")
	if exit != 1 || out != "" || err.Error() != "you did this yourself" {
		t.Errorf("exit status %d, %v, printed %q", exit, err, out)
	}
}
