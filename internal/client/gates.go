package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/sluicehq/sluice/api"
)

// nothing is the answer to what leaves nothing to show.
type nothing struct{}

// PostEvidence says what a verification of a release found.
func (c *Client) PostEvidence(ctx context.Context, r api.EvidenceRequest) (api.Evidence, error) {
	return call[api.Evidence](ctx, c, http.MethodPost, "/api/v1/evidence", nil, r)
}

// Attest signs off whether an earlier release can go on with what another has left behind.
func (c *Client) Attest(ctx context.Context, r api.AttestationRequest) (api.Attestation, error) {
	return call[api.Attestation](ctx, c, http.MethodPost, "/api/v1/attestations", nil, r)
}

// Attestations are what was attested of an application's releases, newest first.
func (c *Client) Attestations(ctx context.Context, application string) (api.AttestationList, error) {
	return call[api.AttestationList](ctx, c, http.MethodGet, "/api/v1/attestations", query{"application": application}, nil)
}

// Plan says what every gate would say of a promotion.
func (c *Client) Plan(ctx context.Context, r api.PlanRequest) (api.Plan, error) {
	return call[api.Plan](ctx, c, http.MethodPost, "/api/v1/promotions:plan", nil, r)
}

// Revisions are the commits that changed what a target renders, newest first.
func (c *Client) Revisions(ctx context.Context, application, environment string) (api.RevisionList, error) {
	return call[api.RevisionList](ctx, c, http.MethodGet, "/api/v1/revisions", query{"application": application, "environment": environment}, nil)
}

// PlanRestoration says what setting a target's configuration back would change.
func (c *Client) PlanRestoration(ctx context.Context, r api.RestorationRequest) (api.RestorationPlan, error) {
	return call[api.RestorationPlan](ctx, c, http.MethodPost, "/api/v1/restorations:plan", nil, r)
}

// Restore sets a target's configuration back.
func (c *Client) Restore(ctx context.Context, r api.RestorationRequest) (api.Promotion, error) {
	return call[api.Promotion](ctx, c, http.MethodPost, "/api/v1/restorations", nil, r)
}

// Freezes are the one-off freezes and windows that have not ended.
func (c *Client) Freezes(ctx context.Context) (api.FreezeList, error) {
	return call[api.FreezeList](ctx, c, http.MethodGet, "/api/v1/freezes", nil, nil)
}

// Freeze starts a one-off freeze or window.
func (c *Client) Freeze(ctx context.Context, r api.FreezeRequest) (api.Freeze, error) {
	return call[api.Freeze](ctx, c, http.MethodPost, "/api/v1/freezes", nil, r)
}

// PlanFreeze lists the targets that a freeze or window would be about.
func (c *Client) PlanFreeze(ctx context.Context, r api.FreezeRequest) (api.TargetList, error) {
	return call[api.TargetList](ctx, c, http.MethodPost, "/api/v1/freezes:plan", nil, r)
}

// EndFreeze ends a freeze or window before its time.
func (c *Client) EndFreeze(ctx context.Context, id int64) error {
	_, err := call[nothing](ctx, c, http.MethodPost, on("freezes", id, "end"), nil, nil)
	return err
}

// Holds are what is held.
func (c *Client) Holds(ctx context.Context) (api.HoldList, error) {
	return call[api.HoldList](ctx, c, http.MethodGet, "/api/v1/holds", nil, nil)
}

// Hold keeps a target as it is, or stops everything. The answer is what holds it now.
func (c *Client) Hold(ctx context.Context, r api.HoldRequest) (api.HoldList, error) {
	return call[api.HoldList](ctx, c, http.MethodPost, "/api/v1/holds", nil, r)
}

// Resume ends a hold. The answer is what still holds it.
func (c *Client) Resume(ctx context.Context, r api.ResumeRequest) (api.HoldList, error) {
	return call[api.HoldList](ctx, c, http.MethodPost, "/api/v1/holds:resume", nil, r)
}

// Owed are the releases that environments are owed since a hotfix went past them.
func (c *Client) Owed(ctx context.Context) (api.OwedList, error) {
	return call[api.OwedList](ctx, c, http.MethodGet, "/api/v1/owed", nil, nil)
}

// Waive says that an environment need not get what it is owed.
func (c *Client) Waive(ctx context.Context, r api.WaiveRequest) error {
	_, err := call[nothing](ctx, c, http.MethodPost, "/api/v1/owed:waive", nil, r)
	return err
}

// Overrides are in force, or wait for their review.
func (c *Client) Overrides(ctx context.Context) (api.OverrideList, error) {
	return call[api.OverrideList](ctx, c, http.MethodGet, "/api/v1/overrides", nil, nil)
}

// Override opens gates of a target.
func (c *Client) Override(ctx context.Context, r api.OverrideRequest) (api.Override, error) {
	return call[api.Override](ctx, c, http.MethodPost, "/api/v1/overrides", nil, r)
}

// ReviewOverride closes the review of an override.
func (c *Client) ReviewOverride(ctx context.Context, id int64, review string) error {
	_, err := call[nothing](ctx, c, http.MethodPost, on("overrides", id, "review"), nil, api.ReviewRequest{Review: review})
	return err
}

// Violations are what went past a gate, newest first, at most limit; only those that nobody has reviewed when open.
func (c *Client) Violations(ctx context.Context, open bool, limit int) (api.ViolationList, error) {
	q := query{"open": strconv.FormatBool(open), "limit": strconv.Itoa(limit)}
	return call[api.ViolationList](ctx, c, http.MethodGet, "/api/v1/violations", q, nil)
}

// Notifications are what people were told, newest first, at most limit; only what has not arrived somewhere when undelivered.
func (c *Client) Notifications(ctx context.Context, undelivered bool, limit int) (api.NotificationList, error) {
	q := query{"undelivered": strconv.FormatBool(undelivered), "limit": strconv.Itoa(limit)}
	return call[api.NotificationList](ctx, c, http.MethodGet, "/api/v1/notifications", q, nil)
}

// RetryDelivery tries again to deliver a notification.
func (c *Client) RetryDelivery(ctx context.Context, id string) error {
	_, err := call[nothing](ctx, c, http.MethodPost, "/api/v1/deliveries/"+url.PathEscape(id)+"/retry", nil, nil)
	return err
}

// ReviewViolation closes the review of a violation.
func (c *Client) ReviewViolation(ctx context.Context, id int64, review string) error {
	_, err := call[nothing](ctx, c, http.MethodPost, on("violations", id, "review"), nil, api.ReviewRequest{Review: review})
	return err
}
