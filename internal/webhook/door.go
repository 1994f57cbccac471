// Package webhook is the door through which PR hosts say that something has
// happened, and API servers who wrote to live objects. A host's event is never believed: it
// only says where to look now, so that a lost, repeated or late one changes nothing. An audit is believed
// as far as it goes: it names people beside what was found without it.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
)

// maxBody bounds, in bytes, what is held in memory of a sender who is not known
// yet. GitHub sends up to 25 MiB, but pull requests take a hundredth of this, and
// what is refused is found by the periodic look.
const maxBody = 5 << 20

// maxDelivery is the longest delivery id, in bytes; the hosts' are UUIDs.
const maxDelivery = 100

// Receiver gets events. It has to do so at most once per host and delivery.
type Receiver interface {
	Receive(ctx context.Context, e Event) error
}

// Host is one sender of webhooks.
type Host struct {
	// Name is the last part of the door's path, and the event's Host.
	Name string
	// Secrets sign what it sends; any of them is good, so that one can replace another.
	Secrets []string
}

// New is the door POST /webhooks/{host} of these hosts; the hosts may be GitHub,
// Gitea and Forgejo. One without a secret is an error: its door must not be there.
func New(hosts []Host, receiver Receiver, log *slog.Logger) (http.Handler, error) {
	doors := map[string]*door{}
	for _, h := range hosts {
		if h.Name == "" || len(h.Secrets) == 0 {
			return nil, fmt.Errorf("the webhook of host %q has no secret", h.Name)
		}
		for _, secret := range h.Secrets {
			if secret == "" {
				return nil, fmt.Errorf("a secret of the webhook of host %q is empty", h.Name)
			}
		}
		doors[h.Name] = &door{Host: h, receiver: receiver, log: log}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /webhooks/{host}", func(w http.ResponseWriter, r *http.Request) {
		d, is := doors[r.PathValue("host")]
		if !is {
			http.NotFound(w, r)
			return
		}
		d.ServeHTTP(w, r)
	})
	return mux, nil
}

type door struct {
	Host
	receiver Receiver
	log      *slog.Logger
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, text := d.answer(w, r)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, text) // the host shows it to whoever sets the webhook up
}

func (d *door) answer(w http.ResponseWriter, r *http.Request) (status int, text string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d bytes are not taken; the periodic look finds what this was about", maxBody)
	}
	if err != nil {
		return http.StatusBadRequest, "the body ended early"
	}
	if !d.signed(r.Header, body) {
		return http.StatusUnauthorized, "the signature is missing or wrong: give the webhook the secret that Sluice has"
	}
	delivery := first(r.Header, "X-GitHub-Delivery", "X-Gitea-Delivery")
	if delivery == "" || len(delivery) > maxDelivery {
		return http.StatusBadRequest, "the header X-GitHub-Delivery or X-Gitea-Delivery is missing or too long"
	}
	kind := first(r.Header, "X-GitHub-Event", "X-Gitea-Event")
	event, known, err := reduce(kind, body)
	switch {
	case err != nil:
		return http.StatusBadRequest, err.Error()
	case !known:
		return http.StatusAccepted, "nothing to look at for this event"
	}
	event.Host, event.Delivery = d.Name, delivery
	if err := d.receiver.Receive(r.Context(), event); err != nil {
		d.log.ErrorContext(r.Context(), "a webhook's event could not be recorded; the periodic look finds what it was about",
			"host", d.Name, "delivery", delivery, "err", err)
		return http.StatusServiceUnavailable, "the event could not be recorded: deliver it again later"
	}
	return http.StatusAccepted, "looking now"
}

// first is the first of these headers that is there.
func first(h http.Header, names ...string) string {
	for _, name := range names {
		if value := h.Get(name); value != "" {
			return value
		}
	}
	return ""
}
