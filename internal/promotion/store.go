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
	// TargetsAt are those of a config repository at these paths.
	TargetsAt(ctx context.Context, repository string, paths []string) ([]Target, error)
	TargetNamed(ctx context.Context, application, environment string) (Target, error)
	Release(ctx context.Context, id int64) (Release, error)
	ReleaseVersion(ctx context.Context, application, version string) (Release, error)
	BuildsOfGroup(ctx context.Context, group string) ([]Build, error)
	// BuildOutcome is what a build led to; Waiting is left for the domain to say.
	// AuthorsOf are whom the builds of a release name as authors, by the repository of the image; also those that posted its digests again.
	AuthorsOf(ctx context.Context, releaseID int64) (map[string][]string, error)
	BuildOutcome(ctx context.Context, buildID int64) (BuildOutcome, error)
	Promotion(ctx context.Context, id int64) (Promotion, error)
	Approvals(ctx context.Context, promotionID int64) ([]Approval, error)
	Gates(ctx context.Context, promotionID int64) ([]GateResult, error)
	DeploymentsOf(ctx context.Context, targetID int64) ([]Deployment, error)
	LatestRevision(ctx context.Context, targetID int64) (TargetRevision, error)
	RevisionsOf(ctx context.Context, targetID int64, limit int) ([]TargetRevision, error)
	// DatabaseLooks are the last ones, at most one for each application and environment.
	DatabaseLooks(ctx context.Context) ([]DatabaseLook, error)
	// VerifiedOn tells on which of the targets this release was verified, and by which promotion.
	VerifiedOn(ctx context.Context, releaseID int64, targetIDs []int64) (map[int64]int64, error)
	// OpenOn are a target's open promotions of kind release and rollback: the one that has its turn, then those that wait, in order.
	OpenOn(ctx context.Context, targetID int64) ([]Promotion, error)
	// NewerMerged is the newest merged promotion of the target after this one, zero if none.
	NewerMerged(ctx context.Context, p Promotion) (int64, error)
	// Unfinished lists promotions that may still change, of a repository or of all ("").
	Unfinished(ctx context.Context, repository string) ([]int64, error)
	// Platforms maps platform digests to the index that holds them, for those
	// where either is one of these digests.
	Platforms(ctx context.Context, digests []string) (map[string]string, error)
	Repository(ctx context.Context, name string) (RepositoryStatus, error)
	// SeenPullRequests are a config repository's open pull requests as last judged, by number.
	SeenPullRequests(ctx context.Context, repository string) (map[int]SeenPullRequest, error)
	// Changes are the promotions of kind change of a pull request, newest first.
	Changes(ctx context.Context, repository string, number int) ([]Promotion, error)
	// ReleaseOf is the newest release that has at least one of these references and
	// none that contradicts them: another reference to one of their repositories, or another version of one of these charts.
	// Where several match, it is the preferred one if that is among them. Zero when there is none.
	ReleaseOf(ctx context.Context, applicationID int64, references []string, charts []Chart, preferred int64) (int64, error)
	// PolicyInForce names the newest policy of a config repository; ErrNotFound.
	PolicyInForce(ctx context.Context, repository string) (PolicyInForce, error)
	PolicyFiles(ctx context.Context, id int64) (PolicyFiles, error)
	// Freezes are the one-off freezes and windows that have not ended.
	Freezes(ctx context.Context, at time.Time) ([]Freeze, error)
	// HoldsOf are the holds of a target and of everything; zero lists all that are not released.
	HoldsOf(ctx context.Context, targetID int64) ([]Hold, error)
	// SyncPauses are the pauses of a target that nobody has ended; zero lists those of all.
	SyncPauses(ctx context.Context, targetID int64) ([]SyncPause, error)
	// OverridesOf are a target's overrides that have not expired.
	OverridesOf(ctx context.Context, targetID int64, at time.Time) ([]Override, error)
	// EvidenceFor is all evidence of a release, newest first.
	EvidenceFor(ctx context.Context, releaseID int64) ([]Evidence, error)
	// MigrationsOf is what the builds of releases posted of migrations, without texts, by release. A release that CI posted has
	// at least one entry.
	MigrationsOf(ctx context.Context, releaseIDs []int64) (map[int64][]BuildMigrations, error)
	// MigrationTexts are the texts of migrations by their hash. One that is not stored is left out.
	MigrationTexts(ctx context.Context, hashes []string) (map[string]string, error)
	// MigrationsKnown tells whether a build of an application ever posted migrations.
	MigrationsKnown(ctx context.Context, applicationID int64) (bool, error)
	// RanSince are the other releases that were seen on a target after a release was last seen there, oldest first. Of one that
	// never was, they are those with a higher number.
	RanSince(ctx context.Context, targetID, releaseID int64) ([]Release, error)
	ReleasesWithDigest(ctx context.Context, application, digest string) ([]Release, error)
	// Seen is what a target's deployments were seen to be, each in turn and oldest first: whenever they ran the release, and all
	// since a moment. Deployments that are gone are left out.
	Seen(ctx context.Context, targetID, releaseID int64, since time.Time) ([]Seen, error)
	// Watches are the times in which a cluster was watched that end after a moment, oldest first.
	Watches(ctx context.Context, cluster string, since time.Time) ([]Watch, error)
	// TokenRoles are the roles of the API token of a name, and when it expires; none when there is none that is valid at that time.
	TokenRoles(ctx context.Context, name string, at time.Time) (roles []Role, until time.Time, err error)
	// VerifiedHere are the releases that were verified on a target, the one verified last first.
	VerifiedHere(ctx context.Context, targetID int64, limit int) ([]Release, error)
	// RollbackVerdict is a stored verdict; ErrNotFound.
	RollbackVerdict(ctx context.Context, id int64) (RollbackVerdict, error)
	// AttestationsAbout are the words about what releases leave behind that may be about going back to a candidate, newest first:
	// those that were posted, and those that were signed for the pair.
	AttestationsAbout(ctx context.Context, releaseIDs []int64, candidateID int64) ([]Attestation, error)
	// AcceptancesOf are a promotion's accepted unknowns, those that have expired too.
	AcceptancesOf(ctx context.Context, promotionID int64) ([]Acceptance, error)
	// SyncLine are the syncs that wait in the line or have a place.
	SyncLine(ctx context.Context) ([]Lined, error)
	// MergedUnjudged are promotions merged after a moment whose sync gates were never evaluated.
	MergedUnjudged(ctx context.Context, since time.Time) ([]JustMerged, error)
	// Owed are the releases that environments are owed since a hotfix went past them; of a target, or of all for zero.
	Owed(ctx context.Context, targetID int64) ([]Owed, error)
	// Delivery is a notification on its way to a destination; ErrNotFound.
	Delivery(ctx context.Context, id string) (Delivery, error)
	Queries
	DriftReader
}

// Tx reads and writes within one transaction.
type Tx interface {
	Reader

	// LockApplication makes posts and requests for one application take turns.
	LockApplication(ctx context.Context, id int64) error
	// LockPromotion returns the promotion as it is now and holds it until the end.
	LockPromotion(ctx context.Context, id int64) (Promotion, error)

	// BuildByKey is the build that was posted under a key, or that a post under it turned out to be; ErrNotFound.
	BuildByKey(ctx context.Context, idempotencyKey string) (Build, error)
	// RememberKey has a further key name a build. An empty key is no error.
	RememberKey(ctx context.Context, idempotencyKey string, buildID int64) error
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
	// MarkRolledBack says of a release that a promotion rolled it back; marked is false when that was said before.
	MarkRolledBack(ctx context.Context, releaseID, promotionID int64, at time.Time) (marked bool, err error)
	ClearRollbackMarks(ctx context.Context, releaseID int64, by, reason string, at time.Time) error
	// KeepMissed notes, once for each release and target, what did not start because of a rollback. TakeMissed takes out what a
	// release's mark was the cause of, TakeHeldBack what a hold was, the newest release first.
	KeepMissed(ctx context.Context, m Missed, at time.Time) error
	TakeMissed(ctx context.Context, releaseID int64) ([]Missed, error)
	TakeHeldBack(ctx context.Context, holdID int64) ([]Missed, error)
	// SaveDatabaseLook keeps when it was read last where it was not read now.
	SaveDatabaseLook(ctx context.Context, l DatabaseLook) error
	// SaveRejection stores whether a release is rejected, by whom and why.
	SaveRejection(ctx context.Context, r Release) error
	AddAlias(ctx context.Context, releaseID int64, version string, buildID int64, at time.Time) error

	TargetsOf(ctx context.Context, applicationID int64) ([]Target, error)
	InsertPromotion(ctx context.Context, p Promotion) (int64, error)
	SavePromotion(ctx context.Context, p Promotion) error
	// NewestMerged is the newest merged promotion of a target before another; ErrNotFound.
	NewestMerged(ctx context.Context, targetID, before int64) (Promotion, error)
	PromotionByCommit(ctx context.Context, targetID int64, mergeSHA string) (int64, error)

	InsertApproval(ctx context.Context, a Approval) error
	// SaveToken stores a token, in place of an earlier one of its name.
	SaveToken(ctx context.Context, t NewToken, at time.Time) error
	// RevokeToken ends a token; revoked is false when it was revoked before. ErrNotFound.
	RevokeToken(ctx context.Context, name string, at time.Time) (revoked bool, err error)
	// KeepRollbackVerdict stores a verdict and sets its id, unless the last one of the same step was concluded from the same facts.
	KeepRollbackVerdict(ctx context.Context, v *RollbackVerdict, at time.Time) error
	InsertAttestation(ctx context.Context, a Attestation) (int64, error)
	InsertAcceptance(ctx context.Context, a Acceptance) (int64, error)
	SaveGates(ctx context.Context, promotionID int64, results []GateResult) error

	// SaveLimit keeps until when a repository's host answers no calls.
	SaveLimit(ctx context.Context, repository string, until time.Time) error
	SaveRepository(ctx context.Context, r RepositoryStatus) error
	// ClaimDelivery takes a webhook's delivery once, and forgets those from before a moment.
	ClaimDelivery(ctx context.Context, host, delivery string, at, forget time.Time) (claimed bool, err error)
	// OfPullRequest lists the unfinished promotions of a pull request.
	OfPullRequest(ctx context.Context, repository string, number int) ([]int64, error)
	// ForgetPullRequest drops what was kept of one that is no longer open.
	ForgetPullRequest(ctx context.Context, repository string, number int) error
	SavePullRequestSeen(ctx context.Context, repository string, p SeenPullRequest) error
	// SavePolicy puts a policy in force.
	SavePolicy(ctx context.Context, repository, commit string, files PolicyFiles, from time.Time) error
	SaveApplication(ctx context.Context, repository, name string, at time.Time) (id int64, err error)
	SaveTarget(ctx context.Context, t Target, at time.Time) (id int64, err error)
	RemoveTargetsExcept(ctx context.Context, repository string, ids []int64, at time.Time) error
	InsertTargetRevision(ctx context.Context, r TargetRevision) error
	// NameRevisionsPromotion says which promotion a commit merged, if the commit is recorded already and nobody has said it.
	NameRevisionsPromotion(ctx context.Context, targetID int64, commit string, promotionID int64) error
	// ImagesOf lists the repositories of the images that main renders for an application.
	ImagesOf(ctx context.Context, applicationID int64) ([]string, error)
	ChartsOf(ctx context.Context, applicationID int64) (ChartsKnown, error)
	SavePlatforms(ctx context.Context, indexDigest string, manifests []PlatformManifest) error
	// SaveObservation updates the deployment, and its history when it differs. ErrOutdated: another server has seen it later.
	SaveObservation(ctx context.Context, o Observation, targetID, releaseID int64) (changed bool, err error)

	InsertFreeze(ctx context.Context, z Freeze) (int64, error)
	EndFreeze(ctx context.Context, id int64, by string, at time.Time) error
	// InsertHold is not created when the target, or everything, is held already. A person's takes the place of a rollback's own.
	InsertHold(ctx context.Context, h Hold) (created bool, err error)
	ReleaseHold(ctx context.Context, targetID int64, by string, at time.Time) (released bool, err error)
	InsertSyncPause(ctx context.Context, p SyncPause) (id int64, err error)
	EndSyncPause(ctx context.Context, targetID int64, by string, at time.Time) (ended bool, err error)
	InsertEvidence(ctx context.Context, e Evidence) (int64, error)
	// InsertWaiver is not created when somebody waived the same before.
	InsertWaiver(ctx context.Context, o Owed, by, reason string, at time.Time) (created bool, err error)
	InsertOverride(ctx context.Context, o Override) (int64, error)
	LockOverride(ctx context.Context, id int64) (Override, error)
	SaveOverride(ctx context.Context, o Override) error
	// InsertViolation is not created when the same subject of the target was recorded before.
	InsertViolation(ctx context.Context, v Violation) (created bool, err error)
	LockViolation(ctx context.Context, id int64) (Violation, error)
	SaveViolation(ctx context.Context, v Violation) error
	// Unexamined are a config repository's revisions that belong to no promotion, found before a moment and not looked into yet.
	Unexamined(ctx context.Context, repository string, before time.Time) ([]TargetRevision, error)
	// Examined marks a revision as looked into.
	Examined(ctx context.Context, id int64) error

	// LockSyncLine makes those who take a place take turns.
	LockSyncLine(ctx context.Context) error
	// JoinSyncLine puts a sync into the line, anew when it left it.
	JoinSyncLine(ctx context.Context, l Lined, at time.Time) error
	TakeSyncPlace(ctx context.Context, promotionID int64, at time.Time) error
	LeaveSyncLine(ctx context.Context, promotionID int64, at time.Time) error

	DriftWriter

	// InsertNotification stores what is to be told, and a delivery to each of the destinations. It is told once: of the same
	// kind, object and occasion nothing is stored again.
	InsertNotification(ctx context.Context, n Notification, destinations []string) (deliveries []string, err error)
	SaveDelivery(ctx context.Context, d Delivery) error

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
	Delivery    string    // id
	At          time.Time // not before; zero: now

	Application, Environment string // of Deployment
	Deployment               DeploymentKey
}

// WorkKind says what is to be done.
type WorkKind string

// The kinds of work: look at a config repository, take a promotion onwards, compare a deployment with Git, deliver a notification.
const (
	WorkLook    WorkKind = "look"
	WorkAdvance WorkKind = "advance"
	WorkDrift   WorkKind = "drift"
	WorkDeliver WorkKind = "deliver"
)

// BuildOutcome is what a build led to.
type BuildOutcome struct {
	Build      Build
	Releases   []Release
	Promotions []Promotion
	Waiting    []string // names the build's group still waits for
}
