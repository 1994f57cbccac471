package promotion

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Service holds the use cases. All fields are set once, before use.
type Service struct {
	Store    Store
	Sites    map[string]Site // config repositories by name
	Clusters map[string]Cluster
	// Inspectors compare clusters with Git and ask them for dry runs. What has none is unchecked.
	Inspectors map[string]Inspector
	// LiveObjects say what deployments consist of, by the cluster's name.
	LiveObjects map[string]LiveObjects
	Registry    Registry
	Manifests   Manifests
	Engine      Engine
	Linter      Linter
	Policies    Policies
	// Migrations reads the SQL that builds post.
	Migrations MigrationReader
	// Databases say what they have applied of an application's migrations. What has none is not known.
	Databases map[DatabaseKey]AppliedReader
	Metrics   Metrics // nil: none is connected, and no metric is known
	Now       func() time.Time
	// Identify tells who a person of a host is in Sluice, with the roles that they hold now. Nil: nobody of a host is known.
	Identify func(repository, login string) (Actor, bool)
	// People are the roles that a person holds now; none for somebody who is not known. Nil: no person is known.
	People func(name string) []Role
	// Author tells who somebody is in Sluice whom CI calls an author: by their name here, a login at the config repository's host or an
	// e-mail address. Nil: only names are known.
	Author func(repository, author string) (name string, known bool)
	// Groups are those that somebody is in now, by the name that they have here. Nil: nobody is in any.
	Groups    func(name string) []string
	PublicURL string // where people reach Sluice, without a trailing slash
	Log       *slog.Logger
	// Checkpoint is told of every boundary between two steps. Tests end the
	// process there; the product leaves it nil.
	Checkpoint func(boundary string)

	// Projects are the engine's, by cluster. What has none is unchecked.
	Projects map[string]ProjectReader
	// Destinations are told what people must know. None: nobody is.
	Destinations []Destination
	// Reminders say how long what waits for a person may do so. Zero: the usual.
	Reminders Reminders

	// Readers say what clusters have, by the cluster's name.
	Readers map[string]ClusterReader
	// Patience with registries and clusters when somebody wants to go back. Zero: the usual.
	Patience Patience

	images imageAnswers
	needs  needsKept
	parsed sync.Map // of each config repository, the policy last parsed: a compiled
}

// Site is a config repository together with the host its pull requests live on.
type Site struct {
	URL        string
	BaseBranch string
	Repository ConfigRepository
	Host       PullRequestHost
	Sources    Sources // that are on the same host; nil: none can be read
}

func (s *Service) site(t Target) (Site, error) {
	site, ok := s.Sites[t.Repository]
	if !ok {
		return Site{}, fmt.Errorf("config repository %q is not configured on this server", t.Repository)
	}
	return site, nil
}

func (s *Service) passed(boundary string) {
	if s.Checkpoint != nil {
		s.Checkpoint(boundary)
	}
}

type requestKey struct{}

// Request identifies the call that an action came with, for the audit.
type Request struct {
	ID, SourceAddress string
}

// WithRequest returns a context whose audit events name the request.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// personOf is who a person of a host is in Sluice, or else whom the host names.
func (s *Service) personOf(repository, login string) Actor {
	if s.Identify != nil {
		if by, known := s.Identify(repository, login); known {
			return by
		}
	}
	return Actor{Name: login, Kind: Person}
}

func (s *Service) event(ctx context.Context, by Actor, action, message string) AuditEvent {
	r, _ := ctx.Value(requestKey{}).(Request)
	return AuditEvent{At: s.Now(), Actor: by, Action: action, Message: message, RequestID: r.ID, SourceAddress: r.SourceAddress}
}

func (s *Service) promotionEvent(ctx context.Context, by Actor, p Promotion, action, message string) AuditEvent {
	e := s.event(ctx, by, action, message)
	e.Object = fmt.Sprintf("promotion/%d", p.ID)
	e.Application, e.Environment = p.Target.Application, p.Target.Environment
	e.ReleaseID, e.PromotionID = p.Release.ID, p.ID
	return e
}

// allow refuses an actor who holds none of the roles.
func allow(by Actor, what string, roles ...Role) error {
	if by.Has(roles...) {
		return nil
	}
	return &Error{Kind: Forbidden, Code: "forbidden",
		Message: fmt.Sprintf("%s may not %s: that needs one of the roles %v; ask an admin for it", by.Name, what, roles)}
}
