package scenario_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// tokenOf is somebody who acts with an API token of their name, made for the test.
func (w *world) tokenOf(name string, roles ...promotion.Role) promotion.Actor {
	w.Helper()
	now := w.clock.now()
	token := promotion.NewToken{Name: name, Hash: []byte("the hash of " + name + "'s token"), Roles: roles, Expires: now.AddDate(0, 0, 90)}
	w.must(w.service.Store.Tx(w.Context(), func(tx promotion.Tx) error { return tx.SaveToken(w.Context(), token, now) }))
	return promotion.Actor{Name: name, Kind: promotion.Token, Roles: roles}
}

func TestAnApproverWhoLosesTheRole(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)

	w.people[ada.Name] = []promotion.Role{promotion.RoleViewer}
	_, err := w.service.Merge(w.Context(), rita, id)
	w.contains("the refusal", w.refused(err, "merge-refused").Message, "ada no longer has the role approver", "0 of 1")
	w.lookAtEverything()
	w.is(id, promotion.StateOpen)
	state, _ := w.gates(w.promotion(id).Number)
	same(w, "status", state, "pending")
	w.contains("the pull request", w.body(id), "ada no longer has the role approver")

	w.people[ada.Name] = []promotion.Role{promotion.RoleAdmin} // another role that may approve
	w.merges(rita, id)
	w.is(id, promotion.StateMerged)
}

func TestAnApproverWhoIsNoLongerKnownBetweenTheLookAndTheMerge(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	w.service.Checkpoint = func(boundary string) {
		if boundary == "merge:begun" {
			delete(w.people, ada.Name)
		}
	}
	_, err := w.service.Merge(w.Context(), rita, id)
	w.must(err)
	w.settle()
	w.is(id, promotion.StateOpen)
	w.contains("what it waits for", w.promotion(id).WaitsFor, "ada no longer has the role approver")
}

func TestAnApproverWhoLosesTheRoleBeforeTheSync(t *testing.T) {
	w := newProdWorld(t)
	w.sees("web", "prod", healthy)
	id := w.approvedAtProd("1.1.0")
	w.service.Checkpoint = func(boundary string) {
		if boundary == "merge:recorded" {
			delete(w.people, ada.Name)
		}
	}
	w.merges(rita, id)
	same(w, "syncs", len(w.cluster.syncs), 0)
	w.contains("the gate", w.gate(id, promotion.PhaseSync, promotion.GateApprovals).Reason, "ada no longer has the role approver")
	w.approves(otto, id)
	same(w, "syncs", len(w.cluster.syncs), 1)
}

func TestATokenThatIsMadeIsInTheAudit(t *testing.T) {
	w := newProdWorld(t)
	secret, hash := auth.NewToken()
	made := promotion.NewToken{Name: "nora", Hash: hash, Roles: []promotion.Role{promotion.RoleApprover}, Expires: w.clock.now().AddDate(0, 0, 90)}
	w.refused(w.service.CreateToken(w.Context(), rita, made), "forbidden")
	expired := made
	expired.Expires = w.clock.now()
	w.refused(w.service.CreateToken(w.Context(), otto, expired), "malformed-expiry")
	same(w, "tokens of the refused", w.count("SELECT count(*) FROM api_tokens"), 0)

	w.must(w.service.CreateToken(w.Context(), otto, made))
	id := w.approvedBy(promotion.Actor{Name: "nora", Kind: promotion.Token, Roles: made.Roles})
	made.Roles = []promotion.Role{promotion.RoleCI}
	w.must(w.service.CreateToken(w.Context(), otto, made))
	w.settle()
	w.contains("the gate", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Reason, "nora no longer has the role approver")

	events := "SELECT count(*) FROM audit_events WHERE action = 'token.created' AND object = 'token/nora' AND actor = 'otto'"
	same(w, "events", w.count(events), 2)
	same(w, "events of the first", w.count(events+" AND before IS NULL AND after->'roles' = '[\"approver\"]'"), 1)
	same(w, "events of the second", w.count(events+" AND before->'roles' = '[\"approver\"]' AND after->'roles' = '[\"ci\"]'"), 1)
	for _, never := range []string{secret, hex.EncodeToString(hash), base64.StdEncoding.EncodeToString(hash)} {
		same(w, "events with the token or its hash", w.count("SELECT count(*) FROM audit_events e WHERE position('"+never+"' IN e::text) > 0"), 0)
	}
}

func (w *world) approvedBy(a promotion.Actor) int64 {
	w.Helper()
	id := w.atProd("1.1.0")
	w.approves(a, id)
	same(w, "verdict", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)
	return id
}

func TestATokenThatEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end    func(*world)
		counts bool
	}{
		"revoked": {func(w *world) {
			w.must(w.service.RevokeToken(w.Context(), otto, "nora"))
			w.must(w.service.RevokeToken(w.Context(), otto, "nora")) // no error, and nothing new
			same(w, "revocations in the audit", w.count("SELECT count(*) FROM audit_events WHERE action = 'token.revoked' AND object = 'token/nora'"), 1)
			w.settle()
		}, false},
		"expired":                     {func(w *world) { w.pass(91 * 24 * time.Hour) }, false},
		"made anew with another role": {func(w *world) { w.tokenOf("nora", promotion.RoleCI); w.lookAtEverything() }, false},
		"made anew with the same":     {func(w *world) { w.tokenOf("nora", promotion.RoleApprover); w.lookAtEverything() }, true},
		"a person of that name":       {func(w *world) { w.people["nora"] = nil; w.lookAtEverything() }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			nora := w.tokenOf("nora", promotion.RoleApprover)
			id := w.atProd("1.1.0")
			w.approves(nora, id)
			test.end(w)
			gate := w.gate(id, promotion.PhaseMerge, promotion.GateApprovals)
			same(w, "the gate's passing", gate.Verdict == promotion.Pass, test.counts)
			if !test.counts {
				w.contains("the gate", gate.Reason, "nora no longer has the role approver")
				_, err := w.service.Merge(w.Context(), rita, id)
				w.refused(err, "merge-refused")
			}
		})
	}
}

func TestRevokingATokenIsForAdmins(t *testing.T) {
	w := newProdWorld(t)
	w.tokenOf("nora", promotion.RoleApprover)
	for _, by := range []promotion.Actor{rita, ada, vera, ci} {
		w.refused(w.service.RevokeToken(w.Context(), by, "nora"), "forbidden")
	}
	w.refused(w.service.RevokeToken(w.Context(), otto, "norma"), "unknown-token")
}

// A review at the host is somebody's own, whatever becomes of a token of the same name.
func TestAReviewCountsAlthoughATokenOfTheNameWasRevoked(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	w.approves(w.tokenOf(ada.Name, promotion.RoleApprover), id)
	w.must(w.service.RevokeToken(w.Context(), otto, ada.Name))
	w.settle()
	same(w, "verdict of the token's", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Wait)
	w.approves(ada, id)
	same(w, "verdict of the person's", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Verdict, promotion.Pass)
}

func TestAMergeThatStandsEndsWithTheRole(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	w.mergesWhenPassing(id)
	w.people[rita.Name] = []promotion.Role{promotion.RoleViewer}
	_, err := w.service.MergeWhenPassing(w.Context(), otto, id, "") // before anything looked: rita's wish is in nobody's way
	w.must(err)
	same(w, "who asks", w.promotion(id).StandingMerge.By, otto.Name)

	delete(w.people, otto.Name)
	w.approves(ada, id)
	w.is(id, promotion.StateOpen)
	same(w, "who asked", w.promotion(id).StandingMerge.By, "")
	w.contains("the audit", strings.Join(w.texts("SELECT message FROM audit_events WHERE promotion_id = $1", id), "\n"),
		"no longer merged when the gates pass, as otto asked: otto no longer has the role admin")
}

func TestAnOverrideEndsWithTheRole(t *testing.T) {
	w := newProdWorld(t)
	id := w.atProd("1.1.0")
	_, err := w.service.Override(w.Context(), gil, promotion.OverrideRequest{Application: "web", Environment: "prod",
		Gates: []string{promotion.GateApprovals}, Reason: "prod is down", ExpiresAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	w.settle()
	same(w, "holding", w.gate(id, promotion.PhaseMerge, promotion.GateApprovals).Holds(), false)
	w.people[gil.Name] = []promotion.Role{promotion.RoleApprover}
	w.lookAtEverything()
	gate := w.gate(id, promotion.PhaseMerge, promotion.GateApprovals)
	same(w, "holding without the role", gate.Holds(), true)
	w.contains("the gate", gate.Reason, "gil no longer has the role break-glass")
	_, err = w.service.Merge(w.Context(), rita, id)
	w.refused(err, "merge-refused")
}

// Something approved is not superseded; what nobody approved any more is.
func TestAPromotionThatIsNoLongerApprovedIsSuperseded(t *testing.T) {
	w := newProdWorld(t)
	id := w.approvedAtProd("1.1.0")
	newer := w.released("1.2.0", "web")
	_, err := w.asks(newer, "prod")
	w.contains("the refusal", w.refused(err, "promotion-open").Message, "it is approved")
	delete(w.people, ada.Name)
	w.promotes(newer, "prod")
	w.is(id, promotion.StateSuperseded)
}
