package promotion

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// PromoteRequest asks for a release in an environment.
type PromoteRequest struct {
	Application, Environment string
	Release                  string // its id, or a version of the application
	Reason                   string
	Hotfix                   bool     // past the environments before it; needs a reason
	With                     []string // further environments of the application that the same pull request gives the release to
}

// Promote starts a promotion. Asking again for what is under way returns it.
func (s *Service) Promote(ctx context.Context, by Actor, r PromoteRequest) (Promotion, error) {
	if err := allow(by, "promote", RoleReleaseManager, RoleAdmin); err != nil {
		return Promotion{}, err
	}
	t, err := s.targetNamed(ctx, r.Application, r.Environment)
	if err != nil {
		return Promotion{}, err
	}
	release, err := s.findRelease(ctx, r)
	if err != nil {
		return Promotion{}, err
	}
	policy, err := s.PolicyFor(ctx, t)
	if err != nil {
		return Promotion{}, err
	}
	if policy.ReasonRequired && strings.TrimSpace(r.Reason) == "" {
		return Promotion{}, invalid("missing-reason", "reason", "say why: %s asks everyone for a reason or a ticket", t.Environment)
	}
	if err := refuseHotfix(r); err != nil {
		return Promotion{}, err
	}
	with, err := s.companions(ctx, t, r.With)
	if err != nil {
		return Promotion{}, err
	}
	return s.begin(ctx, by, Promotion{Target: t, Release: release, Kind: KindRelease, Hotfix: r.Hotfix, With: with, RequestedBy: by.Name, RequestedAt: s.Now(), Reason: r.Reason})
}

// begin starts a promotion that somebody asked for.
func (s *Service) begin(ctx context.Context, by Actor, p Promotion) (Promotion, error) {
	err := s.Store.Tx(ctx, func(tx Tx) (err error) {
		if err := tx.LockApplication(ctx, p.Target.ApplicationID); err != nil {
			return err
		}
		if p.Kind == KindChange {
			p.ID, err = s.startAdopting(ctx, tx, by, p)
			return err
		}
		p.ID, err = s.start(ctx, tx, by, p)
		return err
	})
	if err != nil {
		return Promotion{}, err
	}
	s.passed("request:recorded")
	return s.Store.Promotion(ctx, p.ID)
}

func (s *Service) findRelease(ctx context.Context, r PromoteRequest) (release Release, err error) {
	if r.Release == "" {
		return release, invalid("missing-release", "release", "say which release of %s to promote: its id or its version", r.Application)
	}
	if r.Application == "" {
		return release, invalid("missing-application", "application", "say whose release %s is", r.Release)
	}
	release, err = s.Store.ReleaseVersion(ctx, r.Application, r.Release)
	if id, parseErr := strconv.ParseInt(r.Release, 10, 64); parseErr == nil {
		// A number is an id; a version may be all digits too.
		if byID, idErr := s.Store.Release(ctx, id); idErr == nil && byID.Application == r.Application {
			if err == nil && release.ID != byID.ID {
				return release, invalid("ambiguous-release", "release", "%s is the id of release %d (%s) and the version of release %d: say %d for the first, or %d for the second",
					r.Release, byID.Number, byID.Version, release.Number, byID.ID, release.ID)
			}
			return byID, nil
		} else if idErr != nil && !errors.Is(idErr, ErrNotFound) {
			return release, idErr
		}
	}
	if errors.Is(err, ErrNotFound) {
		return release, invalid("unknown-release", "release", "%s has no release %s", r.Application, r.Release)
	}
	return release, err
}

// start stores a promotion under the application's lock. One of the target's open promotions is
// returned when it carries the same release. Where the policy has queues the new one waits behind them; otherwise they are
// superseded when the rules allow it, and refuse the new one when not.
func (s *Service) start(ctx context.Context, tx Tx, by Actor, p Promotion) (int64, error) {
	if err := refuseRejected(ctx, tx, p.Release); err != nil {
		return 0, err
	}
	open, err := lockOpen(ctx, tx, p.Target.ID)
	if err != nil {
		return 0, err
	}
	for _, o := range open {
		if o.sameContent(p) && o.Hotfix == p.Hotfix {
			return o.ID, nil
		}
	}
	if err := s.refuseCurrent(ctx, tx, p); err != nil {
		return 0, err
	}
	if err := refuseTogether(ctx, tx, p); err != nil {
		return 0, err
	}
	if err := refuseOwnLine(ctx, tx, p); err != nil {
		return 0, err
	}
	replaced, err := s.makeRoom(ctx, tx, by, open, &p)
	if err != nil {
		return 0, err
	}
	p.Decision, p.PullRequest = Requested, PullRequestNone
	if p.ID, err = tx.InsertPromotion(ctx, p); err != nil {
		return 0, fmt.Errorf("store promotion to %s: %w", p.Target.Path, err)
	}
	if err := s.holdForRollback(ctx, tx, by, p); err != nil {
		return 0, err
	}
	for _, o := range replaced {
		o.SupersededBy = p.ID
		if err := tx.SavePromotion(ctx, o); err != nil {
			return 0, err
		}
		if err := s.endHoldOf(ctx, tx, o); err != nil {
			return 0, err
		}
	}
	message := fmt.Sprintf("release %d (%s) of %s requested for %s", p.Release.Number, p.Release.Version, p.Target.Application, p.Target.Environment)
	if len(p.With) > 0 {
		message += ", in the same commit with " + strings.Join(p.With, ", ")
	}
	if p.Behind != 0 {
		message += fmt.Sprintf(", in the queue behind promotion %d", p.Behind)
	}
	if p.Hotfix {
		message += ", as a hotfix past the environments before it: " + p.Reason
	}
	switch {
	case p.Restore.Revert:
		message += ", which undoes commit " + short(p.Restore.Commit)
	case p.Restore.Commit != "":
		message += ", with its configuration as of commit " + short(p.Restore.Commit)
	}
	if p.Adopt.Cause != "" {
		message += ". It makes Git say what runs: " + p.Adopt.Cause
	}
	if err := tx.Audit(ctx, s.promotionEvent(ctx, by, p, "promotion.requested", message)); err != nil {
		return 0, err
	}
	return p.ID, tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: p.ID})
}

// supersede ends an open promotion for another one.
func (s *Service) supersede(ctx context.Context, tx Tx, by Actor, open *Promotion, p Promotion) (err error) {
	open.Decision, open.DecidedBy, open.DecidedAt = Superseded, by.Name, s.Now()
	open.DecisionReason = fmt.Sprintf("release %d (%s) is newer", p.Release.Number, p.Release.Version)
	if p.Kind == KindRollback {
		if open.DecisionReason, err = givesWay(ctx, tx, *open, p); err != nil {
			return err
		}
	}
	return s.store(ctx, tx, by, *open, "promotion.superseded", "superseded: "+open.DecisionReason)
}

func refuseRejected(ctx context.Context, tx Tx, r Release) error {
	now, err := tx.Release(ctx, r.ID)
	if err == nil && now.RejectedBy != "" {
		err = conflict("rejected-release", "%s rejected release %d (%s): %s. Somebody has to reopen it first.", now.RejectedBy, now.Number, now.Version, now.Rejection)
	}
	return err
}

func (s *Service) refuseCurrent(ctx context.Context, tx Tx, p Promotion) error {
	if err := refuseUnseen(ctx, tx, p); err != nil {
		return err
	}
	current, err := tx.LatestRevision(ctx, p.Target.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err == nil && current.ReleaseID == p.Release.ID && p.Restore.Commit == "" {
		return conflict("already-current", "main already has release %d (%s) in %s, since commit %s: there is nothing to promote",
			p.Release.Number, p.Release.Version, p.Target.Environment, short(current.Commit.SHA))
	}
	return nil
}

// refuseUnseen: the same was merged since main was last looked at. What main is known to render is older than that merge, and
// a second promotion would take the merge for its own.
func refuseUnseen(ctx context.Context, tx Tx, p Promotion) error {
	merged, err := tx.NewestMerged(ctx, p.Target.ID, math.MaxInt64)
	if errors.Is(err, ErrNotFound) || err == nil && !merged.sameContent(p) {
		return nil
	} else if err != nil {
		return err
	}
	main, err := tx.Repository(ctx, p.Target.Repository)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if main.Problem == "" && main.LookedAt.After(merged.MergedAt) {
		return nil
	}
	return conflict("already-current", "promotion %d has just brought this to main in %s, by commit %s: there is nothing to promote",
		merged.ID, p.Target.Environment, short(merged.MergeSHA))
}

// givesWay says why an open promotion ends for a rollback, even one that was approved.
func givesWay(ctx context.Context, tx Tx, open, p Promotion) (string, error) {
	approvals, err := tx.Approvals(ctx, open.ID)
	if err != nil {
		return "", err
	}
	var by []string
	for _, a := range approvals {
		if a.Decision == "approve" && a.RenderedHash == open.RenderedHash {
			by = append(by, a.Actor)
		}
	}
	why := fmt.Sprintf("a rollback to %s goes first", p.Release.Version)
	if len(by) > 0 {
		why += ", although this was approved by " + strings.Join(distinct(by), ", ")
	}
	return why, nil
}

// refuseOpen says why an open promotion and a new one cannot both be.
func refuseOpen(open, p Promotion, why string) error {
	return conflict("promotion-open", "promotion %d is open for %s in %s with release %d (%s), and %s: finish or cancel it first",
		open.ID, p.Target.Application, p.Target.Environment, open.Release.Number, open.Release.Version, why)
}

// refuseOlder: a new promotion neither takes the place of a newer one of its line nor follows it, and not one of the same release that
// differs otherwise.
func refuseOlder(open, p Promotion) error {
	switch {
	case open.Release.Line == p.Release.Line && p.Release.Number < open.Release.Number:
		return refuseOpen(open, p, "it is the newer one")
	case open.Release.ID != p.Release.ID:
		return nil
	case open.Hotfix != p.Hotfix && open.Hotfix:
		return refuseOpen(open, p, "it is a hotfix")
	case open.Hotfix != p.Hotfix:
		return refuseOpen(open, p, "it is no hotfix")
	default:
		return refuseOpen(open, p, "together with other environments than these")
	}
}

// mayReplace: a newer release of the same line supersedes an open promotion only
// when it is verified upstream itself, and never one that is already approved.
func (s *Service) mayReplace(ctx context.Context, tx Tx, open, p Promotion) error {
	switch {
	case p.Kind == KindRollback && open.MergeAskedBy == "":
		return nil
	case open.Release.Line != p.Release.Line:
		return refuseOpen(open, p, "release lines differ ("+open.Release.Line+", "+p.Release.Line+")")
	}
	if err := refuseOlder(open, p); err != nil {
		return err
	}
	if open.MergeAskedBy != "" {
		return refuseOpen(open, p, "its merge is under way")
	}
	approvals, err := tx.Approvals(ctx, open.ID)
	if err != nil {
		return err
	}
	policy, err := s.rulesOf(ctx, tx, p.Target.Repository)
	if err != nil {
		return err
	}
	f := situation{Promotion: &open, policy: policy.rules.For(p.Target).Of(open), approvals: approvals, now: s.Now()}
	authors := make([]Actor, len(approvals))
	for i, a := range approvals {
		authors[i] = a.author()
	}
	if f.holders, err = s.holdersOf(ctx, tx, f.now, authors); err != nil {
		return err
	}
	if by, _, _ := f.approved(); len(by) > 0 {
		return refuseOpen(open, p, "it is approved")
	}
	if p.Hotfix && open.Hotfix {
		return nil // by a hotfix of the same line, which is verified nowhere before either
	}
	upstream, verified, err := verifiedUpstream(ctx, tx, p)
	if err != nil {
		return err
	}
	for _, t := range upstream {
		if verified[t.ID] == 0 {
			return refuseOpen(open, p, fmt.Sprintf("release %d is not verified in %s", p.Release.Number, t.Environment))
		}
	}
	return nil
}

// store saves a promotion with the audit event of what changed, and has it looked at again.
func (s *Service) store(ctx context.Context, tx Tx, by Actor, p Promotion, action, message string) error {
	if err := tx.SavePromotion(ctx, p); err != nil {
		return fmt.Errorf("save promotion %d: %w", p.ID, err)
	}
	e := s.promotionEvent(ctx, by, p, action, message)
	e.After = map[string]any{"state": p.State(), "decision": p.Decision, "pull_request": p.PullRequest}
	if err := tx.Audit(ctx, e); err != nil {
		return err
	}
	if p.Open() {
		return tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: p.ID})
	}
	return tx.EnqueueTarget(ctx, p.Target.ID) // who waits behind it moves up
}

// end stores that a promotion is over although it was not merged, and with it the hold of a rollback.
func (s *Service) end(ctx context.Context, tx Tx, by Actor, p Promotion, action, message string) error {
	if err := s.store(ctx, tx, by, p, action, message); err != nil {
		return err
	}
	return s.endHoldOf(ctx, tx, p)
}

// verifiedUpstream are the targets of the rank before a promotion's, and by which promotion its release is verified on each.
func verifiedUpstream(ctx context.Context, tx Tx, p Promotion) (upstream []Target, verified map[int64]int64, err error) {
	targets, err := tx.TargetsOf(ctx, p.Target.ApplicationID)
	if err != nil {
		return nil, nil, err
	}
	upstream = UpstreamOf(p.Target, targets)
	verified, err = tx.VerifiedOn(ctx, p.Release.ID, targetIDs(upstream))
	return upstream, verified, err
}
