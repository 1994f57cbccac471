package promotion

import (
	"context"
	"fmt"
	"time"
)

// StandingMerge is a person's wish that Sluice merges as soon as every gate passes, however long that takes. The zero value is
// nobody's. It is for the content that was promoted when they asked, as an approval is.
type StandingMerge struct {
	By           string
	Kind         ActorKind // empty when it was stored before kinds were
	At           time.Time
	Roles        []Role // when they asked
	RenderedHash string
}

// mergers are who may have Sluice merge, now or when the gates pass.
func mergers() []Role { return []Role{RoleReleaseManager, RoleApprover, RoleAdmin} }

// MergeStands tells whether Sluice merges the promotion as soon as the gates pass, because somebody asked for that.
func (p *Promotion) MergeStands() bool {
	w := p.StandingMerge
	return w.By != "" && p.Open() && p.PullRequest == PullRequestOpen && w.RenderedHash == p.RenderedHash && Actor{Roles: w.Roles}.Has(mergers()...)
}

// MergeWhenPassing has Sluice merge on the first look on which every gate passes. Rendered, when given, is the content that the person
// saw. Where somebody has asked for it already it is no error, and theirs stands.
func (s *Service) MergeWhenPassing(ctx context.Context, by Actor, id int64, rendered string) (Promotion, error) {
	if err := allow(by, "have promotions merged", mergers()...); err != nil {
		return Promotion{}, err
	}
	return s.decide(ctx, id, func(tx Tx, p Promotion) error {
		switch {
		case p.PullRequest == PullRequestMerged:
			return nil
		case !p.Open():
			return conflict("not-open", "promotion %d is %s: it cannot be merged", p.ID, p.State())
		case p.PullRequest != PullRequestOpen || p.RenderedHash == "":
			return conflict("nothing-to-merge", "promotion %d has no pull request yet: wait until it shows what would be merged", p.ID)
		case rendered != "" && rendered != p.RenderedHash:
			return conflict("content-changed", "promotion %d would now deploy something else than what you saw: read it again", p.ID)
		}
		if stands, err := s.mergeStandsStill(ctx, tx, p); err != nil || stands {
			return err
		}
		p.StandingMerge = StandingMerge{By: by.Name, Kind: by.Kind, At: s.Now(), Roles: by.Roles, RenderedHash: p.RenderedHash}
		return s.store(ctx, tx, by, p, "promotion.standing-merge-asked", by.Name+" asks to merge when the gates pass")
	})
}

// WithdrawMergeWhenPassing takes the wish back, whoever had it. Where there is none it is no error.
func (s *Service) WithdrawMergeWhenPassing(ctx context.Context, by Actor, id int64) (Promotion, error) {
	if err := allow(by, "withdraw a merge", mergers()...); err != nil {
		return Promotion{}, err
	}
	return s.decide(ctx, id, func(tx Tx, p Promotion) error {
		switch {
		case p.PullRequest == PullRequestMerged:
			return conflict("not-open", "promotion %d is merged already: promote another release, or restore what was there before", p.ID)
		case p.StandingMerge.By == "":
			return nil
		}
		whose := p.StandingMerge.By
		p.StandingMerge = StandingMerge{}
		return s.store(ctx, tx, by, p, "promotion.standing-merge-withdrawn", fmt.Sprintf("no longer merged when the gates pass, as %s asked", whose))
	})
}

// mergeStandsStill tells whether a wish stands, of somebody who may still have it.
func (s *Service) mergeStandsStill(ctx context.Context, r Reader, p Promotion) (bool, error) {
	if !p.MergeStands() {
		return false, nil
	}
	h, err := s.holdersOf(ctx, r, s.Now(), []Actor{p.StandingMerge.asker()})
	return err == nil && h.lost(p.StandingMerge.asker(), mergers()) == "", err
}

// standingMergeOver: the wish was for other content than what is promoted now, the promotion ended without a merge, or whoever had
// it may no longer have it.
func standingMergeOver(f *situation) bool {
	return f.StandingMerge.By != "" && f.PullRequest != PullRequestMerged &&
		(!f.Open() || f.StandingMerge.RenderedHash != f.RenderedHash || f.holders.lost(f.StandingMerge.asker(), mergers()) != "")
}

func (s *Service) withdrawStandingMerge(_ context.Context, f *situation) (record, error) {
	over := f.StandingMerge
	why := f.holders.lost(over.asker(), mergers())
	switch {
	case !f.Open():
		why = fmt.Sprintf("it is %s", f.State())
	case over.RenderedHash != f.RenderedHash:
		why = "it would now deploy something else"
	}
	return record{by: Sluice(), action: "promotion.standing-merge-withdrawn",
		message: fmt.Sprintf("no longer merged when the gates pass, as %s asked: %s", over.By, why),
		apply: func(p *Promotion) {
			if p.StandingMerge.At.Equal(over.At) { // not one that somebody asked for since
				p.StandingMerge = StandingMerge{}
			}
		}}, nil
}

// stillStands reads the wish again right before the merge: whoever withdrew it after the look is heard.
func (s *Service) stillStands(ctx context.Context, f *situation) (bool, error) {
	now, err := s.Store.Promotion(ctx, f.ID)
	if err != nil {
		return false, fmt.Errorf("read promotion %d again: %w", f.ID, err)
	}
	stands, err := s.mergeStandsStill(ctx, s.Store, now)
	return stands && now.StandingMerge.RenderedHash == f.RenderedHash, err
}
