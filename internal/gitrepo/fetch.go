package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/sluicehq/sluice/internal/gittree"
)

// ownBranches is the namespace of the branches that Sluice makes.
const ownBranches = "refs/heads/sluice/"

// Fetch implements promotion.ConfigRepository. A call that had to wait while
// another one's fetch began and ended has its answer, and asks no more. After a
// push by force to the base branch Contains(head, old) is false; the old commits
// can be read until the mirror is made anew, which only damage leads to.
func (m *Mirror) Fetch(ctx context.Context) (string, error) {
	asked := m.begun.Load()
	done, err := m.turn(ctx)
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", m.name, err)
	}
	defer done()
	if m.succeeded <= asked {
		number := m.begun.Add(1)
		if err := m.fetch(ctx); err != nil {
			return "", fmt.Errorf("fetch %s: %w", m.name, err)
		}
		m.succeeded = number
	}
	return text(m.known()[m.base]), nil
}

// turn waits for other fetches to end and keeps them waiting until done is called.
func (m *Mirror) turn(ctx context.Context) (done func(), err error) {
	select {
	case m.fetching <- struct{}{}:
		return func() { <-m.fetching }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// text is a commit's 40 digits, empty for none.
func text(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

func (m *Mirror) fetch(ctx context.Context) error {
	m.notePushes(true)
	defer m.notePushes(false)
	if err := m.mend(ctx); err != nil {
		return err
	}
	objects := m.store()
	now, err := m.download(ctx, objects, m.known(), m.tracked, math.MaxInt64)
	if err != nil {
		return err
	}
	if err := whole(objects, now[m.base]); err != nil {
		return m.renewFor(ctx, err)
	}
	return m.see(now)
}

// notePushes has pushes written down apart while a fetch runs: what it was told
// may be older than they are.
func (m *Mirror) notePushes(during bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pushed = nil
	if during {
		m.pushed = refs{}
	}
}

// see takes what the remote said for true, but for what was pushed meanwhile, and
// keeps the refs that FetchRef brought.
func (m *Mirror) see(now refs) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, at := range m.refs {
		if strings.HasPrefix(name.String(), broughtRefs) {
			now[name] = at
		}
	}
	for name, at := range m.pushed {
		now = now.with(name, at)
	}
	if maps.Equal(now, m.refs) {
		return nil
	}
	m.refs = now
	return now.save(m.dir)
}

// moved remembers what a push did, so that no fetch is needed to know it.
func (m *Mirror) moved(name plumbing.ReferenceName, at plumbing.Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pushed != nil {
		m.pushed[name] = at
	}
	m.refs = m.refs.with(name, at)
	return m.refs.save(m.dir)
}

// download asks the remote for its refs and gets what those that are wanted lead
// to, beyond what the refs had before lead to and at most that many bytes: one
// round trip when there is nothing new.
func (m *Mirror) download(ctx context.Context, objects *storage, had refs, wanted func(*packp.AdvRefs) (refs, error), most int64) (refs, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	session, scrub, err := m.remote.uploadPack(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	advertised, err := session.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return refs{}, nil
	} else if err != nil {
		return nil, scrub(fmt.Errorf("ask for its branches: %w", err))
	}
	if len(advertised.Shallows) > 0 {
		return nil, errors.New("it is a shallow clone, without the history that says what ran when: complete it with git fetch --unshallow")
	}
	now, err := wanted(advertised)
	if err != nil {
		return nil, err
	}
	wants := now.without(had)
	if len(wants) == 0 {
		return now, nil
	}
	request := packp.NewUploadPackRequestFromCapabilities(advertised.Capabilities)
	if advertised.Capabilities.Supports(capability.NoProgress) {
		_ = request.Capabilities.Set(capability.NoProgress)
	}
	request.Wants, request.Haves = wants, m.haves(objects, had)
	if err := receive(ctx, session, request, objects, most); err != nil {
		return nil, scrub(err)
	}
	for _, want := range wants {
		if err := objects.HasEncodedObject(want); err != nil {
			return nil, fmt.Errorf("the remote did not send commit %s: %w", want, err)
		}
	}
	return now, nil
}

func receive(ctx context.Context, session transport.UploadPackSession, request *packp.UploadPackRequest, objects *storage, most int64) error {
	answer, err := session.UploadPack(ctx, request)
	if errors.Is(err, transport.ErrEmptyUploadPackRequest) {
		return nil
	} else if err != nil {
		return fmt.Errorf("ask for what is new: %w", err)
	}
	defer answer.Close() //nolint:errcheck // what was read is checked
	var pack io.Reader = answer
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, answer)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, answer)
	}
	if err := objects.receive(&bounded{pack, most}); err != nil {
		return fmt.Errorf("receive what is new: %w", err)
	}
	return nil
}

// bounded fails when more is read than may be.
type bounded struct {
	from io.Reader
	left int64 // bytes
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errors.New("it is larger than Sluice takes")
	}
	return n, err
}

// haves tell the remote what need not be sent: the tips, and commits of the
// base branch ever further back, for when the remote forgot newer ones.
func (m *Mirror) haves(objects *storage, had refs) []plumbing.Hash {
	var haves []plumbing.Hash
	for _, hash := range had {
		haves = append(haves, hash)
	}
	if had[m.base].IsZero() {
		return haves
	}
	distance, next := 0, 1
	_ = gittree.FirstParents(objects, had[m.base], func(c *object.Commit) (bool, error) {
		if distance == next {
			haves = append(haves, c.Hash)
			next *= 2
		}
		distance++
		return distance <= 256, nil
	})
	return haves
}
