package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Options say what is mirrored and where.
type Options struct {
	Name       string
	URL        string // https://… or ssh
	BaseBranch string
	Dir        string // of the mirror; one process at a time
	// Auth gives user name and password or token for each connection, so that
	// tokens may rotate. Nil: none for HTTP, the SSH agent for SSH.
	Auth func(context.Context) (username, password string, err error)
}

// branchPrefix is the namespace of the branches that Sluice makes.
const branchPrefix = "sluice/"

// Mirror implements promotion.ConfigRepository. It is safe for concurrent use.
type Mirror struct {
	Options
	endpoint *transport.Endpoint
	fetching sync.Mutex // one fetch at a time

	mu    sync.RWMutex
	store *storage
	refs  map[plumbing.ReferenceName]plumbing.Hash // of the remote, as last seen
}

var _ promotion.ConfigRepository = (*Mirror)(nil)

// Open opens the mirror in Dir or makes a new one, and fetches. A mirror that
// cannot be read is thrown away and made anew: it holds nothing that the remote does not.
func Open(ctx context.Context, o Options) (*Mirror, error) {
	endpoint, err := transport.NewEndpoint(o.URL)
	if err != nil {
		return nil, fmt.Errorf("config repository %s: its address cannot be read", o.Name)
	}
	endpoint.User, endpoint.Password = plainUser(endpoint), ""
	m := &Mirror{Options: o, endpoint: endpoint}
	if m.store, err = openOrInit(o.Dir); err != nil {
		return nil, fmt.Errorf("mirror of %s in %s: %w", o.Name, o.Dir, err)
	}
	if _, err := m.Fetch(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// plainUser keeps the user of an SSH address; one of an HTTP address belongs to its credentials.
func plainUser(e *transport.Endpoint) string {
	if e.Protocol == "ssh" {
		return e.User
	}
	return ""
}

func openOrInit(dir string) (*storage, error) {
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
		return openStorage(dir), nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	s := openStorage(dir)
	_, err := git.Init(s, nil)
	return s, err
}

// Fetch asks the remote for its branches and gets what is not there yet.
func (m *Mirror) Fetch(ctx context.Context) (string, error) {
	m.fetching.Lock()
	defer m.fetching.Unlock()
	refs, err := m.advertised(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		m.see(map[plumbing.ReferenceName]plumbing.Hash{})
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("ask %s for its branches: %w", m.Name, err)
	}
	if !m.has(refs) {
		if err := m.fetch(ctx); err != nil {
			return "", fmt.Errorf("fetch %s: %w", m.Name, err)
		}
	}
	if !m.readable(refs[m.base()]) {
		if err := m.renew(ctx); err != nil {
			return "", fmt.Errorf("the mirror of %s was damaged and could not be made anew: %w", m.Name, err)
		}
	}
	m.see(refs)
	return text(refs[m.base()]), nil
}

func (m *Mirror) base() plumbing.ReferenceName { return plumbing.NewBranchReferenceName(m.BaseBranch) }

func text(h plumbing.Hash) string {
	if h.IsZero() {
		return ""
	}
	return h.String()
}

func (m *Mirror) see(refs map[plumbing.ReferenceName]plumbing.Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refs = refs
}

func (m *Mirror) objects() *storage {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.store
}

// advertised asks for the base branch and Sluice's own ones, in one round trip.
func (m *Mirror) advertised(ctx context.Context) (map[plumbing.ReferenceName]plumbing.Hash, error) {
	auth, scrub, err := m.credentials(ctx)
	if err != nil {
		return nil, err
	}
	c, err := client.NewClient(m.endpoint)
	if err != nil {
		return nil, scrub(err)
	}
	session, err := c.NewUploadPackSession(m.endpoint, auth)
	if err != nil {
		return nil, scrub(err)
	}
	defer session.Close()
	all, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, scrub(err)
	}
	refs := map[plumbing.ReferenceName]plumbing.Hash{}
	for name, hash := range all.References {
		ref := plumbing.ReferenceName(name)
		if ref == m.base() || strings.HasPrefix(name, "refs/heads/"+branchPrefix) {
			refs[ref] = hash
		}
	}
	return refs, nil
}

func (m *Mirror) has(refs map[plumbing.ReferenceName]plumbing.Hash) bool {
	for _, hash := range refs {
		if m.objects().HasEncodedObject(hash) != nil {
			return false
		}
	}
	return true
}

func (m *Mirror) fetch(ctx context.Context) error {
	auth, scrub, err := m.credentials(ctx)
	if err != nil {
		return err
	}
	base, own := m.base(), "refs/heads/"+branchPrefix+"*"
	specs := []config.RefSpec{config.RefSpec("+" + base + ":" + base), config.RefSpec("+" + own + ":" + own)}
	remote := git.NewRemote(m.objects(), &config.RemoteConfig{Name: "origin", URLs: []string{m.address()}, Fetch: specs})
	err = remote.FetchContext(ctx, &git.FetchOptions{RemoteName: "origin", RefSpecs: specs, Auth: auth, Tags: git.NoTags, Force: true, Prune: true})
	if errors.Is(err, git.NoErrAlreadyUpToDate) {
		return nil
	}
	return scrub(err)
}

// address is the remote's, without any credentials.
func (m *Mirror) address() string { return m.endpoint.String() }

// readable tells whether a commit and its tree are really there.
func (m *Mirror) readable(head plumbing.Hash) bool {
	if head.IsZero() {
		return true
	}
	c, err := object.GetCommit(m.objects(), head)
	if err != nil {
		return false
	}
	_, err = object.GetTree(m.objects(), c.TreeHash)
	return err == nil
}

// renew makes the mirror anew beside the damaged one, and takes its place.
func (m *Mirror) renew(ctx context.Context) error {
	if err := os.RemoveAll(m.Dir); err != nil {
		return err
	}
	s, err := openOrInit(m.Dir)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.store = s
	m.mu.Unlock()
	return m.fetch(ctx)
}

// credentials of one connection, and a function that keeps them out of its errors.
func (m *Mirror) credentials(ctx context.Context) (transport.AuthMethod, func(error) error, error) {
	if m.Auth == nil {
		return nil, func(err error) error { return err }, nil
	}
	username, password, err := m.Auth(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("credentials for %s: %w", m.Name, err)
	}
	scrub := func(err error) error { return scrubbed(err, password) }
	return &http.BasicAuth{Username: username, Password: password}, scrub, nil
}

// scrubbed is an error whose text holds no secret. What it wraps stays
// recognisable by errors.Is.
func scrubbed(err error, secret string) error {
	if err == nil || secret == "" || !strings.Contains(err.Error(), secret) {
		return err
	}
	return &scrubbedError{strings.ReplaceAll(err.Error(), secret, "…"), err}
}

type scrubbedError struct {
	text string
	err  error
}

func (e *scrubbedError) Error() string        { return e.text }
func (e *scrubbedError) Is(target error) bool { return errors.Is(e.err, target) }
