package promotion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicehq/sluice/internal/rollback"
)

// attested is what was attested of one step back: of each subject Compatible or Incompatible, or Missing.
type attested struct {
	words  map[Subject]rollback.State
	notes  []string             // the words that count
	unread map[Subject][]string // why a subject is Missing where that does not go without saying
	until  time.Time            // when the first word expires that counts
}

// attested looks for the words about everything that candidate would meet: what current leaves behind, and what other releases did that
// ran here since candidate last did. A person's word for the pair speaks for all of that; what was posted with builds speaks for one
// release each. That something is known to be wrong no later word takes back.
func (s *Service) attested(ctx context.Context, b goingBack) attested {
	a := attested{words: map[Subject]rollback.State{}, unread: map[Subject][]string{}}
	w, err := s.wordsOn(ctx, b)
	for _, subject := range Subjects() {
		a.words[subject] = rollback.Missing
		if err != nil {
			a.unread[subject] = []string{err.Error()}
			continue
		}
		w.judge(subject, &a)
	}
	a.notes = distinct(a.notes)
	return a
}

// words are all that may be about a step.
type words struct {
	goingBack
	left  []Release // what they left behind the candidate would meet
	all   []Attestation
	since map[string]Release // releases by their version; without those that do not exist
	now   time.Time
}

func (s *Service) wordsOn(ctx context.Context, b goingBack) (words, error) {
	w := words{goingBack: b, since: map[string]Release{}, now: s.Now()}
	if b.current.ID == 0 || b.candidate.ID == 0 {
		return w, errors.New("what runs here is no release that Sluice knows, so nobody can have attested it")
	}
	between, err := s.Store.RanSince(ctx, b.target.ID, b.candidate.ID)
	if err != nil {
		return w, fmt.Errorf("what ran in %s since could not be read: %w", b.target.Environment, err)
	}
	var ids []int64
	for _, r := range append([]Release{b.current}, between...) {
		older := r.Line == b.candidate.Line && r.Number <= b.candidate.Number // candidate was made to follow it
		if !older && !slices.Contains(ids, r.ID) {
			w.left, ids = append(w.left, r), append(ids, r.ID)
		}
	}
	if w.all, err = s.Store.AttestationsAbout(ctx, ids, b.candidate.ID); err != nil {
		return w, fmt.Errorf("what was attested could not be read: %w", err)
	}
	for _, a := range w.all {
		if _, known := w.since[a.Since]; a.Since == "" || known {
			continue
		}
		r, err := s.Store.ReleaseVersion(ctx, b.candidate.Application, a.Since)
		switch {
		case err == nil:
			w.since[a.Since] = r
		case !errors.Is(err, ErrNotFound):
			return w, fmt.Errorf("release %s, since which something is attested, could not be read: %w", a.Since, err)
		}
	}
	return w, nil
}

// judge says what the words on one subject come to.
func (w words) judge(subject Subject, a *attested) {
	all := rollback.Compatible
	for _, r := range w.left {
		word := w.posted(subject, r, a)
		if r.ID != w.current.ID && word != rollback.Incompatible {
			if signed, found := w.signed(subject, r, a); found {
				a.counts(signed)
				word = stateOf(signed)
			}
		}
		if word == rollback.Missing && r.ID != w.current.ID {
			a.unread[subject] = append(a.unread[subject], fmt.Sprintf("nobody has attested %s of %s, which ran here since, for %s", subject, r.Version, w.candidate.Version))
		}
		all = worst([]rollback.State{rollback.Incompatible, rollback.Missing, rollback.Compatible}, all, word)
	}
	if pair, signed := w.signed(subject, w.current, a); signed {
		a.counts(pair)
		if all == rollback.Missing || stateOf(pair) == rollback.Incompatible {
			all = stateOf(pair) // for what ran in between too
		}
	}
	if all != rollback.Missing {
		delete(a.unread, subject)
	}
	a.words[subject] = all
}

// signed is the newest word that a person has given on going back from one release, if it counts.
func (w words) signed(subject Subject, from Release, a *attested) (Attestation, bool) {
	at := slices.IndexFunc(w.all, func(o Attestation) bool { return o.BuildID == 0 && o.From == from.ID && o.Subject == subject })
	if at < 0 {
		return Attestation{}, false
	}
	word, why := w.all[at], ""
	switch {
	case !word.InForce(w.now):
		why = "it has expired"
	case word.By == w.askedBy && word.Verdict == AttestedCompatible:
		why = word.By + " asked for this promotion, so somebody else has to sign it"
	default:
		return word, true
	}
	a.unread[subject] = distinct(append(a.unread[subject], fmt.Sprintf("%s, does not count: %s", word, why)))
	return Attestation{}, false
}

// posted is what the builds of a release say about going back from it to the candidate, the worst of it.
func (w words) posted(subject Subject, from Release, a *attested) rollback.State {
	state := rollback.Missing
	for _, word := range w.all {
		if word.BuildID == 0 || word.From != from.ID || word.Subject != subject || from.Number <= w.candidate.Number {
			continue
		}
		since, known := w.since[word.Since]
		switch {
		case word.Verdict == AttestedIncompatible:
			a.counts(word)
			return rollback.Incompatible
		case !known:
			a.unread[subject] = append(a.unread[subject], fmt.Sprintf("%s, does not count: there is no release %s", word, word.Since))
		case since.Line != w.candidate.Line || since.Number > w.candidate.Number:
			a.unread[subject] = append(a.unread[subject], fmt.Sprintf("%s: not for %s", word, w.candidate.Version))
		default:
			a.counts(word)
			state = rollback.Compatible
		}
	}
	return state
}

func stateOf(a Attestation) rollback.State {
	if a.Verdict == AttestedIncompatible {
		return rollback.Incompatible
	}
	return rollback.Compatible
}

func (a *attested) counts(word Attestation) {
	a.notes, a.until = append(a.notes, word.String()), earliest(a.until, word.ExpiresAt)
}

// dependency is what was attested of messages, caches and effects outside. What the policy says nothing about is not required.
func (a attested) dependency(p EnvironmentPolicy) rollback.Dependency {
	state := func(subject Subject, fine, bad rollback.State) rollback.State {
		switch {
		case a.words[subject] == rollback.Compatible:
			return fine
		case a.words[subject] == rollback.Incompatible:
			return bad
		case p.Attest == nil:
			return rollback.NotAsked
		case !slices.Contains(p.Attest, subject):
			return rollback.NotRequired
		}
		return rollback.Missing
	}
	return rollback.Dependency{Messages: state(SubjectMessages, rollback.Compatible, rollback.Incompatible),
		Cache:           state(SubjectCaches, rollback.Compatible, rollback.Incompatible),
		ExternalEffects: state(SubjectSideEffects, rollback.Recoverable, rollback.Irreversible)}
}

// newData adds what was attested to what is known of the data without.
func (a attested) newData(known rollback.State) rollback.State {
	switch {
	case a.words[SubjectData] == rollback.Incompatible:
		return rollback.OldCannotRead
	case a.words[SubjectData] == rollback.Compatible && known == rollback.Missing:
		return rollback.OldCanRead
	}
	return known
}

// tell adds the words that count, and of those subjects that are needed and missing why.
func (a attested) tell(g *gathered) {
	g.Notes, g.until = append(g.Notes, a.notes...), a.until
	for subject, state := range map[Subject]rollback.State{SubjectData: g.Data.NewData, SubjectMessages: g.Dependency.Messages,
		SubjectCaches: g.Dependency.Cache, SubjectSideEffects: g.Dependency.ExternalEffects} {
		if state == rollback.Missing {
			g.Unread = append(g.Unread, a.unread[subject]...)
		}
	}
}
