package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport/client"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Propose implements promotion.ConfigRepository.
func (m *Mirror) Propose(ctx context.Context, p promotion.Proposal) (string, error) {
	commit, written, err := m.write(p)
	if err != nil {
		return "", fmt.Errorf("write the change on %s: %w", p.Base, err)
	}
	ref := plumbing.NewBranchReferenceName(p.Branch)
	if err := m.push(ctx, ref, plumbing.NewHash(p.Expected), commit, written); err != nil {
		return "", fmt.Errorf("push %s to %s: %w", p.Branch, m.Name, err)
	}
	return commit.String(), nil
}

// write stores the commit and returns every object that the remote may lack.
func (m *Mirror) write(p promotion.Proposal) (plumbing.Hash, []plumbing.Hash, error) {
	base, err := m.commit(p.Base)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	tree, written, err := gittree.Write(m.objects(), base.TreeHash, p.Files, nil)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	by := object.Signature{Name: p.Author.Name, Email: p.Author.Email, When: p.Author.When.UTC()}
	commit, err := gittree.Commit(m.objects(), &object.Commit{Author: by, Committer: by, Message: p.Message,
		TreeHash: tree, ParentHashes: []plumbing.Hash{base.Hash}})
	return commit, append(written, commit), err
}

// DeleteBranch implements promotion.ConfigRepository.
func (m *Mirror) DeleteBranch(ctx context.Context, name, expected string) error {
	err := m.push(ctx, plumbing.NewBranchReferenceName(name), plumbing.NewHash(expected), plumbing.ZeroHash, nil)
	if err != nil {
		return fmt.Errorf("delete branch %s of %s: %w", name, m.Name, err)
	}
	return nil
}

// push moves one ref of the remote from old to new, which git checks under its
// lock, and sends the written objects and no others. go-git's own Push
// walks everything reachable and has no compare-and-swap for new branches.
func (m *Mirror) push(ctx context.Context, ref plumbing.ReferenceName, old, new plumbing.Hash, written []plumbing.Hash) error {
	auth, scrub, err := m.credentials(ctx)
	if err != nil {
		return err
	}
	c, err := client.NewClient(m.endpoint)
	if err != nil {
		return scrub(err)
	}
	session, err := c.NewReceivePackSession(m.endpoint, auth)
	if err != nil {
		return scrub(err)
	}
	defer session.Close()
	remote, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return scrub(err)
	}
	switch now := remote.References[ref.String()]; now {
	case new: // done before, by this very proposal; for a deletion: gone already
		m.moved(ref, new)
		return nil
	case old:
	default:
		return fmt.Errorf("%s is at %s: %w", ref.Short(), now, promotion.ErrRefMoved)
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(remote.Capabilities)
	request.Commands = []*packp.Command{{Name: ref, Old: old, New: new}}
	if len(written) > 0 {
		if request.Packfile, err = m.pack(written); err != nil {
			return err
		}
	}
	report, err := session.ReceivePack(ctx, request)
	if err == nil && report != nil {
		err = report.Error()
	}
	if err != nil {
		return m.lostRace(ctx, ref, old, scrub(err))
	}
	m.moved(ref, new)
	return nil
}

// lostRace tells a lost race from other refusals by looking at the ref again.
func (m *Mirror) lostRace(ctx context.Context, ref plumbing.ReferenceName, old plumbing.Hash, refusal error) error {
	refs, err := m.advertised(ctx)
	if err == nil && refs[ref] != old {
		return fmt.Errorf("%s is at %s: %w", ref.Short(), refs[ref], promotion.ErrRefMoved)
	}
	return refusal
}

func (m *Mirror) pack(objects []plumbing.Hash) (io.ReadCloser, error) {
	var out bytes.Buffer
	if _, err := packfile.NewEncoder(&out, m.objects(), false).Encode(objects, 0); err != nil {
		return nil, fmt.Errorf("pack %d objects: %w", len(objects), err)
	}
	return io.NopCloser(&out), nil
}

// moved remembers what a push did, so that no fetch is needed to know it.
func (m *Mirror) moved(ref plumbing.ReferenceName, to plumbing.Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if to.IsZero() {
		delete(m.refs, ref)
	} else {
		m.refs[ref] = to
	}
}
