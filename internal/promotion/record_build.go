package promotion

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
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
	n := r.normalised()
	print, err := n.fingerprint()
	if err != nil {
		return out, false, err
	}
	// The artifacts stay in the order in which they were posted: refusals name them by it.
	b := Build{Fingerprint: print, IdempotencyKey: r.IdempotencyKey, Version: r.Version, Line: n.Line, Group: r.Group,
		GroupExpects: n.GroupExpects, Artifacts: r.Artifacts, Source: r.Source, CI: r.CI, PostedBy: by.Name, PostedAt: s.Now()}
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
	e.Object, e.After = fmt.Sprintf("build/%d", id), b
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

// Build is a build and what it led to until now; ErrNotFound.
func (s *Service) Build(ctx context.Context, id int64) (BuildOutcome, error) {
	return outcome(ctx, s.Store, id)
}

func outcome(ctx context.Context, known Reader, id int64) (BuildOutcome, error) {
	out, err := known.BuildOutcome(ctx, id)
	if err != nil {
		return out, err
	}
	_, out.Waiting, err = postedTogether(ctx, known, out.Build, out.Build.posts)
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

// use is an application that uses images of a build.
type use struct {
	newest Release
	images []string // repositories that main renders for it
}

// of tells whether the application uses a repository's image. What its newest release has counts too: main may be about to
// have it again.
func (u use) of(repository string) bool {
	return slices.Contains(u.images, repository) || u.newest.uses(repository)
}

// applicationsOf finds the applications that use the posted images. Every image must belong to one.
func (s *Service) applicationsOf(ctx context.Context, tx Tx, b Build, application string) ([]use, error) {
	repositories := make([]string, len(b.Artifacts))
	for i, a := range b.Artifacts {
		repositories[i] = a.Repository
	}
	newest, err := tx.ApplicationsUsing(ctx, repositories)
	if err != nil {
		return nil, err
	}
	if application != "" {
		if _, err := tx.ApplicationID(ctx, application); errors.Is(err, ErrNotFound) {
			return nil, invalid("unknown-application", "application",
				"application %q is not in any config repository: it needs apps/%s/overlays/<environment> on main", application, application)
		} else if err != nil {
			return nil, err
		}
		newest = slices.DeleteFunc(newest, func(r Release) bool { return r.Application != application })
	}
	slices.SortFunc(newest, func(a, b Release) int { return int(a.ApplicationID - b.ApplicationID) })
	var uses []use
	for _, r := range newest {
		images, err := tx.ImagesOf(ctx, r.ApplicationID)
		if err != nil {
			return nil, fmt.Errorf("read which images %s uses: %w", r.Application, err)
		}
		if u := (use{r, images}); slices.ContainsFunc(repositories, u.of) {
			uses = append(uses, u)
		}
	}
	for i, a := range b.Artifacts {
		if !slices.ContainsFunc(uses, func(u use) bool { return u.of(a.Repository) }) {
			return nil, s.unusedArtifact(application, i, a)
		}
	}
	return uses, nil
}

func (s *Service) unusedArtifact(application string, i int, a BuildArtifact) error {
	field := fmt.Sprintf("artifacts[%d].repository", i)
	if application == "" {
		return invalid("unknown-application", field,
			"no application's manifests use %s: check the name, or add the application to the config repository first", a.Repository)
	}
	return invalid("unknown-artifact", field, "the manifests of %s do not use %s: check the repository's name", application, a.Repository)
}

func (r Release) uses(repository string) bool {
	return slices.ContainsFunc(r.Artifacts, func(a Artifact) bool { return a.Repository == repository })
}

// completeRelease makes the release that this build completes, if it does.
func (s *Service) completeRelease(ctx context.Context, tx Tx, by Actor, b Build, u use) error {
	newest := u.newest
	if err := tx.LockApplication(ctx, newest.ApplicationID); err != nil {
		return err
	}
	posted, missing, err := postedTogether(ctx, tx, b, u.of)
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
		Origin: FromBuild, BuildID: b.ID, Artifacts: assemble(base, posted, u), CreatedAt: b.PostedAt}
	r, err = s.storeRelease(ctx, tx, by, r, b)
	if err != nil {
		return err
	}
	if r.Number < base.Number {
		return nil // digests from before, posted again: nothing goes back by itself
	}
	return s.startAutomatic(ctx, tx, r, Target{}, b.ID)
}

// posts tells whether a repository's image is among the build's.
func (b Build) posts(repository string) bool {
	return slices.ContainsFunc(b.Artifacts, func(a BuildArtifact) bool { return a.Repository == repository })
}

// postedTogether collects the images of the build's group so far and names those that it still waits for. A build without a
// group stands alone. Of a group that several applications share, only builds with an image that is used count.
func postedTogether(ctx context.Context, known Reader, b Build, used func(repository string) bool) (posted map[string]Artifact, missing []string, err error) {
	builds := []Build{b}
	if b.Group != "" {
		if builds, err = known.BuildsOfGroup(ctx, b.Group); err != nil {
			return nil, nil, err
		}
	}
	posted = map[string]Artifact{}
	var expects []string
	for _, g := range builds {
		if !slices.ContainsFunc(g.Artifacts, func(a BuildArtifact) bool { return used(a.Repository) }) {
			continue
		}
		expects = append(expects, g.GroupExpects...)
		for _, a := range g.Artifacts {
			posted[a.Repository] = Artifact{Repository: a.Repository, Digest: a.Digest, BuildID: g.ID}
		}
	}
	return posted, missingNames(expects, posted), nil
}

// missingNames lists the expected images not posted yet. An expected name is a
// repository or its last part.
func missingNames(expects []string, posted map[string]Artifact) []string {
	var missing []string
	for _, name := range expects {
		found := false
		for repository := range posted {
			found = found || repository == name || path.Base(repository) == name
		}
		if !found && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// assemble completes a set: what was posted, and the rest of what the application still uses carried forward.
func assemble(base Release, posted map[string]Artifact, u use) []Artifact {
	artifacts := make([]Artifact, 0, len(base.Artifacts))
	for _, a := range posted {
		if u.of(a.Repository) && !base.uses(a.Repository) {
			a.Name = path.Base(a.Repository)
			artifacts = append(artifacts, a)
		}
	}
	for _, old := range base.Artifacts {
		if a, ok := posted[old.Repository]; ok {
			a.Name = old.Name
			artifacts = append(artifacts, a)
			continue
		}
		if len(u.images) > 0 && !slices.Contains(u.images, old.Repository) {
			continue // main does not use it any more
		}
		if old.CarriedFrom == 0 {
			old.CarriedFrom = base.ID
		}
		artifacts = append(artifacts, old)
	}
	slices.SortFunc(artifacts, func(a, b Artifact) int { return strings.Compare(a.Name, b.Name) })
	return artifacts
}

// storeRelease stores a new release, or names an earlier one with the same digests by another version.
func (s *Service) storeRelease(ctx context.Context, tx Tx, by Actor, r Release, b Build) (Release, error) {
	key := artifactsKey(r.Artifacts)
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

// rebuilds tells whether a version was posted again with another digest of the same image. Another image of the version,
// posted by another CI job, is no rebuild.
func rebuilds(r, earlier Release) bool {
	for _, a := range r.Artifacts {
		for _, old := range earlier.Artifacts {
			if a.CarriedFrom == 0 && old.CarriedFrom == 0 && a.Repository == old.Repository && a.Digest != old.Digest {
				return true
			}
		}
	}
	return false
}

func (s *Service) releaseEvent(ctx context.Context, by Actor, r Release, action, message string) AuditEvent {
	e := s.event(ctx, by, action, message)
	e.Object, e.Application, e.ReleaseID = fmt.Sprintf("release/%d", r.ID), r.Application, r.ID
	return e
}

// startAutomatic starts the promotions that policy starts by itself: to the first environments when a release is complete, to
// those after an environment when it is verified there. A target that is held, or busy with a promotion the release does not
// supersede, is left alone, and that is recorded.
func (s *Service) startAutomatic(ctx context.Context, tx Tx, r Release, verified Target, buildID int64) error {
	targets, err := tx.TargetsOf(ctx, r.ApplicationID)
	if err != nil {
		return err
	}
	for _, t := range targets {
		policy, err := s.rulesOf(ctx, tx, t.Repository)
		if err != nil && !isRefusal(err) {
			return err
		}
		if err != nil || !policy.rules.For(t).AutomaticPromotion {
			continue // without a policy nothing goes by itself
		}
		upstream := UpstreamOf(t, targets)
		follows := slices.ContainsFunc(upstream, func(u Target) bool { return u.ID == verified.ID })
		if verified.ID == 0 && len(upstream) > 0 || verified.ID != 0 && !follows {
			continue
		}
		p := Promotion{Target: t, Release: r, Kind: KindRelease, RequestedBy: Sluice().Name, RequestedAt: s.Now(),
			Reason: "by policy: every new release goes to " + t.Environment, StartedByBuild: buildID}
		if verified.ID != 0 {
			p.Reason = fmt.Sprintf("by policy: what is verified in %s goes to %s", verified.Environment, t.Environment)
		}
		var refusal *Error
		err = s.startUnlessHeld(ctx, tx, p)
		if errors.As(err, &refusal) {
			e := s.releaseEvent(ctx, Sluice(), r, "promotion.not-started", "not promoted by itself: "+refusal.Message)
			e.Environment = t.Environment
			err = tx.Audit(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) startUnlessHeld(ctx context.Context, tx Tx, p Promotion) error {
	holds, err := tx.HoldsOf(ctx, p.Target.ID)
	if err != nil {
		return err
	}
	if len(holds) > 0 {
		return conflict("held", "%s held by %s: %s", holds[0].what(), holds[0].HeldBy, holds[0].Reason)
	}
	_, err = s.start(ctx, tx, Sluice(), p)
	return err
}
