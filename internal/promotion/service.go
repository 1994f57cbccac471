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
	Store     Store
	Sites     map[string]Site // config repositories by name
	Clusters  map[string]Cluster
	Registry  Registry
	Manifests Manifests
	Engine    Engine
	Linter    Linter
	Policies  Policies
	Now       func() time.Time
	// Identify tells who a person of a host is in Sluice, with the roles that they hold now. Nil: nobody of a host is known.
	Identify  func(repository, login string) (Actor, bool)
	PublicURL string // where people reach Sluice, without a trailing slash
	Log       *slog.Logger
	// Checkpoint is told of every boundary between two steps. Tests end the
	// process there; the product leaves it nil.
	Checkpoint func(boundary string)

	parsed sync.Map // of each config repository, the policy last parsed: a compiled
}

// Site is a config repository together with the host its pull requests live on.
type Site struct {
	URL        string
	BaseBranch string
	Repository ConfigRepository
	Host       PullRequestHost
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
