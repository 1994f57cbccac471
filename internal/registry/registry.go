// Package registry asks OCI registries what they hold. It reads manifests and asks
// for the existence of blobs; it never pulls a layer.
//
// An answer is given only when the registry gave one. Whatever could not be read (no
// connection, no permission, a fault of the registry, no time left) is an error:
// unknown is never taken for absent.
package registry

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Options says how registries are asked.
type Options struct {
	// Keychain gives the credentials per registry. Nil: those of the container
	// tools' configuration files ($DOCKER_CONFIG, ~/.docker/config.json).
	Keychain authn.Keychain
	// UserAgent names this program to the registry, e.g. "sluice/1.4.0".
	UserAgent string
	// PlainHTTP lists hosts (with port, if any) that may be asked without TLS, besides
	// the loopback interface. Credentials would be sent to them in clear text.
	PlainHTTP []string
	// Transport makes the connections. Nil: go-containerregistry's default one.
	Transport http.RoundTripper
}

// Client asks registries. It keeps no state between calls, so that credentials which
// rotate are read anew. It does not retry; the context bounds each call.
type Client struct {
	options   []remote.Option
	plainHTTP map[string]bool
}

// New is a client.
func New(opts Options) *Client {
	if opts.Keychain == nil {
		opts.Keychain = authn.DefaultKeychain
	}
	if opts.Transport == nil {
		opts.Transport = remote.DefaultTransport
	}
	plain := map[string]bool{}
	for _, host := range opts.PlainHTTP {
		plain[host] = true
	}
	return &Client{
		plainHTTP: plain,
		options: []remote.Option{
			remote.WithAuthFromKeychain(opts.Keychain),
			remote.WithUserAgent(opts.UserAgent),
			remote.WithTransport(&guard{next: opts.Transport, plainHTTP: plain}),
			// Who calls decides about retries, so there is one attempt and no waiting.
			remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
		},
	}
}

// Resolve is the digest that a tag stands for now. promotion.ErrNotFound if there is none.
func (c *Client) Resolve(ctx context.Context, repository, tag string) (digest string, err error) {
	repo, err := c.repository(repository)
	if err != nil {
		return "", err
	}
	ref, err := name.NewTag(repo.Name()+":"+tag, c.nameOptions(repository)...)
	if err != nil {
		return "", fmt.Errorf("not a tag of %s: %q", repository, tag)
	}
	puller, err := remote.NewPuller(c.options...)
	if err != nil {
		return "", err
	}
	descriptor, err := puller.Get(ctx, ref)
	if err != nil {
		return "", failure(ctx, ref.Context(), "resolving tag "+tag, err)
	}
	return descriptor.Digest.String(), nil
}

func (c *Client) repository(repository string) (name.Repository, error) {
	repo, err := name.NewRepository(repository, c.nameOptions(repository)...)
	if err != nil {
		return name.Repository{}, fmt.Errorf("not a repository: %q", repository)
	}
	return repo, nil
}

// nameOptions allows plain HTTP for the hosts that were named for it.
func (c *Client) nameOptions(reference string) []name.Option {
	host, _, _ := strings.Cut(reference, "/")
	if c.plainHTTP[host] {
		return []name.Option{name.Insecure}
	}
	return nil
}
