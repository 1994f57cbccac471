package promotion

import (
	"context"
	"time"
)

// Store keeps what is known. Reads outside a transaction see what is committed.
type Store interface {
	Reader
	// Tx runs one decision: everything written by fn, its audit events and the
	// work it enqueues are stored together or not at all. fn may be run again
	// after a serialisation failure.
	Tx(ctx context.Context, fn func(Tx) error) error
	// Exclusively runs fn while no other server does so under the same key.
	// ran is false when another one holds it.
	Exclusively(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error)
}

// Reader reads the domain's objects. A single object that does not exist is ErrNotFound.
type Reader interface {
	Targets(ctx context.Context) ([]Target, error)
	TargetNamed(ctx context.Context, application, environment string) (Target, error)
	Release(ctx context.Context, id int64) (Release, error)
	ReleaseVersion(ctx context.Context, application, version string) (Release, error)
	BuildsOfGroup(ctx context.Context, group string) ([]Build, error)
	// BuildOutcome is what a build led to; Waiting is left for the domain to say.
	BuildOutcome(ctx context.Context, buildID int64) (BuildOutcome, error)
	Promotion(ctx context.Context, id int64) (Promotion, error)
	Approvals(ctx context.Context, promotionID int64) ([]Approval, error)
	Gates(ctx context.Context, promotionID int64) ([]GateResult, error)
	DeploymentsOf(ctx context.Context, targetID int64) ([]Deployment, error)
	LatestRevision(ctx context.Context, targetID int64) (TargetRevision, error)
	RevisionsOf(ctx context.Context, targetID int64, limit int) ([]TargetRevision, error)
	// VerifiedOn tells on which of the targets this release was verified, and by which promotion.
	VerifiedOn(ctx context.Context, releaseID int64, targetIDs []int64) (map[int64]int64, error)
	// NewerMerged is the newest merged promotion of the target after this one, zero if none.
	NewerMerged(ctx context.Context, p Promotion) (int64, error)
	// Unfinished lists promotions that may still change, of a repository or of all ("").
	Unfinished(ctx context.Context, repository string) ([]int64, error)
	// Platforms maps platform digests to the index that holds them, for those
	// where either is one of these digests.
	Platforms(ctx context.Context, digests []string) (map[string]string, error)
	RepositoryHead(ctx context.Context, repository string) (string, error)
	Queries
}

// Tx reads and writes within one transaction.
type Tx interface {
	Reader

	// LockApplication makes posts and requests for one application take turns.
	LockApplication(ctx context.Context, id int64) error
	// LockPromotion returns the promotion as it is now and holds it until the end.
	LockPromotion(ctx context.Context, id int64) (Promotion, error)

	BuildByKey(ctx context.Context, idempotencyKey string) (Build, error)
	// InsertBuild stores a build; created is false when it was posted before,
	// and id is then the earlier one's.
	InsertBuild(ctx context.Context, b Build) (id int64, created bool, err error)
	// ApplicationsUsing is the newest release of each application that has a release with an image of one of these
	// repositories, or for which main renders one.
	ApplicationsUsing(ctx context.Context, repositories []string) ([]Release, error)
	ApplicationID(ctx context.Context, name string) (int64, error)
	// NewestRelease of a line, or of any line when line is empty; ErrNotFound.
	NewestRelease(ctx context.Context, applicationID int64, line string) (Release, error)
	ReleaseWithArtifacts(ctx context.Context, applicationID int64, artifactsKey string) (Release, error)
	ReleaseOfVersion(ctx context.Context, applicationID int64, version string) (Release, error)
	InsertRelease(ctx context.Context, r Release, artifactsKey string) (Release, error)
	AddAlias(ctx context.Context, releaseID int64, version string, buildID int64, at time.Time) error

	TargetsOf(ctx context.Context, applicationID int64) ([]Target, error)
	OpenPromotion(ctx context.Context, targetID int64) (Promotion, error)
	InsertPromotion(ctx context.Context, p Promotion) (int64, error)
	SavePromotion(ctx context.Context, p Promotion) error
	PromotionByCommit(ctx context.Context, targetID int64, mergeSHA string) (int64, error)

	InsertApproval(ctx context.Context, a Approval) error
	SaveGates(ctx context.Context, promotionID int64, results []GateResult) error

	SaveRepository(ctx context.Context, r RepositoryStatus) error
	SaveApplication(ctx context.Context, repository, name string, at time.Time) (id int64, err error)
	SaveTarget(ctx context.Context, t Target, at time.Time) (id int64, err error)
	RemoveTargetsExcept(ctx context.Context, repository string, ids []int64, at time.Time) error
	InsertTargetRevision(ctx context.Context, r TargetRevision) error
	// NameRevisionsPromotion says which promotion a commit merged, if the commit is recorded already and nobody has said it.
	NameRevisionsPromotion(ctx context.Context, targetID int64, commit string, promotionID int64) error
	// ImagesOf lists the repositories of the images that main renders for an application.
	ImagesOf(ctx context.Context, applicationID int64) ([]string, error)
	SavePlatforms(ctx context.Context, indexDigest string, manifests []PlatformManifest) error
	// SaveObservation updates the deployment, and its history when it differs.
	SaveObservation(ctx context.Context, o Observation, targetID, releaseID int64) (changed bool, err error)
	// ReleaseOf is the newest release that has at least one of these references and
	// none that contradicts them: another reference to one of their repositories. Zero when there is none.
	ReleaseOf(ctx context.Context, applicationID int64, references []string) (int64, error)

	Audit(ctx context.Context, e AuditEvent) error
	// Enqueue stores work in the same transaction, so that neither is lost.
	Enqueue(ctx context.Context, w Work) error
	// EnqueueTarget has a target's unfinished promotions looked at again.
	EnqueueTarget(ctx context.Context, targetID int64) error
}

// Work is something to be done soon, by any server. The same work waiting twice is done once.
type Work struct {
	Kind        WorkKind
	PromotionID int64
	Repository  string
	At          time.Time // not before; zero: now
}

// WorkKind says what is to be done.
type WorkKind string

// The kinds of work: look at a config repository, take a promotion onwards.
const (
	WorkLook    WorkKind = "look"
	WorkAdvance WorkKind = "advance"
)

// BuildOutcome is what a build led to.
type BuildOutcome struct {
	Build      Build
	Releases   []Release
	Promotions []Promotion
	Waiting    []string // names the build's group still waits for
}
