package github

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
)

// authorised is the client with a token on every call, and with conditional reads. Redirects are followed only where
// the call stays the same: GitHub redirects calls for a renamed repository.
func authorised(base *http.Client, token func(context.Context) (string, error), refused func(string)) *http.Client {
	c := http.Client{Timeout: timeout}
	if base != nil {
		c = *base
	}
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.Transport = &transport{token: token, refused: refused, next: newMemory(next)}
	c.CheckRedirect = checkRedirect
	c.Timeout = cmp.Or(c.Timeout, timeout)
	return &c
}

type transport struct {
	token   func(context.Context) (string, error)
	refused func(string) // nil: there is no other token
	next    http.RoundTripper
}

// RoundTrip makes a call again once, with another token, when GitHub no longer takes the one it was made with: such a
// call has done nothing.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.ask(r.Context())
	if err != nil {
		return nil, err
	}
	answer, err := t.send(r, token)
	repeatable := t.refused != nil && (r.Body == nil || r.Body == http.NoBody || r.GetBody != nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || !repeatable {
		return answer, err
	}
	t.refused(token)
	another, err := t.ask(r.Context())
	if err == nil && another == token {
		return answer, nil
	}
	io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16)) //nolint:errcheck // only to use the connection again
	answer.Body.Close()                                     //nolint:errcheck // nothing was written
	if err != nil {
		return nil, err
	}
	return t.send(r, another)
}

func (t *transport) ask(ctx context.Context) (string, error) {
	token, err := t.token(ctx)
	if err != nil {
		return "", fmt.Errorf("get a token for GitHub: %w", err)
	}
	return token, nil
}

func (t *transport) send(r *http.Request, token string) (*http.Response, error) {
	again := r.Clone(r.Context())
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	again.Header.Set("Authorization", "Bearer "+token)
	return t.next.RoundTrip(again)
}

// checkRedirect keeps the token from other servers, and a change from being
// turned into a read: net/http follows 301 after PATCH or PUT with GET, whose
// 200 would look like success.
func checkRedirect(r *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0]
	switch {
	case len(via) > most:
		return fmt.Errorf("more than %d redirects", most)
	case r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme:
		return fmt.Errorf("GitHub redirects to %s://%s, another server, which is not followed", r.URL.Scheme, r.URL.Host)
	case r.Method != first.Method:
		return fmt.Errorf("GitHub says that the repository has moved to %s: change its name in the configuration", r.URL.Path)
	}
	return nil
}
