package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Propose implements promotion.ConfigRepository. The commit is kept in the
// mirror once the remote has it.
func (m *Mirror) Propose(ctx context.Context, p promotion.Proposal) (string, error) {
	u, objects, err := m.write(p)
	if err == nil {
		err = m.push(ctx, u, objects)
	}
	if err != nil {
		return "", fmt.Errorf("propose %s in %s: %w", p.Branch, m.name, err)
	}
	return u.new.String(), nil
}

// DeleteBranch implements promotion.ConfigRepository.
func (m *Mirror) DeleteBranch(ctx context.Context, name, expected string) error {
	ref, err := ownRef(name)
	if err == nil {
		err = m.push(ctx, update{ref: ref, old: plumbing.NewHash(expected)}, nil)
	}
	if err != nil {
		return fmt.Errorf("delete branch %s of %s: %w", name, m.name, err)
	}
	return nil
}

// ownRef is the ref of a branch of Sluice's own: no other is ever pushed.
func ownRef(branch string) (plumbing.ReferenceName, error) {
	ref := plumbing.NewBranchReferenceName(branch)
	if !strings.HasPrefix(ref.String(), ownBranches) || ref.Validate() != nil {
		return "", fmt.Errorf("%q is no branch that Sluice may push: its branches are sluice/…", branch)
	}
	return ref, nil
}

// write makes the commit in memory, above the mirror's objects.
func (m *Mirror) write(p promotion.Proposal) (update, *scratch, error) {
	ref, err := ownRef(p.Branch)
	if err != nil {
		return update{}, nil, err
	}
	by, err := signature(p.Author)
	if err != nil {
		return update{}, nil, err
	}
	base, err := m.commit(p.Base)
	if err != nil {
		return update{}, nil, err
	}
	objects := newScratch(m.store())
	tree, written, err := gittree.Write(objects, base.TreeHash, p.Files, p.Deletes)
	if err != nil {
		return update{}, nil, fmt.Errorf("change %s: %w", p.Base, err)
	}
	commit, err := gittree.Commit(objects, &object.Commit{Author: by, Committer: by, Message: p.Message,
		TreeHash: tree, ParentHashes: []plumbing.Hash{base.Hash}})
	return update{ref: ref, old: plumbing.NewHash(p.Expected), new: commit, objects: append(written, gittree.Written{Hash: commit})}, objects, err
}

// signature refuses what would make the lines of a commit mean something else.
func signature(s promotion.Signature) (object.Signature, error) {
	if s.Name == "" || strings.ContainsAny(s.Name+s.Email, "<>\n\x00") || s.When.Unix() < 0 {
		return object.Signature{}, errors.New("its author needs a name, an email without < and >, and a time since 1970")
	}
	return object.Signature{Name: s.Name, Email: s.Email, When: s.When.UTC()}, nil
}
