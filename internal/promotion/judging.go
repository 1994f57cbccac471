package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"time"
)

// judging is one look at one pull request.
type judging struct {
	*Service
	name     string // of the config repository
	site     Site
	main     string
	rules    compiled
	pr       PullRequest
	own      Promotion // whose pull request it is; zero for a person's
	freezes  []Freeze
	affected []Target
	problem  string // why it cannot be judged
}

func (j *judging) run(ctx context.Context) (err error) {
	if j.own, err = promotionOf(ctx, j.Store, "refs/heads/"+j.pr.Branch); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if j.own.ID != 0 && !j.own.changesOthers() {
		return nil // it changes the one target that it is for
	}
	if there, err := fetchHead(ctx, j.site.Repository, j.pr); err != nil || !there {
		return err // where it has moved to the next look sees
	}
	head := j.pr.HeadSHA
	if err := j.judge(ctx, head); err != nil {
		return err
	}
	gated := j.gated()
	if len(gated) == 0 && j.own.ID == 0 {
		if err := j.site.Host.SetStatus(ctx, head, j.status()); err != nil {
			return fmt.Errorf("set status %s on %s: %w", StatusContext, short(head), err)
		}
	}
	return j.Store.Tx(ctx, func(tx Tx) error { return j.save(ctx, tx, gated) })
}

// judge finds which targets merging the pull request would change.
func (j *judging) judge(ctx context.Context, head string) error {
	before, err := j.site.Repository.Tree(ctx, j.main)
	if err != nil {
		return err
	}
	after, changed, err := j.site.Repository.Merged(ctx, j.main, head)
	if errors.Is(err, ErrConflict) {
		j.problem = "it conflicts with main: rebase it"
		return nil
	} else if err != nil {
		return err
	}
	if j.affected, err = j.changedBetween(ctx, j.name, before, after, changed, j.own.Target.ID); err != nil {
		return err
	}
	if touchesPolicy(changed) {
		return j.judgePolicy(ctx, after)
	}
	return nil
}

// judgePolicy refuses a policy that could not be read. One that can is a change of the environments that it is about: of each
// gated one, the first target that is decided otherwise stands for all.
func (j *judging) judgePolicy(ctx context.Context, after fs.FS) error {
	files, err := j.Policies.Collect(after)
	var rules Rules
	if err == nil {
		rules, err = j.Policies.Parse(files)
	}
	var faults PolicyFaults
	if errors.As(err, &faults) {
		j.problem = "it breaks the policy: " + faults[0].String()
		return nil
	} else if err != nil {
		return err
	}
	targets, err := j.Store.Targets(ctx)
	if err != nil {
		return err
	}
	targets = slices.DeleteFunc(targets, func(t Target) bool { return t.Repository != j.name })
	standing := map[string]bool{}
	stand := func(t Target) {
		if !standing[t.Environment] && !slices.ContainsFunc(j.affected, func(a Target) bool { return a.ID == t.ID }) {
			j.affected = append(j.affected, t)
		}
		standing[t.Environment] = true
	}
	for _, t := range targets {
		if !reflect.DeepEqual(j.rules.rules.For(t), rules.For(t)) {
			stand(t)
		}
	}
	if len(standing) == 0 && len(targets) > 0 { // windows, roots or ranks may be another: the last environments are asked
		last := slices.MaxFunc(targets, func(a, b Target) int { return a.Rank - b.Rank }).Rank
		for _, t := range targets {
			if t.Rank == last {
				stand(t)
			}
		}
	}
	return nil
}

// gated are the affected targets that a merge may not simply reach.
func (j *judging) gated() []Target {
	var all []Target
	for _, t := range j.affected {
		if gated(j.rules.rules, j.freezes, t, j.Now()) {
			all = append(all, t)
		}
	}
	return all
}

// gated tells whether a change may not simply reach a target: a person merges, somebody approves, or there are times at which it may not.
func gated(rules Rules, freezes []Freeze, t Target, now time.Time) bool {
	policy := rules.For(t)
	window := WindowOf(rules, freezes, t, nil, now)
	return !policy.AutomaticMerge || policy.Approvals > 0 || !window.Open || !window.Next.IsZero()
}

func (j *judging) status() CommitStatus {
	status := CommitStatus{Context: StatusContext, State: "success", Description: j.verdict(nil), URL: j.PublicURL}
	if j.problem != "" {
		status.State = "failure"
	}
	return status
}

func (j *judging) verdict(gated []Target) string {
	switch {
	case j.problem != "":
		return j.problem
	case len(gated) > 0:
		return "changes " + paths(gated)
	case len(j.affected) > 0:
		return "changes no gated environment, only " + paths(j.affected)
	}
	return "changes nothing that any environment runs"
}

func paths(targets []Target) string {
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.Application + " in " + t.Environment
	}
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// save starts the promotions that the pull request now is, and ends those that it no longer is.
func (j *judging) save(ctx context.Context, tx Tx, gated []Target) error {
	seen := SeenPullRequest{Number: j.pr.Number, Head: j.pr.HeadSHA, Main: j.main, PolicyID: j.rules.ID, Ref: j.pr.Ref, Verdict: j.verdict(gated), SeenAt: j.Now()}
	if err := tx.SavePullRequestSeen(ctx, j.name, seen); err != nil {
		return err
	}
	known, err := tx.Changes(ctx, j.name, j.pr.Number)
	if err != nil {
		return err
	}
	newest := map[int64]Promotion{}
	for _, p := range slices.Backward(known) { // newest first
		newest[p.Target.ID] = p
	}
	for _, t := range gated {
		p := newest[t.ID]
		delete(newest, t.ID)
		switch {
		case p.ID != 0 && p.Open():
			err = tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: p.ID})
		case p.Decision == Rejected && p.HeadSHA == j.pr.HeadSHA:
			continue // until somebody changes it
		default:
			err = j.start(ctx, tx, t)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range newest {
		if p.Open() && j.problem == "" && p.ID != j.own.ID {
			if err := j.drop(ctx, tx, p); err != nil {
				return err
			}
		}
	}
	if j.own.ID != 0 {
		return tx.Enqueue(ctx, Work{Kind: WorkAdvance, PromotionID: j.own.ID})
	}
	return nil
}

func (j *judging) start(ctx context.Context, tx Tx, t Target) error {
	p := Promotion{Target: t, Kind: KindChange, RequestedAt: j.Now(), Reason: j.pr.Title, Decision: Requested,
		RequestedBy: j.personOf(j.name, j.pr.Author).Name, // so that their own approval does not count
		PullRequest: PullRequestOpen, Branch: j.pr.Branch, Number: j.pr.Number, URL: j.pr.URL}
	if j.own.ID != 0 {
		p.RequestedBy, p.Reason = j.own.RequestedBy, j.own.Reason
	}
	var err error
	if p.ID, err = tx.InsertPromotion(ctx, p); err != nil {
		return fmt.Errorf("store the change of %s: %w", t.Path, err)
	}
	return j.store(ctx, tx, Actor{Name: p.RequestedBy, Kind: Person}, p, "promotion.found",
		fmt.Sprintf("pull request #%d changes %s in %s", j.pr.Number, t.Application, t.Environment))
}

func (j *judging) drop(ctx context.Context, tx Tx, p Promotion) error {
	p.Decision, p.DecidedBy, p.DecidedAt = Cancelled, Sluice().Name, j.Now()
	p.DecisionReason = fmt.Sprintf("pull request #%d no longer changes %s", j.pr.Number, p.Target.Path)
	return j.store(ctx, tx, Sluice(), p, "promotion.cancelled", "cancelled: "+p.DecisionReason)
}
