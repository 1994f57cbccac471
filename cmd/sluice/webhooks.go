package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluicehq/sluice/internal/config"
	"github.com/sluicehq/sluice/internal/promotion"
	"github.com/sluicehq/sluice/internal/webhook"
)

// webhooks are the doors for the webhooks of hosts and of API servers. Who has no secret finds none.
func (s *server) webhooks() (http.Handler, error) {
	doors := http.NewServeMux()
	doors.Handle("/webhooks/audit/", webhook.NewAudit(s.auditTokens(), s.service, s.log))
	var hosts []webhook.Host
	for _, w := range s.config.Webhooks {
		secrets, err := w.Secrets()
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, webhook.Host{Name: w.Host, Secrets: secrets})
	}
	door, err := webhook.New(hosts, tidings{s.service, s.config.Repositories}, s.log)
	if err != nil {
		return nil, fmt.Errorf("open the door for webhooks: %w", err)
	}
	doors.Handle("/webhooks/", door)
	return doors, nil
}

func (s *server) auditTokens() map[string]func() (string, error) {
	tokens := map[string]func() (string, error){}
	for _, c := range s.config.Clusters {
		if c.AuditTokenFile != "" {
			tokens[c.Name] = c.AuditToken
		}
	}
	return tokens
}

// tidings finds the config repositories that an event is about. Of others it takes no notice.
type tidings struct {
	service      *promotion.Service
	repositories []config.ConfigRepository
}

func (t tidings) Receive(ctx context.Context, e webhook.Event) error {
	for _, r := range t.repositories {
		at := r.At()
		if at == nil || r.Host != e.Host {
			continue
		}
		if name := at.Owner + "/" + at.Repository; !strings.EqualFold(name, e.Repository) && !strings.EqualFold(name, e.Formerly) {
			continue
		}
		news := promotion.Tidings{Host: r.Host + "/" + r.Name, Delivery: e.Delivery, Repository: r.Name, Refs: e.Refs, PullRequest: e.PullRequest}
		if e.Formerly != "" {
			news.Renamed = promotion.Renamed{From: e.Formerly, To: e.Repository, By: e.Sender}
		}
		if err := t.service.Told(ctx, news); err != nil {
			return err
		}
	}
	return nil
}
