package gitrepo

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
)

// broughtRefs is where the mirror keeps refs of others that were asked for. No
// branch of the remote is there.
const broughtRefs = "refs/brought/"

// broughtMost is how much one such ref may bring, in bytes of its pack: on many
// hosts anybody may open a pull request.
const broughtMost = 256 << 20

// FetchRef brings one more ref of the remote, such as refs/pull/12/head or
// refs/heads/feature, into the mirror and returns the commit it is at, empty when
// the remote has it no more. Then Tree, Commit, Contains and Merged know that
// commit, until ForgetRef or until the mirror is made anew because it was damaged:
// fetch it again before use, which costs one round trip when nothing is new. A ref
// that brings more than 256 MiB is refused. Branch knows nothing of it.
func (m *Mirror) FetchRef(ctx context.Context, ref string) (commit string, err error) {
	name, err := othersRef(ref)
	if err != nil {
		return "", fmt.Errorf("fetch from %s: %w", m.name, err)
	}
	done, err := m.turn(ctx)
	if err == nil {
		defer done()
		commit, err = m.fetchRef(ctx, name)
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s of %s: %w", ref, m.name, err)
	}
	return commit, nil
}

// ForgetRef drops a ref that FetchRef brought; one that is not there is no error.
// What only it led to may be answered for a while longer, and goes when the
// mirror is made anew.
func (m *Mirror) ForgetRef(ref string) error {
	name, err := othersRef(ref)
	if err == nil {
		err = m.bring(name, plumbing.ZeroHash)
	}
	if err != nil {
		return fmt.Errorf("forget %s of %s: %w", ref, m.name, err)
	}
	return nil
}

func othersRef(ref string) (plumbing.ReferenceName, error) {
	name := plumbing.ReferenceName(ref)
	if !strings.HasPrefix(ref, "refs/") || name.Validate() != nil {
		return "", fmt.Errorf("%q is no full name of a ref, such as refs/pull/12/head", ref)
	}
	return name, nil
}

// brought is the mirror's name of a ref of the remote.
func brought(ref plumbing.ReferenceName) plumbing.ReferenceName {
	return plumbing.ReferenceName(broughtRefs + strings.TrimPrefix(ref.String(), "refs/"))
}

// fetchRef is run by who has the turn.
func (m *Mirror) fetchRef(ctx context.Context, ref plumbing.ReferenceName) (string, error) {
	if err := m.mend(ctx); err != nil {
		return "", err
	}
	objects := m.store()
	only := func(advertised *packp.AdvRefs) (refs, error) {
		return refs{}.with(ref, advertised.References[ref.String()]), nil
	}
	now, err := m.download(ctx, objects, m.known(), only, broughtMost)
	if err != nil {
		return "", err
	}
	if err := whole(objects, now[ref]); err != nil {
		return "", fmt.Errorf("it leads to no commit that can be read: %w", err)
	}
	return text(now[ref]), m.bring(ref, now[ref])
}

func (m *Mirror) bring(ref plumbing.ReferenceName, at plumbing.Hash) error {
	if m.known()[brought(ref)] == at {
		return nil
	}
	return m.moved(brought(ref), at)
}
