package gitea

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"code.gitea.io/sdk/gitea"
)

// timeout ends a call of a client that has no time-out of its own.
const timeout = 30 * time.Second

// call is a client for the calls of one step. The SDK binds a client to one
// context, and does not always tell what Gitea answered.
type call struct {
	*gitea.Client
	host *Host
	// refusal is the last answer that was none of success, nil when there was none.
	refusal *refusal
	// now is Gitea's time of the last answer.
	now time.Time
}

// refusal is an answer of Gitea that says no.
type refusal struct {
	status int
	said   string
	header http.Header
}

func (h *Host) call(ctx context.Context) (*call, error) {
	c := &call{host: h}
	client := *h.http
	client.Transport = &transport{call: c, next: h.http.Transport}
	// The version is not asked for: it would be a call, and Forgejo's is another.
	sdk, err := gitea.NewClient(h.Server, gitea.SetContext(ctx), gitea.SetHTTPClient(&client), gitea.SetGiteaVersion(""))
	if err != nil {
		return nil, fmt.Errorf("address Gitea: %w", err)
	}
	c.Client = sdk
	return c, nil
}

// refused tells an answer of one of these statuses.
func (c *call) refused(statuses ...int) bool {
	for _, s := range statuses {
		if c.refusal != nil && c.refusal.status == s {
			return true
		}
	}
	return false
}

// clientOf completes a client. Redirects are followed only where the call stays
// the same: Gitea redirects calls for a renamed repository.
func clientOf(base *http.Client) *http.Client {
	c := http.Client{}
	if base != nil {
		c = *base
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.CheckRedirect = checkRedirect
	c.Timeout = cmp.Or(c.Timeout, timeout)
	return &c
}

// transport puts the token on every call and keeps what Gitea refused.
type transport struct {
	call *call
	next http.RoundTripper
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	h := t.call.host
	t.call.refusal = nil
	if until := h.limited.Load(); until != nil && until.After(h.Clock()) {
		return nil, &Limited{Until: *until} // a call would prolong the limit
	}
	token, err := h.Token(r.Context())
	if err != nil {
		return nil, fmt.Errorf("get a token for Gitea: %w", err)
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "token "+token)
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if t.call.now, err = http.ParseTime(answer.Header.Get("Date")); err != nil {
		t.call.now = h.Clock()
	}
	if answer.StatusCode < http.StatusBadRequest {
		return answer, nil
	}
	const enough = 1 << 16
	body, _ := io.ReadAll(io.LimitReader(answer.Body, enough)) // what can be had of it
	answer.Body.Close()
	answer.Body = io.NopCloser(bytes.NewReader(body))
	t.call.refusal = &refusal{status: answer.StatusCode, said: said(answer.StatusCode, body), header: answer.Header}
	return answer, nil
}

// said is Gitea's message, or what the status means when there is none.
func said(status int, body []byte) string {
	var told struct {
		Message string   `json:"message"`
		Errors  []string `json:"errors"`
	}
	if json.Unmarshal(body, &told) != nil {
		return http.StatusText(status) // a proxy's page
	}
	return strings.Join(append([]string{cmp.Or(told.Message, http.StatusText(status))}, told.Errors...), "; ")
}

// checkRedirect keeps the token from other servers, and a change from being
// turned into a read: net/http follows 301 after PATCH or POST with GET, whose
// 200 would look like success.
func checkRedirect(r *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0]
	switch {
	case len(via) > most:
		return fmt.Errorf("more than %d redirects", most)
	case r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme:
		return fmt.Errorf("redirected by Gitea to %s://%s, another server, which is not followed", r.URL.Scheme, r.URL.Host)
	case r.Method != first.Method:
		return fmt.Errorf("the repository has moved on Gitea to %s: change its name in the configuration", r.URL.Path)
	}
	return nil
}
