package scenario_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/rollback"
)

// attesting is a release of web whose build posts attestations.
func (w *world) attesting(version string, all ...promotion.BuildAttestation) promotion.Release {
	w.Helper()
	r := w.request(version, "web")
	r.Attestations = all
	return w.posts(r).Releases[0]
}

// asksFor has prod's policy ask for attestations.
func (w *world) asksFor(subjects string) {
	w.Helper()
	w.clone().Push("main", "sluice.yaml", "environments: {prod: {attest: ["+subjects+"]}}\n")
	w.settle()
}

// dependency is what the stored verdict of a gate says of messages, caches and effects outside.
func (w *world) dependency(g promotion.GateResult) (promotion.RollbackVerdict, rollback.Predicate) {
	w.Helper()
	v, err := w.service.RollbackVerdict(w.Context(), int64(g.Inputs["verdict"].(float64)))
	w.must(err)
	facts, err := json.Marshal(v.Facts)
	w.must(err)
	parsed, err := rollback.Parse(facts)
	w.must(err)
	same(w, "overall offline", rollback.Evaluate(parsed).Overall, v.Verdict.Overall)
	return v, v.Verdict.Predicates.DependencyRecoverable
}

func compatible(subject promotion.Subject, since string) promotion.BuildAttestation {
	return promotion.BuildAttestation{Subject: subject, Verdict: promotion.AttestedCompatible, Since: since}
}

func TestWhatCIAttestsDecidesWhereThePolicyAsksForIt(t *testing.T) {
	const messages, caches, effects = promotion.SubjectMessages, promotion.SubjectCaches, promotion.SubjectSideEffects
	against := promotion.BuildAttestation{Subject: messages, Verdict: promotion.AttestedIncompatible, Summary: "1.2.0 queues parcels without a weight"}
	for name, test := range map[string]struct {
		asks   string
		posted []promotion.BuildAttestation
		value  rollback.State
		says   []string
	}{
		"nobody does":           {"messages, caches", nil, rollback.Unknown, []string{"messages-unattested", "cache-unattested"}},
		"all that is asked for": {"messages, caches", []promotion.BuildAttestation{compatible(messages, "1.1.0"), compatible(caches, "1.1.0")}, rollback.Yes, []string{"posted by ci", "for releases from 1.1.0 on"}},
		"one of two":            {"messages, side-effects", []promotion.BuildAttestation{compatible(effects, "1.1.0")}, rollback.Unknown, []string{"messages-unattested"}},
		"for newer ones alone":  {"messages", []promotion.BuildAttestation{compatible(messages, "1.2.0")}, rollback.Unknown, []string{"messages-unattested", "not for 1.1.0"}},
		"since what is none":    {"messages", []promotion.BuildAttestation{compatible(messages, "0.0.9")}, rollback.Unknown, []string{"there is no release 0.0.9"}},
		"that it is not so":     {"messages", []promotion.BuildAttestation{against}, rollback.No, []string{"messages-incompatible", "parcels without a weight"}},
		"nothing is asked for":  {"", nil, rollback.Yes, nil},
		"though nobody asked":   {"", []promotion.BuildAttestation{against}, rollback.No, []string{"messages-incompatible", "parcels without a weight"}},
		"something else":        {"messages", []promotion.BuildAttestation{compatible(caches, "1.1.0")}, rollback.Unknown, []string{"messages-unattested"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newProdWorld(t)
			w.connects(answering{platforms: []string{platform}})
			w.asksFor(test.asks)
			w.runsInProd(w.released("1.1.0", "web"))
			g := w.safe(w.attesting("1.2.0", test.posted...))
			v, check := w.dependency(g)
			same(w, "value", check.Value, test.value)
			w.contains("the verdict", strings.Join(append(append(check.Reasons, v.Notes...), v.Unread...), "\n"), test.says...)
			if test.value != rollback.Yes {
				same(w, "gate", g.Verdict, promotion.Block)
			}
			if test.value == rollback.No {
				w.contains("the gate", g.Reason, "parcels without a weight")
			}
		})
	}
}

// TestWithoutAPolicyNothingOfItIsChecked: the verdict says so.
func TestWithoutAPolicyNothingOfItIsChecked(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.runsInProd(w.released("1.1.0", "web"))
	v, check := w.dependency(w.safe(w.released("1.2.0", "web")))
	same(w, "value", check.Value, rollback.Unchecked)
	same(w, "messages", v.Facts.Dependency.Messages, rollback.NotAsked)
}

// TestWhatNobodyAskedForAndIsAttestedAllTheSameIsChecked: nothing of it is left that nobody has spoken for.
func TestWhatNobodyAskedForAndIsAttestedAllTheSameIsChecked(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.runsInProd(w.released("1.1.0", "web"))
	_, check := w.dependency(w.safe(w.attesting("1.2.0", compatible(promotion.SubjectMessages, "1.1.0"),
		compatible(promotion.SubjectCaches, "1.1.0"), compatible(promotion.SubjectSideEffects, "1.1.0"))))
	same(w, "value", check.Value, rollback.Yes)
}

// TestAPersonSignsAPairOfReleasesForAWhile: somebody else than who asked, until it expires or is taken back.
func TestAPersonSignsAPairOfReleasesForAWhile(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.asksFor("messages")
	w.runsInProd(w.released("1.1.0", "web"))
	id := w.promotes(w.released("1.2.0", "web"), "prod")
	gate := func() promotion.GateResult { return w.gate(id, promotion.PhaseMerge, promotion.GateRollbackSafe) }
	same(w, "verdict before", gate().Verdict, promotion.Block)

	sound := promotion.AttestRequest{Application: "web", From: "1.2.0", To: "1.1.0", Subject: promotion.SubjectMessages, Verdict: promotion.AttestedCompatible,
		Reason: "the queue's schema is the same", ExpiresAt: w.clock.now().Add(4 * time.Hour)}
	for code, change := range map[string]func(*promotion.AttestRequest){
		"unknown-subject":   func(r *promotion.AttestRequest) { r.Subject = "moods" },
		"malformed-verdict": func(r *promotion.AttestRequest) { r.Verdict = "maybe" },
		"missing-reason":    func(r *promotion.AttestRequest) { r.Reason = " " },
		"long-reason":       func(r *promotion.AttestRequest) { r.Reason = strings.Repeat("x", 2001) },
		"bad-expiry":        func(r *promotion.AttestRequest) { r.ExpiresAt = w.clock.now() },
		"unknown-release":   func(r *promotion.AttestRequest) { r.To = "9.9.9" },
		"same-release":      func(r *promotion.AttestRequest) { r.To = r.From },
	} {
		r := sound
		change(&r)
		_, err := w.service.Attest(w.Context(), ada, r)
		w.refused(err, code)
	}
	_, err := w.service.Attest(w.Context(), vera, sound)
	w.refused(err, "forbidden")
	same(w, "stored", w.count("SELECT count(*) FROM attestations"), 0)

	_, err = w.service.Attest(w.Context(), rita, sound) // who asked for the promotion
	w.must(err)
	w.settle()
	same(w, "verdict by who asked", gate().Verdict, promotion.Block)
	w.contains("the gate", gate().Reason, "rita asked for this promotion")

	_, err = w.service.Attest(w.Context(), ada, sound)
	w.must(err)
	w.settle()
	signed := gate()
	same(w, "verdict once signed, which says "+signed.Reason, signed.Verdict, promotion.Pass)
	same(w, "until", signed.Until.UTC(), sound.ExpiresAt.UTC())
	v, check := w.dependency(signed)
	same(w, "value", check.Value, rollback.Yes)
	w.contains("the evidence", strings.Join(v.Notes, "\n"), "from 1.2.0 to 1.1.0, signed off by ada until", "the queue's schema is the same")
	same(w, "audited", w.count("SELECT count(*) FROM audit_events WHERE action = 'attestation.signed' AND release_id IS NOT NULL"), 2)

	w.pass(4 * time.Hour)
	w.lookAtEverything()
	same(w, "verdict once it expired", gate().Verdict, promotion.Block)
	w.contains("the gate", gate().Reason, "signed off by ada", "it has expired")

	against := sound
	against.Verdict, against.Reason, against.ExpiresAt = promotion.AttestedIncompatible, "old workers stop at a new header", w.clock.now().Add(time.Hour)
	_, err = w.service.Attest(w.Context(), ada, against)
	w.must(err)
	w.settle()
	w.contains("the gate", gate().Reason, "unsafe", "old workers stop at a new header")
	if _, err := w.pool.Exec(w.Context(), "DELETE FROM attestations"); err == nil {
		t.Error("attestations can be deleted")
	}
}

// TestWhatRanInBetweenIsAttestedToo: 1.2.0 has left messages as well, and 1.3.0's author speaks for 1.3.0 alone.
func TestWhatRanInBetweenIsAttestedToo(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.runsInProd(w.released("1.1.0", "web"))
	w.runsInProd(w.released("1.2.0", "web"))
	w.runsInProd(w.attesting("1.3.0", compatible(promotion.SubjectMessages, "1.1.0")))
	w.asksFor("messages")
	to := func(version string) rollback.Predicate {
		check, err := w.service.CheckRollback(w.Context(), promotion.RollbackRequest{Application: "web", Environment: "prod", To: version})
		w.must(err)
		v := check.Candidates[0].Images
		if version == "1.1.0" && v.Verdict.Predicates.DependencyRecoverable.Value == rollback.Unknown {
			w.contains("the verdict", strings.Join(v.Unread, "\n"), "nobody has attested messages of 1.2.0, which ran here since, for 1.1.0")
		}
		return v.Verdict.Predicates.DependencyRecoverable
	}
	same(w, "back to 1.2.0", to("1.2.0").Value, rollback.Yes)
	same(w, "back to 1.1.0", to("1.1.0").Value, rollback.Unknown)
	_, err := w.service.Attest(w.Context(), ada, promotion.AttestRequest{Application: "web", From: "1.3.0", To: "1.1.0", Subject: promotion.SubjectMessages,
		Verdict: promotion.AttestedCompatible, Reason: "nothing is queued", ExpiresAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	same(w, "back to 1.1.0 once the pair is signed", to("1.1.0").Value, rollback.Yes)
}

// TestDataAreAttestedWhereverThereIsADatabase: no policy has to ask for that.
func TestDataAreAttestedWhereverThereIsADatabase(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.runsInProd(w.migrating("1.1.0", plain(files(parcels))))
	second := w.request("1.2.0", "web")
	second.Migrations, second.Attestations = plain(files(parcels)), []promotion.BuildAttestation{compatible(promotion.SubjectData, "1.1.0")}
	v, _ := w.dependency(w.safe(w.posts(second).Releases[0]))
	same(w, "new data", v.Facts.Data.NewData, rollback.OldCanRead)
}

// TestTheBuildsOfAGroupSpeakForTheirRelease: whichever of them attests, and no build of another group.
func TestTheBuildsOfAGroupSpeakForTheirRelease(t *testing.T) {
	w := newWorld(t)
	post := func(version, image string, all ...promotion.BuildAttestation) promotion.BuildOutcome {
		r := w.request(version, image)
		r.Group, r.GroupExpects, r.Attestations = "ci-"+version, []string{"order-service", "order-worker"}, all
		return w.posts(r)
	}
	post("2.1.0", "order-service")
	first := post("2.1.0", "order-worker").Releases[0]
	post("2.2.0", "order-service", compatible(promotion.SubjectMessages, "2.1.0"))
	second := post("2.2.0", "order-worker", compatible(promotion.SubjectCaches, "2.1.0")).Releases[0]
	about := func() string {
		all, err := w.service.Store.AttestationsAbout(w.Context(), []int64{second.ID}, first.ID)
		w.must(err)
		var said []string
		for _, a := range all {
			said = append(said, string(a.Subject)+" "+string(a.Verdict)+" of "+a.FromVersion)
		}
		return strings.Join(said, ", ")
	}
	same(w, "attested", about(), "caches compatible of 2.2.0, messages compatible of 2.2.0")
	again := post("2.2.1", "order-service", promotion.BuildAttestation{Subject: promotion.SubjectMessages, Verdict: promotion.AttestedIncompatible})
	same(w, "releases of one image of the group", len(again.Releases), 0)
	same(w, "attested before the group is complete", about(), "caches compatible of 2.2.0, messages compatible of 2.2.0")
	_, err := w.service.Attest(w.Context(), ada, promotion.AttestRequest{Application: second.Application, From: "2.2.0", To: "2.1.0", Subject: promotion.SubjectData,
		Verdict: promotion.AttestedCompatible, Reason: "read by a test", ExpiresAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	same(w, "attested with what was signed", about(), "data compatible of 2.2.0, caches compatible of 2.2.0, messages compatible of 2.2.0")
	listed, err := w.service.Store.Attestations(w.Context(), second.Application, 10)
	w.must(err)
	same(w, "listed", len(listed), 3)
}

// TestTheSameDigestsPostedAgainSayMoreAndTakeNothingBack: what is known to be wrong stays so, whatever CI or a person says later.
func TestTheSameDigestsPostedAgainSayMoreAndTakeNothingBack(t *testing.T) {
	w := newProdWorld(t)
	w.connects(answering{platforms: []string{platform}})
	w.asksFor("messages, caches")
	w.runsInProd(w.released("1.1.0", "web"))
	r := w.request("1.2.0", "web")
	r.Attestations = []promotion.BuildAttestation{{Subject: promotion.SubjectMessages, Verdict: promotion.AttestedIncompatible, Summary: "a new header"}}
	id := w.promotes(w.posts(r).Releases[0], "prod")
	r.Version = "1.2.0-checked"
	r.Attestations = []promotion.BuildAttestation{compatible(promotion.SubjectMessages, "1.1.0"), compatible(promotion.SubjectCaches, "1.1.0")}
	w.posts(r)
	_, err := w.service.Attest(w.Context(), ada, promotion.AttestRequest{Application: "web", From: "1.2.0", To: "1.1.0", Subject: promotion.SubjectMessages,
		Verdict: promotion.AttestedCompatible, Reason: "it worked once", ExpiresAt: w.clock.now().Add(time.Hour)})
	w.must(err)
	w.settle()
	w.lookAtEverything()
	v, check := w.dependency(w.gate(id, promotion.PhaseMerge, promotion.GateRollbackSafe))
	same(w, "messages", v.Facts.Dependency.Messages, rollback.Incompatible)
	same(w, "caches", v.Facts.Dependency.Cache, rollback.Compatible)
	same(w, "reasons", strings.Join(check.Reasons, " "), "messages-incompatible")
}
