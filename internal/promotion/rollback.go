package promotion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicehq/sluice/internal/rollback"
)

// RollbackVerdict says whether a target could go back from one release to another, and from which facts that was concluded.
type RollbackVerdict struct {
	ID          int64
	Target      Target
	Current     Release // that runs, or would; zero when no release matches
	Candidate   Release
	Way         Way
	Commit      string // of main, where the candidate's configuration stands; empty when none is known
	Facts       rollback.Facts
	Verdict     rollback.Verdict
	Notes       []string  // what is no reason against it, and yet worth knowing
	Unread      []string  // what could not be read and why, a sentence each
	EvaluatedAt time.Time // when these facts were found first, of a stored one
	ConfirmedAt time.Time // when they were found last

	until time.Time // when it may be another by itself, since an attestation expires; zero: never
}

// Key tells apart what verdicts were concluded from.
func (v RollbackVerdict) Key() (string, error) {
	data, err := json.Marshal([]any{v.Facts, v.Notes, v.Unread, v.Commit})
	return hashOf(string(data)), err
}

// RollbackRequest asks where a target could go back to.
type RollbackRequest struct {
	Application, Environment string
	To                       string // id or version of a release; empty for those verified in the target
	Limit                    int    // of candidates; zero for a page of them
}

// RollbackCheck is what a target could go back to, the nearest candidate first.
type RollbackCheck struct {
	Target     Target
	Current    Release // that runs; zero when no release matches
	At         time.Time
	Candidates []RollbackCandidate
}

// RollbackCandidate is one release, by each way.
type RollbackCandidate struct {
	Release    Release
	Images     RollbackVerdict
	WithConfig RollbackVerdict
	Undo       Undoing
}

// Best is the first of the ways that are safe, or else that are open since the policy only reports what speaks against it, or the one
// by images alone. What ran together before comes before what a promotion's undoing puts together.
func (c RollbackCandidate) Best() RollbackVerdict {
	best := c.Images
	for _, v := range []RollbackVerdict{c.Images, c.WithConfig, c.Undo.Verdict} {
		if v.better(best) {
			best = v
		}
	}
	return best
}

// better: what is open comes before what is not, and of that what is safe.
func (v RollbackVerdict) better(than RollbackVerdict) bool { return v.rank() > than.rank() }

func (v RollbackVerdict) rank() int {
	switch {
	case v.Verdict.Gate != rollback.Open:
		return 0
	case v.Verdict.Overall != rollback.Safe:
		return 1
	}
	return 2
}

// Nearest is the first candidate that is safe to go back to, or else the first that the policy lets be gone back to; nil when there
// is none.
func (c RollbackCheck) Nearest() *RollbackCandidate {
	var nearest *RollbackCandidate
	for i := range c.Candidates {
		best := c.Candidates[i].Best()
		if best.rank() > 0 && (nearest == nil || best.better(nearest.Best())) {
			nearest = &c.Candidates[i]
		}
	}
	return nearest
}

// PointOfNoReturn is the first candidate that the database bars: neither it nor what was before it can be gone back to.
func (c RollbackCheck) PointOfNoReturn() *RollbackCandidate {
	for i := range c.Candidates {
		if c.Candidates[i].Images.Verdict.Predicates.DataCompatible.Value == rollback.No {
			return &c.Candidates[i]
		}
	}
	return nil
}

// candidatesShown is how many candidates are looked at when nobody says.
const candidatesShown = 10

// MostCandidates bounds what one check may ask of registries and clusters.
const MostCandidates = 50

// CheckRollback looks at what a target could go back to, and stores the verdicts with what they were concluded from.
func (s *Service) CheckRollback(ctx context.Context, r RollbackRequest) (RollbackCheck, error) {
	if r.Limit < 0 || r.Limit > MostCandidates {
		return RollbackCheck{}, invalid("bad-limit", "limit", "at most %d candidates are looked at", MostCandidates)
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return RollbackCheck{}, err
	}
	check := RollbackCheck{Target: t, At: s.Now()}
	if check.Current, err = s.running(ctx, t); err != nil {
		return check, err
	}
	releases, err := s.candidates(ctx, t, check.Current, r)
	if err != nil {
		return check, err
	}
	undoings, err := s.undoings(ctx, t, releases)
	if err != nil {
		return check, err
	}
	var backs []goingBack
	for i, candidate := range releases {
		for _, way := range undoings[i].ways() {
			backs = append(backs, goingBack{target: t, way: way, current: check.Current, candidate: candidate, undone: undoings[i].merge})
		}
	}
	verdicts, err := s.judgeBacks(ctx, t, backs)
	if err != nil {
		return check, err
	}
	if err := s.keepVerdicts(ctx, verdicts); err != nil {
		return check, err
	}
	for i, release := range releases {
		c := RollbackCandidate{Release: release, Images: verdicts[0], WithConfig: verdicts[1], Undo: undoings[i]}
		verdicts = verdicts[2:]
		if c.Undo.Problem == "" {
			c.Undo.Verdict, verdicts = verdicts[0], verdicts[1:]
		}
		check.Candidates = append(check.Candidates, c)
	}
	return check, nil
}

// candidates are the releases that were verified in the target, the one verified last first, or the one that is asked for.
func (s *Service) candidates(ctx context.Context, t Target, current Release, r RollbackRequest) ([]Release, error) {
	if r.To != "" {
		release, err := s.findRelease(ctx, PromoteRequest{Application: t.Application, Release: r.To})
		if err != nil {
			return nil, err
		}
		if release.ID == current.ID {
			return nil, conflict("already-current", "%s runs %s already", t.Environment, release.Version)
		}
		return []Release{release}, s.refuseUnverified(ctx, t, release)
	}
	limit := r.Limit
	if limit == 0 {
		limit = candidatesShown
	}
	releases, err := s.Store.VerifiedHere(ctx, t.ID, limit+1)
	if err != nil {
		return nil, fmt.Errorf("read what was verified in %s: %w", t.Path, err)
	}
	releases = slices.DeleteFunc(releases, func(c Release) bool { return c.ID == current.ID })
	return releases[:min(limit, len(releases))], nil
}

// refuseUnverified lets only what worked in a target be gone back to.
func (s *Service) refuseUnverified(ctx context.Context, t Target, r Release) error {
	verified, err := s.Store.VerifiedOn(ctx, r.ID, []int64{t.ID})
	if err != nil {
		return fmt.Errorf("read what was verified in %s: %w", t.Path, err)
	}
	if verified[t.ID] == 0 {
		return conflict("never-verified-here", "%s was never verified in %s: only what worked here can be gone back to", r.Version, t.Environment)
	}
	return nil
}

// running is the release that a target runs, or else that main wants.
func (s *Service) running(ctx context.Context, t Target) (Release, error) {
	deployments, err := s.Store.DeploymentsOf(ctx, t.ID)
	if err != nil {
		return Release{}, fmt.Errorf("read deployments of %s: %w", t.Path, err)
	}
	var id int64
	for _, d := range deployments {
		if id == 0 {
			id = d.ReleaseID
		}
	}
	if id == 0 {
		latest, err := s.Store.LatestRevision(ctx, t.ID)
		if errors.Is(err, ErrNotFound) || err == nil && latest.ReleaseID == 0 {
			return Release{}, nil
		} else if err != nil {
			return Release{}, fmt.Errorf("read what main renders for %s: %w", t.Path, err)
		}
		id = latest.ReleaseID
	}
	return s.Store.Release(ctx, id)
}
