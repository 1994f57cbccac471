package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sluicehq/sluice/internal/argocd"
	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Input is what is linted. Only Tree and Now are required.
type Input struct {
	Tree         fs.FS
	Only         []string // folders whose files are read; the whole tree if empty
	Targets      []manifest.Target
	Applications []argocd.Application // those of ApplicationSets too
	// RepositoryURL and Branch are what the tree is of, to know which Applications deploy from it. Without the first, every
	// Application that deploys a folder of a target's path does.
	RepositoryURL, Branch string

	Policy promotion.Rules // nil: the defaults by rank
	Now    func() time.Time

	// History is the first-parent history to look for secrets in, oldest commit first; none if nil.
	History iter.Seq2[Change, error]
}

// Run lints a repository. Findings come sorted by file, line and code, each
// once, suppressed ones included. The error is what reading the tree or the
// history returned, or the context's; an overlay that does not render is a
// finding.
func Run(ctx context.Context, in Input) ([]Finding, error) {
	files, err := readFiles(ctx, in.Tree, in.Only)
	if err != nil {
		return nil, err
	}
	r := &repository{input: in, files: files}
	if err := r.render(ctx); err != nil {
		return nil, err
	}
	if err := r.findSecrets(ctx); err != nil {
		return nil, err
	}
	suppressions, findings := readSuppressions(files, in.Now())
	for _, rule := range rules() {
		for _, f := range rule.run(r) {
			f.Code, f.Why = rule.Code, rule.Why
			if f.Level == "" {
				f.Level = rule.Level
			}
			if f.Mend == "" {
				f.Mend = rule.Mend
			}
			findings = append(findings, f)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	findings = merge(findings)
	suppressions.apply(files, findings)
	return findings, nil
}

// render renders each target once, several at a time.
func (r *repository) render(ctx context.Context) error {
	r.targets = make([]*target, len(r.input.Targets))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, found := range r.input.Targets {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			t := &target{Target: found}
			r.targets[i] = t
			rendered, err := manifest.Render(r.input.Tree, found.Path)
			t.rendered = rendered
			if err != nil && !errors.As(err, &t.refusal) {
				return fmt.Errorf("render %s: %w", found.Path, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	r.prepare()
	return nil
}
