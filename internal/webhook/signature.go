package webhook

import (
	"net/http"
	"strings"

	"github.com/google/go-github/v60/github"
)

// signed tells whether any of the secrets signed the body. All hosts sign with
// HMAC-SHA256; https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries,
// https://docs.gitea.com/usage/webhooks. GitHub's old SHA-1 is not taken.
func (h Host) signed(header http.Header, body []byte) bool {
	const prefix = "sha256="
	signature := header.Get("X-Hub-Signature-256")
	if gitea := header.Get("X-Gitea-Signature"); signature == "" && gitea != "" {
		signature = prefix + gitea
	}
	if !strings.HasPrefix(signature, prefix) {
		return false
	}
	good := false
	for _, secret := range h.Secrets { // all of them, so that time does not tell which
		if github.ValidateSignature(signature, body, []byte(secret)) == nil {
			good = true
		}
	}
	return good
}
