package promotion

import (
	"context"
	"time"
)

// Queries answer the pages and the API. Lists come newest first; before is the
// cursor: only ids below it, zero for the start.
type Queries interface {
	Board(ctx context.Context) ([]BoardRow, error)
	Releases(ctx context.Context, application string, before int64, limit int) ([]Release, error)
	BuildByID(ctx context.Context, id int64) (Build, error)
	Promotions(ctx context.Context, f PromotionFilter) ([]Promotion, error)
	Deployments(ctx context.Context, application, environment string) ([]Deployment, error)
	History(ctx context.Context, f HistoryFilter) ([]HistoryEntry, error)
	AuditEvents(ctx context.Context, f AuditFilter) ([]AuditEvent, error)
	Repositories(ctx context.Context) ([]RepositoryStatus, error)
	// Overrides are in force, or wait for their review.
	Overrides(ctx context.Context, at time.Time) ([]Override, error)
	// Violations are newest first; only those not closed when open.
	Violations(ctx context.Context, open bool, limit int) ([]Violation, error)
	// Attestations about an application's releases are newest first.
	Attestations(ctx context.Context, application string, limit int) ([]Attestation, error)
	// Deliveries are newest first; only those that failed and have not arrived since when failed.
	Deliveries(ctx context.Context, failed bool, limit int) ([]Delivery, error)
	// Notifications are newest first, each with its deliveries.
	Notifications(ctx context.Context, f NotificationFilter) ([]NotificationEntry, error)
}

// BoardRow is one application on the board, its cells in rank order.
type BoardRow struct {
	Application string
	Cells       []BoardCell
}

// BoardCell is one target on the board.
type BoardCell struct {
	Target      Target
	Deployments []Deployment
	Open        *Promotion  // the promotion that occupies the target or is on its way to the cluster
	Waiting     []Promotion // behind it in the queue, in order
	Desired     *Release    // what main renders, nil when no release matches
	DesiredSHA  string
}

// PromotionFilter selects promotions; empty fields do not filter.
type PromotionFilter struct {
	Application, Environment string
	State                    State
	ReleaseID                int64
	Unfinished               bool
	Before                   int64
	Limit                    int
}

// NotificationFilter selects notifications; empty fields do not filter.
type NotificationFilter struct {
	Application, Environment string
	Kind                     NotificationKind
	Undelivered              bool  // only those that have not arrived somewhere
	Before                   int64 // only IDs below it
	Limit                    int
}

// NotificationEntry is what was told, and how that went at each destination.
type NotificationEntry struct {
	ID int64
	Notification
	Deliveries []Delivery
}

// HistoryFilter selects what ran. At, when set, keeps only what ran at that moment.
type HistoryFilter struct {
	Application, Environment string
	At                       time.Time
	Before                   int64
	Limit                    int
}

// HistoryEntry is what one deployment was seen to be over a span of time.
type HistoryEntry struct {
	ID                       int64
	Application, Environment string
	Cluster                  string
	ReleaseID                int64 // zero when no release matches
	Number                   int
	Version                  string
	Sync                     SyncStatus
	Health                   HealthStatus
	Revision, Message        string
	Images, ImageIDs         []string
	From                     time.Time
	To                       time.Time // zero: still so
	PromotionID              int64     // that brought it, zero when none did
	RequestedBy, MergedBy    string
	ApprovedBy               []string
}

// AuditFilter selects audit events.
type AuditFilter struct {
	Application, Environment string
	PromotionID, ReleaseID   int64
	Before                   int64
	Limit                    int
}

// RepositoryStatus is how a config repository was last seen.
type RepositoryStatus struct {
	Name, URL, BaseBranch, Head, Problem string
	LookedAt                             time.Time
	PolicyFaults                         PolicyFaults  // of the policy on main; the one before is then in force
	EngineFaults                         []EngineFault // on main; nil when they were not read yet
	LimitedUntil                         time.Time     // the host answers no calls, as it said when there were too many; zero when it never did
	Unprotected                          []string      // what the host does not enforce on the base branch; nil when that was not looked at yet
}
