package gitrepo

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/plumbing/transport/ssh"
	cryptossh "golang.org/x/crypto/ssh"
)

// remote is where connections go. Its endpoint holds no secret.
type remote struct {
	endpoint   transport.Endpoint
	auth       func(context.Context) (username, secret string, err error)
	connecting chan struct{} // holds a value for each connection being made
}

// connectingMost bounds the connections being made at once: one whose host says
// nothing is left behind when its context ends.
const connectingMost = 8

// newRemote reads an address. Its errors do not repeat it: it may hold a token.
func newRemote(o Options) (remote, error) {
	e, err := transport.NewEndpoint(o.URL)
	if err != nil {
		return remote{}, errors.New("its address cannot be read: give https://host/path, ssh://user@host/path or user@host:path")
	}
	r := remote{endpoint: *e, auth: o.Auth, connecting: make(chan struct{}, connectingMost)}
	if e.Protocol == "ssh" {
		if e.Password != "" {
			return remote{}, errors.New("its address holds a password, which is not used over SSH: take it out and give a private key")
		}
		return r, nil
	}
	if strings.ContainsAny(e.Path, "?#") {
		return remote{}, errors.New("its address goes on after the path with ? or #: take that out, and give a token as such")
	}
	if user, secret := e.User, e.Password; r.auth == nil && user+secret != "" {
		r.auth = func(context.Context) (string, string, error) { return user, secret, nil }
	}
	r.endpoint.User, r.endpoint.Password = "", ""
	return r, nil
}

// scrubber keeps a connection's credentials out of its errors.
type scrubber func(error) error

func (r remote) uploadPack(ctx context.Context) (transport.UploadPackSession, scrubber, error) {
	return open(ctx, r, transport.Transport.NewUploadPackSession)
}

func (r remote) receivePack(ctx context.Context) (transport.ReceivePackSession, scrubber, error) {
	return open(ctx, r, transport.Transport.NewReceivePackSession)
}

// open opens a session. Each has an endpoint of its own: go-git changes it when it
// is redirected.
func open[S io.Closer](ctx context.Context, r remote, start func(transport.Transport, *transport.Endpoint, transport.AuthMethod) (S, error)) (S, scrubber, error) {
	var none S
	endpoint := r.endpoint
	auth, scrub, err := r.credentials(ctx)
	if err != nil {
		return none, nil, err
	}
	c, err := client.NewClient(&endpoint)
	if err != nil {
		return none, nil, scrub(err)
	}
	session, err := connect(ctx, r, func() (S, error) { return start(c, &endpoint, auth) })
	if err != nil {
		return none, nil, scrub(fmt.Errorf("connect: %w", err))
	}
	return session, scrub, nil
}

// connect waits no longer than the context: go-git connects without regard to it.
func connect[S io.Closer](ctx context.Context, r remote, start func() (S, error)) (S, error) {
	var session S
	select {
	case r.connecting <- struct{}{}:
	case <-ctx.Done():
		return session, ctx.Err()
	}
	done := make(chan error, 1)
	go func() {
		var err error
		session, err = start()
		done <- err
		<-r.connecting
	}()
	select {
	case err := <-done:
		return session, err
	case <-ctx.Done():
		go func() {
			if <-done == nil {
				_ = session.Close() // nobody has use for it
			}
		}()
		var none S
		return none, ctx.Err()
	}
}

func (r remote) credentials(ctx context.Context) (transport.AuthMethod, scrubber, error) {
	if r.auth == nil {
		return nil, func(err error) error { return explained(ctx, err) }, nil
	}
	username, secret, err := r.auth(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("get its credentials: %w", err)
	}
	scrub := func(err error) error { return explained(ctx, scrubbed(err, username, secret)) }
	if r.endpoint.Protocol != "ssh" {
		return &http.BasicAuth{Username: username, Password: secret}, scrub, nil
	}
	keys, err := ssh.NewPublicKeys(username, []byte(secret), "")
	if err != nil {
		return nil, nil, errors.New("its SSH key cannot be read: give an unencrypted private key in PEM")
	}
	return patient{keys}, scrub, nil
}

// patient is an SSH key with a limit to how long a host may take to answer:
// go-git dials without regard to the context.
type patient struct{ *ssh.PublicKeys }

const dialTimeout = 30 * time.Second

func (p patient) ClientConfig() (*cryptossh.ClientConfig, error) {
	config, err := p.PublicKeys.ClientConfig()
	if err == nil {
		config.Timeout = dialTimeout
	}
	return config, err
}

// explained says what to do about what a remote refuses, and that the context
// has ended, which go-git keeps to itself.
func explained(ctx context.Context, err error) error {
	ended := ctx.Err()
	switch {
	case err == nil:
		return nil
	case ended != nil && !errors.Is(err, ended):
		return fmt.Errorf("%w: %w", ended, shortened(err))
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("%w; check that its token is valid and may read and write the repository", shortened(err))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("%w; check its address, and that its token may see it", shortened(err))
	}
	return shortened(err)
}

// shortened cuts an error's text: hosts answer with whole pages.
func shortened(err error) error {
	const enough = 1500 // bytes
	text := err.Error()
	if len(text) <= enough {
		return err
	}
	return &rewordedError{strings.ToValidUTF8(text[:enough], "") + "…", err}
}

// scrubbed is an error whose text holds a secret in no form in which it is sent.
func scrubbed(err error, username, secret string) error {
	basic := base64.StdEncoding.EncodeToString([]byte(username + ":" + secret))
	if secret == "" {
		secret = username // some hosts take a token alone
	}
	if err == nil || secret == "" {
		return err
	}
	clean := strings.NewReplacer(secret, "…", url.QueryEscape(secret), "…", url.PathEscape(secret), "…",
		basic, "…").Replace(err.Error())
	if clean == err.Error() {
		return err
	}
	return &rewordedError{clean, err}
}

// rewordedError is told apart by errors.Is as before, but does not hand out the
// error with the other text.
type rewordedError struct {
	text string
	err  error
}

func (e *rewordedError) Error() string        { return e.text }
func (e *rewordedError) Is(target error) bool { return errors.Is(e.err, target) }
