package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/sluicehq/sluice/internal/promotion"
)

// absentCodes are what registries answer for a manifest or repository they do not hold:
// the first two by the OCI distribution specification, the third is Harbor's.
// A 404 without any of them may be anything: a proxy, a wrong path, a registry that moved.
var absentCodes = []transport.ErrorCode{transport.ManifestUnknownErrorCode, transport.NameUnknownErrorCode, "NOT_FOUND"}

func isAbsent(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound &&
		slices.ContainsFunc(answer.Errors, func(d transport.Diagnostic) bool { return slices.Contains(absentCodes, d.Code) })
}

// isNotFound tells a blob's 404, which is plain enough after its manifest was
// read from the same repository.
func isNotFound(err error) bool {
	var answer *transport.Error
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound
}

// failure says what could not be done and why. It repeats nothing of what
// the registry wrote but its error codes, and no address that was redirected to:
// either may hold a credential.
func failure(ctx context.Context, repo name.Repository, doing string, err error) error {
	if isAbsent(err) {
		return fmt.Errorf("%s in %s: %w", doing, repo.Name(), promotion.ErrNotFound)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s in %s: the registry gave no answer in time: %w", doing, repo.Name(), ctx.Err())
	}
	var answer *transport.Error
	if errors.As(err, &answer) {
		return fmt.Errorf("%s in %s: the registry answered %s", doing, repo.Name(), status(answer))
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("%s in %s: the registry does not speak TLS, and is not listed as one to be asked in clear text: %w",
			doing, repo.Name(), http.ErrSchemeMismatch)
	}
	var exchange *url.Error
	if errors.As(err, &exchange) {
		err = exchange.Err
	}
	return fmt.Errorf("%s in %s: %w", doing, repo.Name(), err)
}

// status is "401 Unauthorized (UNAUTHORIZED): …", with what to do if that is known.
func status(answer *transport.Error) string {
	text := fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	var codes []string
	for _, diagnostic := range answer.Errors {
		if code := string(diagnostic.Code); isCode(code) {
			codes = append(codes, code)
		}
	}
	if len(codes) > 0 {
		text += " (" + strings.Join(codes, ", ") + ")"
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += ": check Sluice's credentials for this registry and that they may pull"
	case http.StatusTooManyRequests:
		text += ": its rate limit is reached"
	}
	return text
}

// isCode tells an error code from what else a registry may put there.
func isCode(code string) bool {
	return code != "" && len(code) <= 40 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
