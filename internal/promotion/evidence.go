package promotion

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Evidence is a named verification result for a release. All are kept; of one source the newest counts.
type Evidence struct {
	ID          int64
	ReleaseID   int64
	Environment string // where it was found; empty: of the artifacts themselves, as an image scan is
	Name        string // such as integration-tests
	Source      string // who found it, such as a CI job
	Verdict     string // pass or fail
	URL         string
	Summary     string
	ExpiresAt   time.Time // zero: never
	PostedBy    string
	PostedAt    time.Time
}

// EvidenceRequest posts evidence for a release: its id or version, or the digest of one of its images.
type EvidenceRequest struct {
	Application, Release, Digest string
	Evidence
}

// NeededEvidence is evidence that an environment asks for: posted under a name, or seen by Sluice itself in another environment.
type NeededEvidence struct {
	Name         string
	Environment  string        // where it must come from; empty, for what is posted: anywhere
	HealthyFor   time.Duration // without interruption, with the release's own digests
	DriftFreeFor time.Duration // in sync until now, whatever runs
	Threshold    Threshold     // that a metric of this name kept to
}

func (n NeededEvidence) String() string {
	what := n.Name
	switch {
	case n.HealthyFor > 0:
		what = "healthy for " + Lasting(n.HealthyFor)
	case n.DriftFreeFor > 0:
		what = "free of drift for " + Lasting(n.DriftFreeFor)
	case n.Threshold.Query != "":
		what += " " + n.Threshold.String()
	}
	if n.Environment == "" {
		return what
	}
	return what + " in " + n.Environment
}

// watched tells whether Sluice sees it in an environment.
func (n NeededEvidence) watched() bool { return n.HealthyFor > 0 || n.DriftFreeFor > 0 }

// Covers tells whether whoever has this evidence has the other too: it is the same, or asks for the same for longer.
func (n NeededEvidence) Covers(other NeededEvidence) bool {
	longer := n.HealthyFor >= other.HealthyFor && n.DriftFreeFor >= other.DriftFreeFor && n.Threshold.For >= other.Threshold.For
	for _, e := range []*NeededEvidence{&n, &other} {
		e.HealthyFor, e.DriftFreeFor, e.Threshold.For = 0, 0, 0
	}
	return longer && n == other
}

// PostEvidence stores evidence, and has what waits for it judged anew.
func (s *Service) PostEvidence(ctx context.Context, by Actor, r EvidenceRequest) (Evidence, error) {
	if err := allow(by, "post evidence", RoleCI, RoleReleaseManager, RoleAdmin); err != nil {
		return Evidence{}, err
	}
	e := r.Evidence
	switch {
	case strings.TrimSpace(e.Name) == "":
		return e, invalid("missing-name", "name", "say what was verified, such as integration-tests")
	case e.Verdict != "pass" && e.Verdict != "fail":
		return e, invalid("malformed-verdict", "verdict", "verdict %q: say pass or fail", e.Verdict)
	case !isLink(e.URL):
		return e, invalid("malformed-url", "url", "%q is no http or https address", e.URL)
	case r.Digest != "" && r.Release != "":
		return e, invalid("two-subjects", "digest", "say the release or the digest, not both")
	case !e.ExpiresAt.IsZero() && !e.ExpiresAt.After(s.Now()):
		return e, invalid("malformed-expiry", "expires_at", "it has expired already")
	}
	if e.Source == "" {
		e.Source = by.Name
	}
	releases, err := s.releasesMeant(ctx, r)
	if err != nil {
		return e, err
	}
	e.PostedBy, e.PostedAt = by.Name, s.Now()
	err = s.Store.Tx(ctx, func(tx Tx) error {
		for _, release := range releases {
			e.ReleaseID = release.ID
			if e.ID, err = tx.InsertEvidence(ctx, e); err != nil {
				return fmt.Errorf("store evidence %s: %w", e.Name, err)
			}
			event := s.releaseEvent(ctx, by, release, "evidence.posted", fmt.Sprintf("%s: %s by %s for release %d", e.Name, e.Verdict, e.Source, release.Number))
			event.Environment, event.After = e.Environment, e
			targets, err := tx.TargetsOf(ctx, release.ApplicationID)
			if err != nil {
				return err
			}
			if err := s.auditAndWake(ctx, tx, event, targets); err != nil {
				return err
			}
		}
		return nil
	})
	return e, err
}

// isLink tells whether a link is one that a page may lead to; none is fine.
func isLink(address string) bool {
	if address == "" {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// releasesMeant finds the releases that evidence is for: one, or every one that has an image with the digest.
func (s *Service) releasesMeant(ctx context.Context, r EvidenceRequest) ([]Release, error) {
	if r.Digest == "" {
		release, err := s.findRelease(ctx, PromoteRequest{Application: r.Application, Release: r.Release})
		return []Release{release}, err
	}
	releases, err := s.Store.ReleasesWithDigest(ctx, r.Application, r.Digest)
	if err == nil && len(releases) == 0 {
		err = invalid("unknown-digest", "digest", "no release has an image with the digest %s", r.Digest)
	}
	return releases, err
}

// evidenceGiven asks for the evidence that policy names. Of each source the newest result counts, and one that fails or has
// expired holds whatever others say.
func (s *Service) evidenceGiven(ctx context.Context, f *situation) GateResult {
	if len(f.policy.Evidence) == 0 {
		return pass("%s asks for no evidence", f.Target.Environment)
	}
	if f.Release.ID == 0 {
		return block("no release is known for what this would run, so there is no evidence for it")
	}
	all, err := s.Store.EvidenceFor(ctx, f.Release.ID)
	if err != nil {
		return block("evidence could not be read: %v", err)
	}
	var given []string
	var expires time.Time
	for _, needed := range f.policy.Evidence {
		if f.skips(needed.Environment) {
			given = append(given, needed.String()+" (not asked of a hotfix, which skips it)")
			continue
		}
		if judge := s.judgeOf(needed); judge != nil {
			if r := judge(ctx, f, needed); r.Verdict != Pass {
				return r
			}
			given = append(given, needed.String())
			continue
		}
		newest, failed := judgeEvidence(all, needed, f.now)
		switch {
		case failed != nil:
			return block("%s failed, says %s: %s", needed, failed.Source, failed.Summary).with(map[string]any{"evidence": failed.ID})
		case newest == nil:
			return wait("%s has not passed for release %d: whoever verifies it posts the result", needed, f.Release.Number)
		}
		given = append(given, needed.String())
		expires = earliest(expires, newest.ExpiresAt)
	}
	return until(expires, pass("given: %s", strings.Join(given, ", ")))
}

// judgeOf is how evidence is judged that nobody posts; nil for what is posted.
func (s *Service) judgeOf(n NeededEvidence) func(context.Context, *situation, NeededEvidence) GateResult {
	switch {
	case n.watched():
		return s.watched
	case n.Threshold.Query != "":
		return s.measured
	}
	return nil
}

// judgeEvidence is the newest result that passes and still counts, and the one that fails. Evidence comes newest first.
func judgeEvidence(all []Evidence, needed NeededEvidence, now time.Time) (passed, failed *Evidence) {
	seen := map[string]bool{} // sources whose newest was found
	for i, e := range all {
		if e.Name != needed.Name || needed.Environment != "" && e.Environment != needed.Environment || seen[e.Source] {
			continue
		}
		seen[e.Source] = true
		switch {
		case e.Verdict == "fail":
			return nil, &all[i]
		case e.ExpiresAt.IsZero() || now.Before(e.ExpiresAt):
			if passed == nil {
				passed = &all[i]
			}
		}
	}
	return passed, nil
}
