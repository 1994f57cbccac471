package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/sluicehq/sluice/internal/gittree"
	"github.com/sluicehq/sluice/internal/promotion"
)

// update moves one ref of the remote from old to new. A zero old creates it,
// a zero new removes it; objects are those that the remote may lack.
type update struct {
	ref      plumbing.ReferenceName
	old, new plumbing.Hash
	objects  []gittree.Written
}

// push sends an update, whose old value git checks under its lock, with its
// objects and no others. go-git's own Push walks everything reachable, and
// cannot say that a new ref must not be there. What was done already is no error.
func (m *Mirror) push(ctx context.Context, u update, objects *scratch) error {
	if err := m.send(ctx, u, objects); errors.Is(err, promotion.ErrRefMoved) {
		return err
	} else if err != nil {
		// The answer may have been lost, or the race: the ref tells.
		at, unknown := m.at(ctx, u.ref)
		if unknown != nil || at == u.old {
			return err
		}
		if err := u.check(at); err != nil {
			return err
		}
	}
	if objects != nil {
		if err := objects.keep(); err != nil {
			return fmt.Errorf("keep what was pushed: %w", err)
		}
	}
	return m.moved(u.ref, u.new)
}

// check tells whether a ref is where it may be: before the update or after it.
func (u update) check(at plumbing.Hash) error {
	switch at {
	case u.old, u.new:
		return nil
	case plumbing.ZeroHash:
		return fmt.Errorf("there is no %s any more: %w", u.ref.Short(), promotion.ErrRefMoved)
	}
	return fmt.Errorf("%s is at %s: %w", u.ref.Short(), at, promotion.ErrRefMoved)
}

func (m *Mirror) send(ctx context.Context, u update, objects *scratch) error {
	// go-git leaves the answer's body open; the context closes it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session, scrub, err := m.remote.receivePack(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	remote, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return scrub(fmt.Errorf("ask for its branches: %w", err))
	}
	now := remote.References[u.ref.String()]
	if err := u.check(now); err != nil || now == u.new {
		return err
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(remote.Capabilities)
	request.Commands = []*packp.Command{{Name: u.ref, Old: u.old, New: u.new}}
	var said bytes.Buffer
	if remote.Capabilities.Supports(capability.Sideband64k) {
		_ = request.Capabilities.Set(capability.Sideband64k)
		request.Progress = &said
	}
	if len(u.objects) > 0 {
		if request.Packfile, err = pack(objects, u.objects, !remote.Capabilities.Supports(noThin)); err != nil {
			return err
		}
	}
	report, err := session.ReceivePack(ctx, request)
	if err == nil && report != nil {
		err = report.Error()
	}
	if err != nil {
		return scrub(refused(err, said.String()))
	}
	return nil
}

// refused adds what the remote's hooks said, which is where hosts say why.
func refused(err error, said string) error {
	const enough = 1000 // characters
	if said = strings.TrimSpace(strings.ToValidUTF8(said, "?")); said != "" {
		return fmt.Errorf("%w: %.*s", err, enough, said)
	}
	return err
}

// at asks where a ref is now; zero when it is not there.
func (m *Mirror) at(ctx context.Context, ref plumbing.ReferenceName) (plumbing.Hash, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session, scrub, err := m.remote.receivePack(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	defer session.Close()
	remote, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return plumbing.ZeroHash, scrub(err)
	}
	return remote.References[ref.String()], nil
}
