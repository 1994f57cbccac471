package promotion

import (
	"context"
	"strings"
	"time"
)

// Drift is one field, or a whole object when Path is empty, that is not as Git says. Values are what people may see.
type Drift struct {
	ID         int64
	Deployment DeploymentKey
	Target     Target
	Object     string // Kind.group namespace/name
	Path       string
	Want, Have string // empty where there is none
	Class      DriftClass
	Owner      string // who wrote it, in words: a program, since managedFields name no people
	Manager    string // as managedFields name it
	Operation  string // Apply or Update
	OwnedAt    time.Time
	Excuse     string // why it does not count; empty: it counts
	Finding    string // what is wrong with the rule that hides it
	FirstSeen  time.Time
	LastSeen   time.Time // of what is resolved: when it was last so; else of the last look
	ResolvedAt time.Time
	Steps      []string    // to the field, as managedFields write them; only of a look at the cluster, and not stored
	Live       string      // what is live as JSON; empty when it is hidden, no scalar or not there; likewise
	Written    []LiveWrite // by people, as audited, that may be what made it; newest first
	Times      int         // how often the field drifted within the hour before it was first seen, this time included
}

// DriftClass says what kind of writer is behind a difference.
type DriftClass string

// The classes of drift.
const (
	DriftHuman      DriftClass = "human"
	DriftAutoscaler DriftClass = "autoscaler"
	DriftWebhook    DriftClass = "webhook"
	DriftController DriftClass = "controller"
	DriftDelivery   DriftClass = "delivery-tool"
	DriftDeleted    DriftClass = "deleted"
	DriftExtra      DriftClass = "extra"
	DriftUnknown    DriftClass = "unknown"
)

// Counts tells whether it is drift, and not something that a rule or a webhook explains.
func (d Drift) Counts() bool { return d.Excuse == "" }

// oscillating is how often a field drifts within an hour until two writers are said to be at it.
const oscillating = 3

// Oscillates tells whether two writers take turns on the field.
func (d Drift) Oscillates() bool { return d.Times >= oscillating }

// sameField tells whether two are about one field of one object.
func (d Drift) sameField(o Drift) bool { return d.Object == o.Object && d.Path == o.Path }

// hiddenValue is in place of a value that nobody may see.
const hiddenValue = "(hidden)"

// keeps tells whether a field was not written since: the date of its owner moves with each write of the same program to any other field.
func (d Drift) keeps(before Drift) bool {
	return d.Have == before.Have && d.Manager == before.Manager && d.Operation == before.Operation && !strings.Contains(d.Have, hiddenValue)
}

// sameAs tells whether nothing about the field is different.
func (d Drift) sameAs(o Drift) bool {
	return d.sameField(o) && d.Want == o.Want && d.Have == o.Have && d.Class == o.Class && d.Owner == o.Owner && d.Manager == o.Manager &&
		d.Operation == o.Operation && d.OwnedAt.Equal(o.OwnedAt) && d.Excuse == o.Excuse && d.Finding == o.Finding
}

// DriftLook is the last look for drift of one deployment.
type DriftLook struct {
	DeploymentID int64
	Deployment   DeploymentKey
	Target       Target
	LookedAt     time.Time // the last look that found out; zero: none ever did
	Problem      string    // why what is so now is unknown
	ProblemSince time.Time
	Revision     string // that live objects were compared with
	SelfHeal     bool
	Unchecked    []string
	Rollback     string // what was rolled back by hand, in words; empty: nothing was

	KnownSince   time.Time // since when every look found everything out, none too long after the one before; zero: the last did not
	Drifting     int       // how many fields drift that count
	DriftedUntil time.Time // when the last one that counted was resolved
}

// DriftFilter selects drift. Zero values select everything.
type DriftFilter struct {
	TargetID                 int64
	Application, Environment string
	Open                     bool  // only what is not resolved
	Before                   int64 // only IDs below it
	Limit                    int
}

// DriftReader reads what is known of drift.
type DriftReader interface {
	// Drifts are newest first; of all targets when targetID is zero, and only what is not resolved when open.
	Drifts(ctx context.Context, targetID int64, open bool, limit int) ([]Drift, error)
	// DriftPage is newest first.
	DriftPage(ctx context.Context, f DriftFilter) ([]Drift, error)
	// DriftLooks are of all targets when targetID is zero.
	DriftLooks(ctx context.Context, targetID int64) ([]DriftLook, error)
}

// DriftWriter writes it.
type DriftWriter interface {
	// OpenDrifts holds a deployment's look until the end of the transaction, and lists what is not resolved.
	OpenDrifts(ctx context.Context, deploymentID int64) ([]Drift, error)
	// SyncedAgain is when a deployment that was OutOfSync became Synced for the first time after a moment; zero: it did not.
	SyncedAgain(ctx context.Context, deploymentID int64, after time.Time) (time.Time, error)
	InsertDrift(ctx context.Context, deploymentID, targetID int64, d Drift) error
	// SaveDrift updates what is known of a field that still drifts.
	SaveDrift(ctx context.Context, d Drift) error
	ResolveDrift(ctx context.Context, id int64, lastSeen, at time.Time) error
	// SaveDriftLook keeps since when it is known unless the look before was earlier than patience.
	SaveDriftLook(ctx context.Context, l DriftLook, patience time.Time) error
	// InsertLiveWrite does nothing when the write is known already.
	InsertLiveWrite(ctx context.Context, cluster string, w AuditedWrite) error
	ForgetLiveWrites(ctx context.Context, before time.Time) error
}
