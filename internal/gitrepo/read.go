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
	c, err := object.GetCommit(m.store(), plumbing.NewHash(sha))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fmt.Errorf("commit %s is not in %s: %w", sha, m.name, promotion.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("read commit %s of %s: %w", sha, m.name, err)
	}
	return c, nil
}

func (m *Mirror) pair(a, b string) (first, second *object.Commit, err error) {
	if first, err = m.commit(a); err == nil {
		second, err = m.commit(b)
	}
	return first, second, err
}

// noting takes down that a commit is missing in the history of one that is there:
// the next fetch makes the mirror anew.
func (m *Mirror) noting(err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		m.store().note(err)
	}
	return err
}

// Tree implements promotion.ConfigRepository.
func (m *Mirror) Tree(_ context.Context, commit string) (fs.FS, error) {
	c, err := m.commit(commit)
	if err != nil {
		return nil, err
	}
	return gittree.New(m.store(), c.TreeHash), nil
}

// Commits implements promotion.ConfigRepository. Text that is not UTF-8 is
// made so.
func (m *Mirror) Commits(ctx context.Context, after, until string, limit int) ([]promotion.Commit, error) {
	last, err := m.commit(until)
	if err != nil {
		return nil, err
	}
	listed := func(*object.Commit, int) (bool, error) { return true, nil }
	if after == "" {
		listed = func(_ *object.Commit, before int) (bool, error) { return before < limit, nil }
	} else if first, err := m.commit(after); err != nil {
		return nil, err
	} else {
		listed = func(c *object.Commit, _ int) (bool, error) {
			old, err := m.ancestry().Contains(first.Hash, c.Hash)
			return !old, err
		}
	}
	var commits []promotion.Commit
	err = gittree.FirstParents(m.store(), last.Hash, func(c *object.Commit) (bool, error) {
		if more, err := listed(c, len(commits)); err != nil || !more {
			return false, err
		}
		described, err := m.describe(c)
		commits = append(commits, described)
		return ctx.Err() == nil, err
	})
	if err := errors.Join(m.noting(err), ctx.Err()); err != nil {
		return nil, fmt.Errorf("read the history of %s: %w", m.name, err)
	}
	slices.Reverse(commits)
	return commits, nil
}

// Commit describes one commit, of whatever history the mirror has. It is
// promotion.ErrNotFound when it has no such commit.
func (m *Mirror) Commit(_ context.Context, sha string) (promotion.Commit, error) {
	c, err := m.commit(sha)
	if err != nil {
		return promotion.Commit{}, err
	}
	d, err := m.describe(c)
	if m.noting(err) != nil {
		return promotion.Commit{}, fmt.Errorf("read commit %s of %s: %w", sha, m.name, err)
	}
	return d, nil
}

// describe tells also which files a commit changed.
func (m *Mirror) describe(c *object.Commit) (promotion.Commit, error) {
	d := described(c)
	before, err := m.before(c)
	if err != nil {
		return d, err
	}
	changed, err := gittree.Changed(m.store(), before, c.TreeHash)
	for _, name := range changed {
		d.Changed = append(d.Changed, utf8(name))
	}
	return d, err
}

// described is what the commit itself says.
func described(c *object.Commit) promotion.Commit {
	d := promotion.Commit{SHA: c.Hash.String(), Author: utf8(fmt.Sprintf("%s <%s>", c.Author.Name, c.Author.Email)),
		Message: strings.TrimSpace(utf8(c.Message)), When: c.Committer.When}
	if len(c.ParentHashes) > 0 {
		d.Parent = c.ParentHashes[0].String()
	}
	return d
}

// before is the tree of a commit's first parent, zero for a root.
func (m *Mirror) before(c *object.Commit) (plumbing.Hash, error) {
	if len(c.ParentHashes) == 0 {
		return plumbing.ZeroHash, nil
	}
	parent, err := object.GetCommit(m.store(), c.ParentHashes[0])
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read the commit before %s: %w", c.Hash, err)
	}
	return parent.TreeHash, nil
}

// utf8 is text that a database takes: UTF-8 without NUL.
func utf8(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Contains implements promotion.ConfigRepository.
func (m *Mirror) Contains(_ context.Context, descendant, ancestor string) (bool, error) {
	d, a, err := m.pair(descendant, ancestor)
	if err != nil {
		return false, err
	}
	contains, err := m.ancestry().Contains(d.Hash, a.Hash)
	return contains, m.noting(err)
}

// Merged implements promotion.ConfigRepository.
func (m *Mirror) Merged(_ context.Context, base, head string) (fs.FS, []string, error) {
	b, h, err := m.pair(base, head)
	if err != nil {
		return nil, nil, err
	}
	fork, related, err := m.ancestry().MergeBase(b.Hash, h.Hash)
	if m.noting(err) != nil {
		return nil, nil, fmt.Errorf("find where %s left %s: %w", head, base, err)
	}
	if !related {
		return nil, nil, fmt.Errorf("%s and %s have no common history: %w", head, base, promotion.ErrConflict)
	}
	from, err := m.commit(fork.String())
	if err != nil {
		return nil, nil, err
	}
	objects := newScratch(m.store())
	tree, conflicts, err := gittree.Merge(objects, from.TreeHash, b.TreeHash, h.TreeHash)
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s into %s: %w", head, base, err)
	}
	if len(conflicts) > 0 {
		return nil, nil, fmt.Errorf("%s changed on both sides: %w", utf8(strings.Join(conflicts, ", ")), promotion.ErrConflict)
	}
	changed, err := gittree.Changed(objects, b.TreeHash, tree)
	if err != nil {
		return nil, nil, fmt.Errorf("compare the merge of %s with %s: %w", head, base, err)
	}
	return gittree.New(objects, tree), changed, nil
}

// Branch implements promotion.ConfigRepository. Only the base branch and
// Sluice's own are mirrored; of others nothing is known.
func (m *Mirror) Branch(_ context.Context, name string) (string, error) {
	ref := plumbing.NewBranchReferenceName(name)
	if _, err := ownRef(name); err != nil && ref != m.base {
		return "", fmt.Errorf("branch %s of %s is not mirrored: only %s and sluice/… are", name, m.name, m.base.Short())
	}
	return text(m.known()[ref]), nil
}
