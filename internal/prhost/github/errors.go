package github

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/sluicehq/sluice/internal/promotion"
)

// pause is how long to wait when GitHub limits calls without saying how long.
// GitHub asks for at least a minute:
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const pause = time.Minute

// Limited is the error of a call that GitHub's rate limits refuse. Nothing was
// done, and no call is made until then.
type Limited struct {
	Until time.Time
}

func (l *Limited) Error() string {
	return "GitHub's rate limit is reached; calls are possible again at " + l.Until.UTC().Format(time.RFC3339)
}

// RetryAt is when the call may be tried again.
func (l *Limited) RetryAt() time.Time { return l.Until }

// failure says what failed in words that a user can act on.
func (h *Host) failure(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), h.explained(err))
}

func (h *Host) explained(err error) error {
	if until, limited := limit(err, h.Clock()); limited {
		return &Limited{Until: until}
	}
	r, answered := errors.AsType[*github.ErrorResponse](err)
	if !answered {
		return err
	}
	said := message(r)
	switch status := r.Response.StatusCode; {
	case status == http.StatusUnauthorized:
		return fmt.Errorf("GitHub refuses the token (%s): it has expired, was revoked or is not one of this server", said)
	case status == http.StatusForbidden:
		return forbidden(r, said)
	case status == http.StatusNotFound:
		return fmt.Errorf("%w in %s on GitHub (%s): it is not there, the repository was renamed, or the token may not see it", promotion.ErrNotFound, h.name(), said)
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("GitHub answers %d (%s): it fails on its side, and may or may not have done it", status, said)
	default:
		return fmt.Errorf("GitHub answers %d: %s", status, said)
	}
}

// forbidden names the permission that is missing. GitHub tells it to Apps and
// fine-grained tokens in a header.
func forbidden(r *github.ErrorResponse, said string) error {
	if needs := r.Response.Header.Get("X-Accepted-GitHub-Permissions"); needs != "" {
		return fmt.Errorf("GitHub forbids it (%s): the token needs the permission %s", said, strings.ReplaceAll(needs, "=", ": "))
	}
	if needs := r.Response.Header.Get("X-Accepted-OAuth-Scopes"); needs != "" {
		return fmt.Errorf("GitHub forbids it (%s): the token needs the scope %s", said, needs)
	}
	return fmt.Errorf("GitHub forbids it (%s): the token lacks a permission on this repository", said)
}

// limit tells rate limits, and until when they hold.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit
func limit(err error, now time.Time) (until time.Time, limited bool) {
	if r, is := errors.AsType[*github.RateLimitError](err); is {
		return later(r.Rate.Reset.Time, now), true
	}
	if r, is := errors.AsType[*github.AbuseRateLimitError](err); is {
		if r.RetryAfter != nil {
			return later(now.Add(*r.RetryAfter), now), true
		}
		return now.Add(pause), true
	}
	r, is := errors.AsType[*github.ErrorResponse](err)
	if !is {
		return time.Time{}, false
	}
	wait := r.Response.Header.Get("Retry-After")
	switch r.Response.StatusCode {
	case http.StatusTooManyRequests:
	case http.StatusForbidden:
		if wait == "" && !saysLimited(r.Message) {
			return time.Time{}, false
		}
	default:
		return time.Time{}, false
	}
	if seconds, err := strconv.Atoi(wait); err == nil {
		return later(now.Add(time.Duration(seconds)*time.Second), now), true
	}
	exhausted := r.Response.Header.Get("X-RateLimit-Remaining") == "0"
	if reset, err := strconv.ParseInt(r.Response.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && exhausted {
		return later(time.Unix(reset, 0), now), true
	}
	return now.Add(pause), true
}

// saysLimited tells the limits that GitHub and older Enterprise Servers give away in words alone.
func saysLimited(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "secondary rate limit") || strings.Contains(said, "abuse detection")
}

// later keeps callers from spinning on a moment that has passed by this clock.
func later(until, now time.Time) time.Time {
	if !until.After(now) {
		return now.Add(pause)
	}
	return until
}

// message is what GitHub said, with the details of a failed validation.
func message(r *github.ErrorResponse) string {
	said := []string{cmp.Or(r.Message, http.StatusText(r.Response.StatusCode))}
	for _, e := range r.Errors {
		said = append(said, cmp.Or(e.Message, strings.TrimSpace(e.Field+" "+e.Code)))
	}
	return strings.Join(said, "; ")
}

// refused tells an answer of one of these statuses.
func refused(err error, statuses ...int) bool {
	r, is := errors.AsType[*github.ErrorResponse](err)
	if !is {
		return false
	}
	for _, s := range statuses {
		if r.Response.StatusCode == s {
			return true
		}
	}
	return false
}
