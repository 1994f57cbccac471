package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
)

// authorised is the client with a token on every call. Redirects are followed only where
// the call stays the same: GitHub redirects calls for a renamed repository.
func authorised(base *http.Client, token func(context.Context) (string, error)) *http.Client {
	c := http.Client{Timeout: timeout}
	if base != nil {
		c = *base
	}
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.Transport = &transport{token: token, next: next}
	c.CheckRedirect = checkRedirect
	c.Timeout = cmp.Or(c.Timeout, timeout)
	return &c
}

type transport struct {
	token func(context.Context) (string, error)
	next  http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.token(r.Context())
	if err != nil {
		return nil, fmt.Errorf("get a token for GitHub: %w", err)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return t.next.RoundTrip(r)
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
