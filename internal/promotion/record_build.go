package promotion

import (
	"context"
	"errors"
	"fmt"
)

// RecordBuild stores a build that CI posts, completes the releases it makes
// possible and starts their automatic promotions, all in one transaction. The
// same post again gives the same outcome, created is then false, and nothing changes.
func (s *Service) RecordBuild(ctx context.Context, by Actor, r BuildRequest) (out BuildOutcome, created bool, err error) {
	if err := allow(by, "post builds", RoleCI, RoleReleaseManager, RoleAdmin); err != nil {
		return out, false, err
	}
	if err := r.validate(); err != nil {
		return out, false, err
	}
	if r.Migrations != nil {
		if err := s.Migrations.Refuse(*r.Migrations); err != nil {
			return out, false, err
		}
	}
	n := r.normalised()
	print, err := n.fingerprint()
	if err != nil {
		return out, false, err
	}
	// The artifacts stay in the order in which they were posted: refusals name them by it.
	b := Build{Fingerprint: print, IdempotencyKey: r.IdempotencyKey, Version: r.Version, Line: n.Line, Group: r.Group,
		GroupExpects: n.GroupExpects, Artifacts: r.Artifacts, Charts: r.Charts, Source: r.Source, CI: r.CI, Migrations: n.Migrations, Attestations: r.Attestations, PostedBy: by.Name, PostedAt: s.Now()}
	err = s.Store.Tx(ctx, func(tx Tx) error {
		out, created, err = s.recordBuild(ctx, tx, by, b, r.Application)
		return err
	})
	if err != nil {
		return BuildOutcome{}, false, err
	}
	s.passed("build:recorded")
	return out, created, nil
}

func (s *Service) recordBuild(ctx context.Context, tx Tx, by Actor, b Build, application string) (BuildOutcome, bool, error) {
	if known, err := s.sameKey(ctx, tx, b); err != nil || known != 0 {
		if err != nil {
			return BuildOutcome{}, false, err
		}
		out, err := outcome(ctx, tx, known)
		return out, false, err
	}
	id, created, err := tx.InsertBuild(ctx, b)
	if err != nil {
		return BuildOutcome{}, false, fmt.Errorf("store build %s: %w", b.Version, err)
	}
	if !created {
		if _, err := s.sameKey(ctx, tx, b); err != nil { // the key was taken by another post at the same moment
			return BuildOutcome{}, false, err
		}
		if err := tx.RememberKey(ctx, b.IdempotencyKey, id); err != nil {
			return BuildOutcome{}, false, err
		}
		out, err := outcome(ctx, tx, id)
		return out, false, err
	}
	b.ID = id
	uses, err := s.applicationsOf(ctx, tx, b, application)
	if err != nil {
		return BuildOutcome{}, false, err
	}
	e := s.event(ctx, by, "build.recorded", fmt.Sprintf("build %s of %s@%s", b.Version, b.Source.Repository, short(b.Source.Commit)))
	e.Object, e.After = fmt.Sprintf("build/%d", id), audited(b)
	if err := tx.Audit(ctx, e); err != nil {
		return BuildOutcome{}, false, err
	}
	for _, use := range uses {
		if err := s.completeRelease(ctx, tx, by, b, use); err != nil {
			return BuildOutcome{}, false, err
		}
	}
	out, err := outcome(ctx, tx, id)
	return out, true, err
}

// audited is what the audit keeps of a build: of its migrations how many there are, and what identifies them.
func audited(b Build) any {
	if b.Migrations == nil {
		return b
	}
	return struct {
		Build
		Migrations map[string]any
	}{b, map[string]any{"tool": b.Migrations.Tool, "files": len(b.Migrations.Files), "set": b.Migrations.Set()}}
}

// Build is a build and what it led to until now; ErrNotFound.
func (s *Service) Build(ctx context.Context, id int64) (BuildOutcome, error) {
	return outcome(ctx, s.Store, id)
}

func outcome(ctx context.Context, known Reader, id int64) (BuildOutcome, error) {
	out, err := known.BuildOutcome(ctx, id)
	if err != nil {
		return out, err
	}
	_, _, out.Waiting, err = postedTogether(ctx, known, out.Build, out.Build.shares)
	return out, err
}

// sameKey finds the build that was posted under the same Idempotency-Key.
func (s *Service) sameKey(ctx context.Context, tx Tx, b Build) (int64, error) {
	if b.IdempotencyKey == "" {
		return 0, nil
	}
	known, err := tx.BuildByKey(ctx, b.IdempotencyKey)
	switch {
	case errors.Is(err, ErrNotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case known.Fingerprint != b.Fingerprint:
		return 0, &Error{Kind: Invalid, Code: "idempotency-key-reused", Field: "Idempotency-Key",
			Message: fmt.Sprintf("this Idempotency-Key was used for build %d with other content; use a new key for a new build", known.ID)}
	}
	return known.ID, nil
}

// completeRelease makes the release that this build completes, if it does.
func (s *Service) completeRelease(ctx context.Context, tx Tx, by Actor, b Build, u use) error {
	newest := u.newest
	if err := tx.LockApplication(ctx, newest.ApplicationID); err != nil {
		return err
	}
	posted, charts, missing, err := postedTogether(ctx, tx, b, u.takes)
	if err != nil || len(missing) > 0 {
		return err
	}
	base, err := tx.NewestRelease(ctx, newest.ApplicationID, b.Line)
	if errors.Is(err, ErrNotFound) {
		base, err = tx.NewestRelease(ctx, newest.ApplicationID, "")
	}
	if err != nil {
		return fmt.Errorf("newest release of %s: %w", newest.Application, err)
	}
	r := Release{ApplicationID: base.ApplicationID, Application: base.Application, Version: b.Version, Line: b.Line,
		Origin: FromBuild, BuildID: b.ID, Artifacts: assemble(base, posted, u), Charts: assembleCharts(base, charts, u), CreatedAt: b.PostedAt}
	r, err = s.storeRelease(ctx, tx, by, r, b)
	if err != nil {
		return err
	}
	if r.Number < base.Number {
		return nil // digests from before, posted again: nothing goes back by itself
	}
	return s.startAutomatic(ctx, tx, r, Target{}, b.ID)
}

// storeRelease stores a new release, or names an earlier one with the same digests by another version.
func (s *Service) storeRelease(ctx context.Context, tx Tx, by Actor, r Release, b Build) (Release, error) {
	key := artifactsKey(r)
	same, err := tx.ReleaseWithArtifacts(ctx, r.ApplicationID, key)
	if err == nil {
		e := s.releaseEvent(ctx, by, same, "release.aliased", fmt.Sprintf("release %d of %s was posted again as %s: the same digests", same.Number, same.Application, r.Version))
		return same, errors.Join(tx.AddAlias(ctx, same.ID, r.Version, b.ID, b.PostedAt), tx.Audit(ctx, e))
	}
	if !errors.Is(err, ErrNotFound) {
		return Release{}, err
	}
	message := "release %d of %s: version %s"
	earlier, err := tx.ReleaseOfVersion(ctx, r.ApplicationID, r.Version)
	switch {
	case err == nil && rebuilds(r, earlier):
		r.RebuildOf = earlier.ID
		message += fmt.Sprintf(", a rebuild of release %d with other digests; it inherits no evidence and no approval", earlier.Number)
	case err != nil && !errors.Is(err, ErrNotFound):
		return Release{}, err
	}
	r, err = tx.InsertRelease(ctx, r, key)
	if err != nil {
		return Release{}, fmt.Errorf("store release %s of %s: %w", r.Version, r.Application, err)
	}
	e := s.releaseEvent(ctx, by, r, "release.completed", fmt.Sprintf(message, r.Number, r.Application, r.Version))
	e.After = r
	return r, tx.Audit(ctx, e)
}

func (s *Service) releaseEvent(ctx context.Context, by Actor, r Release, action, message string) AuditEvent {
	e := s.event(ctx, by, action, message)
	e.Object, e.Application, e.ReleaseID = fmt.Sprintf("release/%d", r.ID), r.Application, r.ID
	return e
}
