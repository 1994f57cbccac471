package promotion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// historyDepth is how many commits are searched for the one that last changed a
// target when it is seen for the first time.
const historyDepth = 200

// LookAtRepository reads a config repository: which targets there are, what
// main renders for each, and which commits changed that, whoever made them. What is new
// is recorded, and unfinished promotions are looked at again. Busy is true when another
// server is at it: what it looked at may be older than what this call was to find.
func (s *Service) LookAtRepository(ctx context.Context, name string) (busy bool, err error) {
	ran, err := s.Store.Exclusively(ctx, "repository/"+name, func(ctx context.Context) error {
		return s.noteLimit(ctx, name, s.lookAtRepository(ctx, name))
	})
	return !ran && err == nil, err
}

func (s *Service) lookAtRepository(ctx context.Context, name string) error {
	site, ok := s.Sites[name]
	if !ok {
		return fmt.Errorf("config repository %q is not configured on this server", name)
	}
	known, err := s.Store.Repository(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("read the last look at %s: %w", name, err)
	}
	status := RepositoryStatus{Name: name, URL: site.URL, BaseBranch: site.BaseBranch, Head: known.Head, LookedAt: s.Now(),
		PolicyFaults: known.PolicyFaults, EngineFaults: known.EngineFaults, Unprotected: known.Unprotected}
	head, err := site.Repository.Fetch(ctx)
	if err != nil || head == "" {
		status.Problem = problem(err, "the repository has no commits on "+site.BaseBranch)
		return errors.Join(err, s.Store.Tx(ctx, func(tx Tx) error { return tx.SaveRepository(ctx, status) }))
	}
	status.Head, status.Unprotected = head, unprotected(ctx, site)
	if head == known.Head {
		if err := s.Store.Tx(ctx, func(tx Tx) error { return tx.SaveRepository(ctx, status) }); err != nil {
			return err
		}
		return s.lookAround(ctx, name, site, head)
	}
	status.PolicyFaults = nil
	v := &visit{Service: s, site: site, status: status, faults: known.PolicyFaults}
	if err := v.read(ctx, known.Head); err != nil {
		return fmt.Errorf("read config repository %s at %s: %w", name, short(head), err)
	}
	if err := s.Store.Tx(ctx, func(tx Tx) error { return v.save(ctx, tx) }); err != nil {
		return fmt.Errorf("record config repository %s at %s: %w", name, short(head), err)
	}
	return s.lookAround(ctx, name, site, head)
}

// lookAround looks at what is new although main may be where it was.
func (s *Service) lookAround(ctx context.Context, name string, site Site, head string) error {
	return errors.Join(s.lookAtPullRequests(ctx, name, site, head), s.findPushes(ctx, name))
}

func problem(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}

// visit is one reading of a config repository.
type visit struct {
	*Service
	site    Site
	status  RepositoryStatus
	tree    fs.FS
	rules   Rules        // of main, or the ones before when main's cannot be read
	policy  PolicyFiles  // of main
	faults  PolicyFaults // of the visit before
	found   []Target     // by path, without ids
	commits []Commit     // since the last visit, oldest first
	fresh   bool         // nothing was known before, or main was forced elsewhere
	known   map[string]Target
	past    map[string][]Commit // of targets not known before, by path
	seen    map[string][]sight  // what the commits render, by the target's path
}

func (v *visit) read(ctx context.Context, since string) (err error) {
	repo := v.site.Repository
	if v.tree, err = repo.Tree(ctx, v.status.Head); err != nil {
		return err
	}
	if err := v.readPolicy(ctx); err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	found, err := v.Manifests.Discover(v.tree, v.rules.Layout())
	if err != nil {
		return fmt.Errorf("find applications: %w", err)
	}
	for _, f := range found {
		v.found = append(v.found, Target{Application: f.Application, Repository: v.status.Name, Environment: f.Environment, Rank: f.Rank,
			Path: f.Path, Layout: f.Layout})
	}
	if since != "" {
		if holds, err := repo.Contains(ctx, v.status.Head, since); err != nil || !holds {
			since = "" // main was forced elsewhere: read it anew
		}
	}
	if v.commits, err = repo.Commits(ctx, since, v.status.Head, historyDepth); err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	// What was looked at last may be main's ancestor by another parent than the first: then all of main's history is listed.
	v.fresh = since == "" || len(v.commits) > 0 && v.commits[0].Parent != since
	targets, err := v.Store.Targets(ctx)
	if err != nil {
		return err
	}
	v.known = map[string]Target{}
	for _, t := range targets {
		if t.Repository == v.status.Name {
			v.known[t.Path] = t
		}
	}
	if err := v.readEngine(); err != nil {
		return fmt.Errorf("read what deploys it: %w", err)
	}
	if err := v.readPast(ctx); err != nil {
		return fmt.Errorf("read the past: %w", err)
	}
	return v.renderAll(ctx)
}

// readEngine reads the GitOps engine's own files on main. That reads every file, so a change of nothing but the folders of targets, as
// promotions make it, leaves what was found before.
func (v *visit) readEngine() (err error) {
	ofTargets := func(file string) bool {
		for at := path.Dir(file); at != "."; at = path.Dir(at) {
			if _, known := v.known[at]; known {
				return true
			}
		}
		return false
	}
	elsewhere := func(c Commit) bool {
		return slices.ContainsFunc(c.Changed, func(file string) bool { return !ofTargets(file) })
	}
	if v.fresh || v.status.EngineFaults == nil || slices.ContainsFunc(v.commits, elsewhere) {
		v.status.EngineFaults, err = v.Engine.Faults(v.tree, v.site.URL, v.site.BaseBranch)
	}
	return err
}

func (v *visit) save(ctx context.Context, tx Tx) error {
	if err := tx.SaveRepository(ctx, v.status); err != nil {
		return err
	}
	if err := v.savePolicy(ctx, tx); err != nil {
		return fmt.Errorf("the policy: %w", err)
	}
	var present []int64
	for _, t := range v.found {
		t, err := v.saveTarget(ctx, tx, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Path, err)
		}
		present = append(present, t.ID)
	}
	if err := v.auditRemoved(ctx, tx); err != nil {
		return err
	}
	if err := tx.RemoveTargetsExcept(ctx, v.status.Name, present, v.status.LookedAt); err != nil {
		return err
	}
	unfinished, err := v.Store.Unfinished(ctx, v.status.Name)
	if err != nil {
		return err
	}
	return advanceEach(ctx, tx, unfinished)
}

func (v *visit) saveTarget(ctx context.Context, tx Tx, t Target) (_ Target, err error) {
	if t.ApplicationID, err = tx.SaveApplication(ctx, v.status.Name, t.Application, v.status.LookedAt); err != nil {
		return t, err
	}
	before, known := v.known[t.Path]
	seen, looked := v.seen[t.Path]
	t.RenderProblem = before.RenderProblem
	if looked {
		t.RenderProblem = ""
		if _, err := v.Manifests.Render(v.tree, t.Path); err != nil {
			t.RenderProblem = err.Error()
		}
	}
	if t.ID, err = tx.SaveTarget(ctx, t, v.status.LookedAt); err != nil {
		return t, err
	}
	if !known {
		e := v.event(ctx, Sluice(), "target.found", fmt.Sprintf("%s found at %s", t.Path, short(v.status.Head)))
		e.Object, e.Application, e.Environment = "target/"+t.Path, t.Application, t.Environment
		if err := tx.Audit(ctx, e); err != nil {
			return t, err
		}
	}
	for _, sight := range seen {
		if err := v.saveRevision(ctx, tx, t, sight); err != nil {
			return t, err
		}
	}
	return t, nil
}

// touching lists the commits that can have changed what a target renders, oldest first: those
// that touch its application's folder, or anything that belongs to no application. Of a target not
// known before it is its past, as far as it is imported; of one whose history was forced elsewhere the newest such commit.
func (v *visit) touching(t Target) []Commit {
	if _, known := v.known[t.Path]; !known {
		return v.past[t.Path]
	}
	var touching []Commit
	for _, c := range v.commits {
		if mayChange(t, v.found, c.Changed) {
			touching = append(touching, c)
		}
	}
	if !v.fresh {
		return touching
	}
	if len(touching) == 0 {
		touching = v.commits
	}
	return touching[max(0, len(touching)-1):]
}

// auditRemoved tells of targets that main no longer has.
func (v *visit) auditRemoved(ctx context.Context, tx Tx) error {
	for name, t := range v.known {
		if slices.ContainsFunc(v.found, func(t Target) bool { return t.Path == name }) {
			continue
		}
		e := v.event(ctx, Sluice(), "target.removed", fmt.Sprintf("%s is gone at %s", name, short(v.status.Head)))
		e.Object, e.Application, e.Environment = "target/"+name, t.Application, t.Environment
		if err := tx.Audit(ctx, e); err != nil {
			return err
		}
	}
	return nil
}
