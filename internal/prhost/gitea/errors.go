package gitea

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

// pause is how long to wait when calls are limited without saying how long.
const pause = time.Minute

// Limited is the error of a call that a rate limit refuses: Gitea has none of its
// own, but what stands before it may. Nothing was done, and no call is made until then.
type Limited struct {
	Until time.Time
}

func (l *Limited) Error() string {
	return "the rate limit of Gitea is reached; calls are possible again at " + l.Until.UTC().Format(time.RFC3339)
}

// RetryAt is when the call may be tried again.
func (l *Limited) RetryAt() time.Time { return l.Until }

// errIncomplete is the error of an answer that says less than Gitea always says.
var errIncomplete = errors.New("the answer of Gitea is not complete")

// failed says what failed in words that a user can act on. No error and no refusal is no failure.
func (c *call) failed(err error, format string, args ...any) error {
	if explained := c.explained(err); explained != nil {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), explained)
	}
	return nil
}

func (c *call) explained(err error) error {
	r := c.refusal
	if r == nil {
		return err
	}
	switch {
	case r.status == http.StatusTooManyRequests:
		until := c.host.limit(r)
		c.host.limited.Store(&until)
		return &Limited{Until: until}
	case r.status == http.StatusUnauthorized:
		return fmt.Errorf("the token is refused by Gitea (%s): it has expired, was revoked or is not one of this server", r.said)
	case r.status == http.StatusForbidden:
		return fmt.Errorf("forbidden by Gitea (%s): the token lacks a scope, or its user a permission on %s", r.said, c.host.name())
	case r.status == http.StatusNotFound:
		return fmt.Errorf("%w in %s on Gitea (%s): it is not there, the repository was renamed, or the token may not see it", promotion.ErrNotFound, c.host.name(), r.said)
	case r.status >= http.StatusInternalServerError:
		return fmt.Errorf("answer %d of Gitea (%s): it fails on its side, and may or may not have done it", r.status, r.said)
	default:
		return fmt.Errorf("answer %d of Gitea: %s", r.status, r.said)
	}
}

// limit is until when a rate limit holds; never a moment that has passed by this clock.
func (h *Host) limit(r *refusal) time.Time {
	now, wait := h.Clock(), r.header.Get("Retry-After")
	if seconds, err := strconv.Atoi(wait); err == nil && seconds > 0 {
		return now.Add(time.Duration(seconds) * time.Second)
	}
	if at, err := http.ParseTime(wait); err == nil && at.After(now) {
		return at
	}
	return now.Add(pause)
}
