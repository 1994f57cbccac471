// Package client calls a Sluice server's HTTP API.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/api"
)

// timeout is the longest that one call may take.
const timeout = 30 * time.Second

// maxAnswer is the most bytes of an answer that are read: 64 MiB.
const maxAnswer = 64 << 20

// Client calls one server.
type Client struct {
	server *url.URL
	token  string
	http   *http.Client
}

// Refusal is a problem that the server answered with.
type Refusal struct{ api.Problem }

func (r *Refusal) Error() string { return r.Detail }

// New makes a client of the server at an address such as https://sluice.example.com. The
// token may be empty for a server that asks for none.
func New(server, token string) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("server %q is not an address such as https://sluice.example.com", server)
	}
	return &Client{server: u, token: token, http: &http.Client{Timeout: timeout}}, nil
}

// PostBuild records what CI built.
func (c *Client) PostBuild(ctx context.Context, r api.BuildRequest) (api.Build, error) {
	return call[api.Build](ctx, c, http.MethodPost, "/api/v1/builds", nil, r)
}

// Promote asks for a release in an environment.
func (c *Client) Promote(ctx context.Context, r api.PromotionRequest) (api.Promotion, error) {
	return call[api.Promotion](ctx, c, http.MethodPost, "/api/v1/promotions", nil, r)
}

// Decide approves or rejects a promotion.
func (c *Client) Decide(ctx context.Context, id int64, r api.DecisionRequest) (api.Promotion, error) {
	return call[api.Promotion](ctx, c, http.MethodPost, on("promotions", id, "approvals"), nil, r)
}

// Applications is the board, of one application or of all ("").
func (c *Client) Applications(ctx context.Context, application string) (api.ApplicationList, error) {
	return call[api.ApplicationList](ctx, c, http.MethodGet, "/api/v1/applications", query{"application": application}, nil)
}

// HistoryFilter selects what ran. Empty fields do not filter.
type HistoryFilter struct {
	Application, Environment string
	At                       time.Time
	Limit                    int
}

// History is what ran where, newest first.
func (c *Client) History(ctx context.Context, f HistoryFilter) (api.HistoryList, error) {
	q := query{"application": f.Application, "environment": f.Environment}
	if !f.At.IsZero() {
		q["at"] = f.At.Format(time.RFC3339Nano)
	}
	if f.Limit > 0 {
		q["limit"] = strconv.Itoa(f.Limit)
	}
	return call[api.HistoryList](ctx, c, http.MethodGet, "/api/v1/history", q, nil)
}

// on is the path of what can be done on an object.
func on(objects string, id int64, what string) string {
	return "/api/v1/" + objects + "/" + strconv.FormatInt(id, 10) + "/" + what
}

type query map[string]string

func (q query) encode() string {
	values := url.Values{}
	for name, value := range q {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values.Encode()
}

func call[T any](ctx context.Context, c *Client, method, path string, q query, body any) (answer T, err error) {
	r, err := c.request(ctx, method, path, q, body)
	if err != nil {
		return answer, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		var wrapped *url.Error // its own message repeats the whole address
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return answer, fmt.Errorf("cannot reach the server at %s: %w", c.server.Redacted(), err)
	}
	defer func() { _ = response.Body.Close() }() // it was read to its end, or has failed already
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer, fmt.Errorf("read the answer of %s: %w", c.server.Redacted(), err)
	}
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	refusal := &Refusal{}
	switch {
	case media == "application/problem+json" && json.Unmarshal(data, &refusal.Problem) == nil:
		return answer, refusal
	case response.StatusCode == http.StatusNoContent && len(data) == 0:
		return answer, nil
	case response.StatusCode >= 300 || media != "application/json":
		return answer, fmt.Errorf("%s answered %s, but not as a Sluice server does: is the address right?", c.server.Redacted(), response.Status)
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return answer, fmt.Errorf("understand the answer of %s: %w", c.server.Redacted(), err)
	}
	return answer, nil
}

func (c *Client) request(ctx context.Context, method, path string, q query, body any) (*http.Request, error) {
	target := c.server.JoinPath(path)
	target.RawQuery = q.encode()
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		content = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, target.String(), content)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}
