package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/promotion"
)

func (m *Mirror) commit(sha string) (*object.Commit, error) {
	if !plumbing.IsHash(sha) {
		return nil, fmt.Errorf("%q is no commit: %w", sha, promotion.ErrNotFound)
	}
	c, err := object.GetCommit(m.objects(), plumbing.NewHash(sha))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fmt.Errorf("commit %s is not in %s: %w", sha, m.Name, promotion.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("read commit %s of %s: %w", sha, m.Name, err)
	}
	return c, nil
}

// Tree implements promotion.ConfigRepository.
func (m *Mirror) Tree(_ context.Context, commit string) (fs.FS, error) {
	c, err := m.commit(commit)
	if err != nil {
		return nil, err
	}
	return gittree.New(m.objects(), c.TreeHash), nil
}

// Commits implements promotion.ConfigRepository.
func (m *Mirror) Commits(ctx context.Context, after, until string, limit int) ([]promotion.Commit, error) {
	last, err := m.commit(until)
	if err != nil {
		return nil, err
	}
	var commits []promotion.Commit
	err = gittree.FirstParents(m.objects(), last.Hash, func(c *object.Commit) (bool, error) {
		if c.Hash.String() == after || after == "" && len(commits) == limit {
			return false, nil
		}
		described, err := m.describe(c)
		commits = append(commits, described)
		return ctx.Err() == nil, err
	})
	slices.Reverse(commits)
	return commits, errors.Join(err, ctx.Err())
}

func (m *Mirror) describe(c *object.Commit) (promotion.Commit, error) {
	d := promotion.Commit{SHA: c.Hash.String(), Author: fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email),
		Message: strings.TrimSpace(c.Message), When: c.Committer.When}
	var before plumbing.Hash
	if len(c.ParentHashes) > 0 {
		d.Parent = c.ParentHashes[0].String()
		parent, err := m.commit(d.Parent)
		if err != nil {
			return d, err
		}
		before = parent.TreeHash
	}
	var err error
	d.Changed, err = gittree.Changed(m.objects(), before, c.TreeHash)
	return d, err
}

// Contains implements promotion.ConfigRepository.
func (m *Mirror) Contains(_ context.Context, descendant, ancestor string) (bool, error) {
	if descendant == ancestor {
		return true, nil
	}
	d, err := m.commit(descendant)
	if err != nil {
		return false, err
	}
	a, err := m.commit(ancestor)
	if err != nil {
		return false, err
	}
	return gittree.Contains(m.objects(), d.Hash, a.Hash)
}

// Merged implements promotion.ConfigRepository.
func (m *Mirror) Merged(_ context.Context, base, head string) (fs.FS, error) {
	b, err := m.commit(base)
	if err != nil {
		return nil, err
	}
	h, err := m.commit(head)
	if err != nil {
		return nil, err
	}
	fork, related, err := gittree.MergeBase(m.objects(), b.Hash, h.Hash)
	if err != nil {
		return nil, fmt.Errorf("find where %s left %s: %w", head, base, err)
	}
	if !related {
		return nil, fmt.Errorf("%s and %s have no common history: %w", head, base, promotion.ErrConflict)
	}
	from, err := m.commit(fork.String())
	if err != nil {
		return nil, err
	}
	tree, conflicts, err := gittree.Merge(m.objects(), from.TreeHash, b.TreeHash, h.TreeHash)
	if err != nil {
		return nil, fmt.Errorf("merge %s into %s: %w", head, base, err)
	}
	if len(conflicts) > 0 {
		return nil, fmt.Errorf("%s changed on both sides: %w", strings.Join(conflicts, ", "), promotion.ErrConflict)
	}
	return gittree.New(m.objects(), tree), nil
}

// Branch implements promotion.ConfigRepository.
func (m *Mirror) Branch(_ context.Context, name string) (string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return text(m.refs[plumbing.NewBranchReferenceName(name)]), nil
}
