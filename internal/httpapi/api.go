// Package httpapi is the door for programs: it turns HTTP requests into use
// cases of the domain and answers as api/openapi.yaml says.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// UseCases is what the API asks of the domain.
type UseCases interface {
	RecordBuild(ctx context.Context, by promotion.Actor, r promotion.BuildRequest) (out promotion.BuildOutcome, created bool, err error)
	Build(ctx context.Context, id int64) (promotion.BuildOutcome, error)
	Promote(ctx context.Context, by promotion.Actor, r promotion.PromoteRequest) (promotion.Promotion, error)
	Decide(ctx context.Context, by promotion.Actor, r promotion.DecideRequest) (promotion.Promotion, error)
	Merge(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Sync(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Retry(ctx context.Context, by promotion.Actor, id int64) (promotion.Promotion, error)
	Cancel(ctx context.Context, by promotion.Actor, id int64, reason string) (promotion.Promotion, error)
	Chain(ctx context.Context, releaseID int64) ([]promotion.Link, error)
}

// Options is what the API needs. All fields are required.
type Options struct {
	UseCases UseCases
	Store    promotion.Store
	// Ready returns why the server cannot do its work, nil when it can.
	Ready func(context.Context) error
	Log   *slog.Logger
}

// API holds the handlers.
type API struct {
	useCases UseCases
	store    promotion.Store
	ready    func(context.Context) error
	log      *slog.Logger
}

// New makes the API.
func New(o Options) *API {
	return &API{useCases: o.UseCases, store: o.Store, ready: o.Ready, log: o.Log}
}

// Register adds every route with who may use it.
func (a *API) Register(r *auth.Router) {
	anyone, everybody := auth.Anyone(), auth.SignedIn()
	posters := auth.Roles(promotion.RoleCI, promotion.RoleReleaseManager, promotion.RoleAdmin)
	managers := auth.Roles(promotion.RoleReleaseManager, promotion.RoleAdmin)
	deciders := auth.Roles(promotion.RoleReleaseManager, promotion.RoleApprover, promotion.RoleAdmin)

	r.Add(http.MethodPost, "/api/v1/builds", posters, a.postBuild)
	r.Add(http.MethodGet, "/api/v1/builds/:id", everybody, a.getBuild)

	r.Add(http.MethodGet, "/api/v1/promotions", everybody, a.listPromotions)
	r.Add(http.MethodPost, "/api/v1/promotions", managers, a.requestPromotion)
	r.Add(http.MethodGet, "/api/v1/promotions/:id", everybody, a.getPromotion)
	r.Add(http.MethodPost, "/api/v1/promotions/:id/approvals", deciders, a.decidePromotion)
	r.Add(http.MethodPost, "/api/v1/promotions/:id/merge", deciders, a.act(a.useCases.Merge))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/sync", deciders, a.act(a.useCases.Sync))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/retry", managers, a.act(a.useCases.Retry))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/cancel", managers, a.cancelPromotion)

	r.Add(http.MethodGet, "/api/v1/releases", everybody, a.listReleases)
	r.Add(http.MethodGet, "/api/v1/releases/:id", everybody, a.getRelease)
	r.Add(http.MethodGet, "/api/v1/releases/:id/chain", everybody, a.getReleaseChain)

	r.Add(http.MethodGet, "/api/v1/applications", everybody, a.listApplications)
	r.Add(http.MethodGet, "/api/v1/deployments", everybody, a.listDeployments)
	r.Add(http.MethodGet, "/api/v1/history", everybody, a.listHistory)
	r.Add(http.MethodGet, "/api/v1/audit-events", everybody, a.listAuditEvents)

	r.Add(http.MethodGet, "/api/openapi.yaml", anyone, a.getDocument)
	r.Add(http.MethodGet, "/healthz", anyone, a.getHealth)
	r.Add(http.MethodGet, "/readyz", anyone, a.getReadiness)
}
