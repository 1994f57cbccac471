package webhook

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/sluicehq/sluice/internal/promotion"
)

// maxAudit bounds one batch, in bytes. An API server sends up to 400 events at once, a kilobyte or two each at the level Metadata.
const maxAudit = 10 << 20

// AuditReceiver gets what the audit of a cluster's API server says was written. It has to take the same write any number of times.
type AuditReceiver interface {
	LiveWritten(ctx context.Context, cluster string, all []promotion.AuditedWrite) error
}

// NewAudit is the door POST /webhooks/audit/{cluster} for the audit webhooks of API servers. tokens read the secret that each cluster's sends;
// of a cluster that has none nothing is taken.
func NewAudit(tokens map[string]func() (string, error), receiver AuditReceiver, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/audit/{cluster}", func(w http.ResponseWriter, r *http.Request) {
		cluster := r.PathValue("cluster")
		token, is := tokens[cluster]
		if !is {
			http.NotFound(w, r)
			return
		}
		d := auditDoor{cluster, token, receiver, log}
		status, text := d.answer(w, r)
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "5") // an API server sends again only when it is told to
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, text) // the API server writes it to its log
	})
	return mux
}

type auditDoor struct {
	cluster  string
	token    func() (string, error)
	receiver AuditReceiver
	log      *slog.Logger
}

func (d auditDoor) answer(w http.ResponseWriter, r *http.Request) (status int, text string) {
	token, err := d.token()
	if err != nil {
		d.log.ErrorContext(r.Context(), "a cluster's audit is not taken: its token cannot be read", "cluster", d.cluster, "err", err)
		return http.StatusServiceUnavailable, "the token cannot be read here; see Sluice's log"
	}
	if !bearer(r.Header.Get("Authorization"), token) {
		return http.StatusUnauthorized, "the bearer token is missing or wrong: give the webhook's kubeconfig the token that Sluice has for this cluster"
	}
	var list eventList
	err = json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAudit)).Decode(&list)
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d bytes are not taken: send less at once, at the level Metadata", maxAudit)
	}
	if err != nil || list.APIVersion != "audit.k8s.io/v1" || list.Kind != "EventList" {
		return http.StatusBadRequest, "send an EventList of audit.k8s.io/v1"
	}
	if err := d.receiver.LiveWritten(r.Context(), d.cluster, list.writes()); err != nil {
		d.log.WarnContext(r.Context(), "a cluster's audit could not be recorded and is asked for again", "cluster", d.cluster, "err", err)
		return http.StatusServiceUnavailable, "it could not be recorded: send it again"
	}
	return http.StatusOK, "noted"
}

// bearer tells whether a header has the token, in a time that does not depend on how much of it is right.
func bearer(header, token string) bool {
	scheme, sent, _ := strings.Cut(header, " ")
	a, b := sha256.Sum256([]byte(sent)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && token != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
