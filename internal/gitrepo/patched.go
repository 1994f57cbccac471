package gitrepo

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/sluicehq/sluice/internal/gittree"
)

// Patched implements promotion.ConfigRepository: in memory, above the mirror's objects.
func (m *Mirror) Patched(_ context.Context, commit string, files map[string][]byte, deletes []string) (fs.FS, error) {
	base, err := m.commit(commit)
	if err != nil {
		return nil, err
	}
	objects := newScratch(m.store())
	tree, _, err := gittree.Write(objects, base.TreeHash, files, deletes)
	if err != nil {
		return nil, fmt.Errorf("change %s: %w", commit, err)
	}
	return gittree.New(objects, tree), nil
}
