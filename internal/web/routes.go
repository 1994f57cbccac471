package web

import (
	"compress/gzip"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/sluicehq/sluice/internal/auth"
	"github.com/sluicehq/sluice/internal/promotion"
)

// Register adds every route with who may use it.
func (w *Web) Register(r *auth.Router) {
	readers := auth.SignedIn()
	if w.demo {
		readers = auth.Anyone()
	}
	managers := auth.Roles(promotion.RoleReleaseManager, promotion.RoleAdmin)
	deciders := auth.Roles(promotion.RoleReleaseManager, promotion.RoleApprover, promotion.RoleAdmin)

	compressed := middleware.GzipWithConfig(middleware.GzipConfig{Level: gzip.BestSpeed, MinLength: 1 << 10})
	get := func(path string, who auth.Access, h echo.HandlerFunc) {
		r.Add(http.MethodGet, path, who, w.secure(compressed(h)))
	}
	post := func(path string, who auth.Access, h echo.HandlerFunc) { r.Add(http.MethodPost, path, who, w.secure(h)) }

	get("/", readers, w.showBoard)
	r.Add(http.MethodGet, "/events", readers, w.secure(w.streamEvents)) // each event goes out as it is
	get("/promotions/:id", readers, w.showPromotion)
	post("/promotions/:id/approve", deciders, w.approve)
	post("/promotions/:id/reject", deciders, w.reject)
	post("/promotions/:id/merge", deciders, w.merge)
	post("/promotions/:id/sync", deciders, w.sync)
	post("/promotions/:id/retry", managers, w.retry)
	post("/promotions/:id/cancel", managers, w.cancel)
	for _, action := range []string{"approve", "reject", "merge", "sync", "retry", "cancel"} {
		get("/promotions/:id/"+action, readers, backToPromotion) // the address of a refusal, loaded again
	}

	get("/promote", readers, w.showPromote)
	post("/promote", managers, w.promote)

	get("/applications/:name", readers, w.showApplication)
	get("/releases/:id", readers, w.showRelease)
	get("/history", readers, w.showHistory)
	get("/audit", readers, w.showAudit)
	get("/set-up", readers, w.showSetUp)
	if w.pullRequests != nil {
		get("/git/:repository/pulls", readers, w.showPulls)
		get("/git/:repository/pulls/:number", readers, w.showPull)
	}

	get("/sign-in", auth.Anyone(), w.showSignIn)
	post("/sign-in", auth.Anyone(), w.signIn)
	post("/sign-out", auth.Anyone(), w.signOut)
	get("/static/:name", auth.Anyone(), w.static)
}
