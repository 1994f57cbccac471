// Package httpapi is the door for programs: it turns HTTP requests into use
// cases of the domain and answers as api/openapi.yaml says.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Options is what the API needs. All fields are required.
type Options struct {
	UseCases UseCases
	Store    promotion.Store
	// Ready returns why the server cannot do its work, nil when it can.
	Ready func(context.Context) error
	Now   func() time.Time
	Log   *slog.Logger
}

// API holds the handlers.
type API struct {
	useCases UseCases
	store    promotion.Store
	ready    func(context.Context) error
	now      func() time.Time
	log      *slog.Logger
}

// New makes the API.
func New(o Options) *API {
	return &API{useCases: o.UseCases, store: o.Store, ready: o.Ready, now: o.Now, log: o.Log}
}

// Register adds every route with who may use it. In a path, \: is a colon that begins no parameter.
func (a *API) Register(r *auth.Router) {
	anyone, everybody := auth.Anyone(), auth.SignedIn()
	posters := auth.Roles(promotion.RoleCI, promotion.RoleReleaseManager, promotion.RoleAdmin)
	managers := auth.Roles(promotion.RoleReleaseManager, promotion.RoleAdmin)
	deciders := auth.Roles(promotion.RoleReleaseManager, promotion.RoleApprover, promotion.RoleAdmin)
	breakers := auth.Roles(promotion.RoleBreakGlass)

	r.Add(http.MethodPost, "/api/v1/builds", posters, a.postBuild)
	r.Add(http.MethodGet, "/api/v1/builds/:id", everybody, a.getBuild)

	r.Add(http.MethodPost, "/api/v1/evidence", posters, a.postEvidence)

	r.Add(http.MethodGet, "/api/v1/attestations", everybody, a.listAttestations)
	r.Add(http.MethodPost, "/api/v1/attestations", deciders, a.attest)

	r.Add(http.MethodGet, "/api/v1/promotions", everybody, a.listPromotions)
	r.Add(http.MethodPost, "/api/v1/promotions", managers, a.requestPromotion)
	r.Add(http.MethodPost, `/api/v1/promotions\:plan`, everybody, a.planPromotion)
	r.Add(http.MethodGet, "/api/v1/promotions/:id", everybody, a.getPromotion)
	r.Add(http.MethodPost, "/api/v1/promotions/:id/approvals", deciders, a.decidePromotion)
	r.Add(http.MethodPost, "/api/v1/promotions/:id/merge", deciders, a.act(a.useCases.Merge))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/standing-merge", deciders, a.mergeWhenPassing)
	r.Add(http.MethodPost, "/api/v1/promotions/:id/standing-merge/withdraw", deciders, a.act(a.useCases.WithdrawMergeWhenPassing))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/sync", deciders, a.act(a.useCases.Sync))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/retry", managers, a.act(a.useCases.Retry))
	r.Add(http.MethodPost, "/api/v1/promotions/:id/cancel", managers, a.cancelPromotion)
	r.Add(http.MethodPost, "/api/v1/promotions/:id/acceptances", deciders, a.acceptUnknown)
	r.Add(http.MethodGet, "/api/v1/rollbacks", everybody, a.checkRollback)
	r.Add(http.MethodGet, "/api/v1/rollback-verdicts/:id", everybody, a.getRollbackVerdict)
	r.Add(http.MethodPost, `/api/v1/rollbacks\:plan`, everybody, a.planRollback)
	r.Add(http.MethodPost, "/api/v1/rollbacks", managers, a.startRollback)
	r.Add(http.MethodPost, `/api/v1/restorations\:plan`, everybody, a.planRestoration)
	r.Add(http.MethodPost, "/api/v1/restorations", managers, a.restore)
	r.Add(http.MethodPost, `/api/v1/adoptions\:plan`, everybody, a.planAdoption)
	r.Add(http.MethodPost, "/api/v1/adoptions", managers, a.adopt)

	r.Add(http.MethodGet, "/api/v1/releases", everybody, a.listReleases)
	r.Add(http.MethodGet, "/api/v1/releases/:id", everybody, a.getRelease)
	r.Add(http.MethodGet, "/api/v1/releases/:id/chain", everybody, a.getReleaseChain)
	r.Add(http.MethodGet, "/api/v1/releases/:id/evidence", everybody, a.listReleaseEvidence)
	r.Add(http.MethodPost, "/api/v1/releases/:id/reject", deciders, a.judge(a.useCases.RejectRelease))
	r.Add(http.MethodPost, "/api/v1/releases/:id/reopen", managers, a.judge(a.useCases.ReopenRelease))
	r.Add(http.MethodPost, "/api/v1/releases/:id/clear-rollback", managers, a.judge(a.useCases.ClearRollback))

	r.Add(http.MethodGet, "/api/v1/windows", everybody, a.listWindows)
	r.Add(http.MethodGet, "/api/v1/freezes", everybody, a.listFreezes)
	r.Add(http.MethodPost, "/api/v1/freezes", managers, a.freeze)
	r.Add(http.MethodPost, `/api/v1/freezes\:plan`, everybody, a.planFreeze)
	r.Add(http.MethodPost, "/api/v1/freezes/:id/end", managers, a.endFreeze)
	r.Add(http.MethodGet, "/api/v1/holds", everybody, a.listHolds)
	r.Add(http.MethodPost, "/api/v1/holds", managers, a.hold)
	r.Add(http.MethodPost, `/api/v1/holds\:resume`, managers, a.resume)

	r.Add(http.MethodGet, "/api/v1/owed", everybody, a.listOwed)
	r.Add(http.MethodPost, `/api/v1/owed\:waive`, managers, a.waiveOwed)
	r.Add(http.MethodGet, "/api/v1/sync-pauses", everybody, a.listSyncPauses)
	r.Add(http.MethodPost, "/api/v1/sync-pauses", managers, a.pauseSync)
	r.Add(http.MethodPost, `/api/v1/sync-pauses\:resume`, managers, a.resumeSync)

	r.Add(http.MethodGet, "/api/v1/overrides", everybody, a.listOverrides)
	r.Add(http.MethodPost, "/api/v1/overrides", breakers, a.override)
	r.Add(http.MethodPost, "/api/v1/overrides/:id/review", deciders, a.review(a.useCases.ReviewOverride))
	r.Add(http.MethodGet, "/api/v1/violations", everybody, a.listViolations)
	r.Add(http.MethodPost, "/api/v1/violations/:id/review", deciders, a.review(a.useCases.CloseViolation))

	r.Add(http.MethodGet, "/api/v1/notifications", everybody, a.listNotifications)
	r.Add(http.MethodPost, "/api/v1/deliveries/:id/retry", managers, a.retryDelivery)

	r.Add(http.MethodGet, "/api/v1/applications", everybody, a.listApplications)
	r.Add(http.MethodGet, "/api/v1/deployments", everybody, a.listDeployments)
	r.Add(http.MethodGet, "/api/v1/drifts", everybody, a.listDrifts)
	r.Add(http.MethodGet, "/api/v1/history", everybody, a.listHistory)
	r.Add(http.MethodGet, "/api/v1/audit-events", everybody, a.listAuditEvents)
	r.Add(http.MethodGet, "/api/v1/revisions", everybody, a.listRevisions)
	r.Add(http.MethodGet, "/api/v1/repositories", everybody, a.listRepositories)

	r.Add(http.MethodGet, "/api/openapi.yaml", anyone, a.getDocument)
	r.Add(http.MethodGet, "/healthz", anyone, a.getHealth)
	r.Add(http.MethodGet, "/readyz", anyone, a.getReadiness)
}
