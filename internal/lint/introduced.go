package lint

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/sluicehq/sluice/internal/manifest"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Linter implements promotion.Linter.
type Linter struct {
	Now func() time.Time
}

var _ promotion.Linter = Linter{}

// Introduced implements promotion.Linter. It reads the application's folder and renders the one target, so that its cost does
// not follow the size of the repository; findings between targets are for `sluice lint`.
func (l Linter) Introduced(ctx context.Context, before, after fs.FS, t promotion.Target, policy promotion.Rules) ([]string, error) {
	found := make([][]Finding, 2)
	for i, tree := range []fs.FS{before, after} {
		in := Input{Tree: tree, Only: []string{path.Dir(path.Dir(t.Path))}, Policy: policy, Now: l.Now,
			Targets: []manifest.Target{{Application: t.Application, Environment: t.Environment, Path: t.Path, Layout: manifest.Layout(t.Layout)}}}
		var err error
		if found[i], err = Run(ctx, in); err != nil {
			return nil, fmt.Errorf("lint %s: %w", t.Path, err)
		}
	}
	var sentences []string
	for _, f := range New(found[0], found[1]) {
		if !f.Suppressed {
			sentences = append(sentences, strings.TrimSpace(fmt.Sprintf("%s (%s:%d): %s %s", f.Code, f.File, f.Line, f.Message, f.Mend)))
		}
	}
	return sentences, nil
}
