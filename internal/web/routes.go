package web

import (
	"compress/gzip"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/sluicehq/sluice/internal/auth"
)

// Register adds every route with who may use it.
func (w *Web) Register(r *auth.Router) {
	readers := auth.SignedIn()
	if w.demo {
		readers = auth.Anyone()
	}
	managers, deciders, glassBreakers := auth.Roles(managers...), auth.Roles(deciders...), auth.Roles(glassBreakers...)

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
	post("/promotions/:id/standing-merge", deciders, w.mergeWhenPassing)
	post("/promotions/:id/withdraw-merge", deciders, w.withdrawMerge)
	post("/promotions/:id/sync", deciders, w.sync)
	post("/promotions/:id/retry", managers, w.retry)
	post("/promotions/:id/cancel", managers, w.cancel)
	post("/promotions/:id/accept", deciders, w.acceptUnknown)
	for _, action := range []string{"approve", "reject", "merge", "standing-merge", "withdraw-merge", "sync", "retry", "cancel", "accept"} {
		get("/promotions/:id/"+action, readers, backToPromotion) // the address of a refusal, loaded again
	}

	get("/promote", readers, w.showPromote)
	post("/promote", managers, w.promote)

	get("/applications/:name", readers, w.showApplication)
	get("/applications/:name/:environment", readers, w.showTarget)
	post("/applications/:name/:environment/restore-live", deciders, w.restoreLive)
	get("/applications/:name/:environment/restore-live", readers, backToTarget)
	get("/drift", readers, w.showDrift)
	get("/applications/:name/:environment/rollback", readers, w.showRollback)
	get("/releases/:id", readers, w.showRelease)
	post("/releases/:id/reject", deciders, w.rejectRelease)
	post("/releases/:id/reopen", managers, w.reopenRelease)
	post("/releases/:id/clear-rollback", managers, w.clearRollback)
	get("/releases/:id/reject", readers, backToRelease)
	get("/releases/:id/clear-rollback", readers, backToRelease)
	get("/releases/:id/reopen", readers, backToRelease)

	get("/hold", readers, w.showHold)
	post("/hold", managers, w.hold)
	post("/resume", managers, w.resume)
	get("/resume", readers, redirectTo("/"))
	get("/owed/waive", readers, w.showWaive)
	post("/owed/waive", managers, w.waive)
	get("/sync-pause", readers, w.showSyncPause)
	post("/sync-pause", managers, w.pauseSync)
	post("/sync-pause/resume", managers, w.resumeSync)
	get("/sync-pause/resume", readers, redirectTo("/"))
	get("/attestations", readers, w.showAttestations)
	post("/attestations", deciders, w.attest)
	get("/rollback", readers, w.showGoBack)
	post("/rollback", managers, w.goBack)
	get("/adopt", readers, w.showAdopt)
	post("/adopt", managers, w.adopt)
	get("/restore", readers, w.showRestore)
	post("/restore", managers, w.restore)

	get("/calendar", readers, w.showCalendar)
	get("/freezes", readers, redirectTo("/calendar#freezes"))
	get("/freezes/new", readers, w.showFreeze)
	post("/freezes/new", managers, w.freeze)
	post("/freezes/:id/end", managers, w.thaw)
	get("/freezes/:id/end", readers, redirectTo("/calendar#freezes"))
	get("/freezes/:id", readers, redirectTo("/calendar#freezes"))

	get("/violations", readers, w.showExceptions)
	post("/violations/:id/review", deciders, w.closeViolation)
	get("/violations/:id/review", readers, redirectTo("/violations"))
	get("/violations/:id", readers, redirectTo("/violations"))
	get("/overrides", readers, redirectTo("/violations#overrides"))
	get("/overrides/new", readers, w.showOverride)
	post("/overrides/new", glassBreakers, w.override)
	post("/overrides/:id/review", deciders, w.reviewOverride)
	get("/overrides/:id/review", readers, redirectTo("/violations#overrides"))
	get("/overrides/:id", readers, redirectTo("/violations#overrides"))

	get("/notifications", readers, w.showNotifications)
	post("/notifications/:delivery/try-again", managers, w.tryAgain)
	get("/notifications/:delivery/try-again", readers, redirectTo("/notifications"))
	get("/notifications/:delivery", readers, redirectTo("/notifications"))

	get("/history", readers, w.showHistory)
	get("/audit", readers, w.showAudit)
	get("/set-up", readers, w.showSetUp)
	if w.pullRequests != nil {
		get("/git/:repository/pulls", readers, w.showPulls)
		get("/git/:repository/pulls/new", readers, w.showNewPull)
		post("/git/:repository/pulls/new", managers, w.openPull)
		get("/git/:repository/pulls/:number", readers, w.showPull)
		post("/git/:repository/pulls/:number/merge", deciders, w.mergePull)
		post("/git/:repository/pulls/:number/close", managers, w.closePull)
		for _, action := range []string{"merge", "close"} {
			get("/git/:repository/pulls/:number/"+action, readers, backToPull)
		}
	}

	get("/sign-in", auth.Anyone(), w.showSignIn)
	post("/sign-in", auth.Anyone(), w.signIn)
	post("/sign-out", auth.Anyone(), w.signOut)
	get("/static/:name", auth.Anyone(), w.static)
}

// redirectTo leads from the address of a form, loaded again, to the page that has the form.
func redirectTo(target string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, target) }
}
