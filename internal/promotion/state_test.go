package promotion_test

import (
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/promotion"
)

func TestState(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)
	merged := func(change func(*promotion.Promotion)) promotion.Promotion {
		p := promotion.Promotion{Decision: promotion.Requested, PullRequest: promotion.PullRequestMerged, MergedAt: at}
		change(&p)
		return p
	}
	tests := []struct {
		name string
		p    promotion.Promotion
		want promotion.State
	}{
		{"asked for", promotion.Promotion{Decision: promotion.Requested, PullRequest: promotion.PullRequestNone}, promotion.StateRequested},
		{"open", promotion.Promotion{Decision: promotion.Requested, PullRequest: promotion.PullRequestOpen}, promotion.StateOpen},
		{"cancelled before a pull request", promotion.Promotion{Decision: promotion.Cancelled, PullRequest: promotion.PullRequestNone}, promotion.StateCancelled},
		{"rejected with its pull request still open", promotion.Promotion{Decision: promotion.Rejected, PullRequest: promotion.PullRequestOpen}, promotion.StateRejected},
		{"superseded and closed", promotion.Promotion{Decision: promotion.Superseded, PullRequest: promotion.PullRequestClosed}, promotion.StateSuperseded},
		{"merged", merged(func(*promotion.Promotion) {}), promotion.StateMerged},
		{"merged although cancelled: the merge is a fact", merged(func(p *promotion.Promotion) { p.Decision = promotion.Cancelled }), promotion.StateMerged},
		{"syncing", merged(func(p *promotion.Promotion) { p.SyncStartedAt = at }), promotion.StateSyncing},
		{"synced is not live", merged(func(p *promotion.Promotion) { p.SyncStartedAt, p.SyncedAt = at, at }), promotion.StateSyncing},
		{"live", merged(func(p *promotion.Promotion) { p.SyncedAt, p.LiveAt = at, at }), promotion.StateLive},
		{"live and failing is failed", merged(func(p *promotion.Promotion) { p.LiveAt, p.Failure = at, "crash loop" }), promotion.StateFailed},
		{"verified", merged(func(p *promotion.Promotion) { p.LiveAt, p.VerifiedAt = at, at }), promotion.StateVerified},
		{"overtaken before it was live", merged(func(p *promotion.Promotion) { p.OvertakenAt = at }), promotion.StateSuperseded},
		{"rolled back", merged(func(p *promotion.Promotion) { p.LiveAt, p.VerifiedAt, p.RolledBackAt = at, at, at }), promotion.StateRolledBack},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.p.State(); got != tt.want {
				t.Errorf("State() = %q, want %q", got, tt.want)
			}
		})
	}
}
