package promotion

import "time"

// Target is one application in one environment: an overlay path.
type Target struct {
	ID            int64
	ApplicationID int64
	Application   string
	Repository    string // name of the config repository
	Environment   string
	Rank          int
	Path          string
	Layout        string
	RenderProblem string // why main does not render here; empty when it does
	Removed       bool   // main no longer has it
}

// Build is what CI posted.
type Build struct {
	ID             int64
	Fingerprint    string
	IdempotencyKey string
	Version        string
	Line           string
	Group          string
	GroupExpects   []string
	Artifacts      []BuildArtifact
	Charts         []Chart
	Source         Source
	CI             CIRun
	Attestations   []BuildAttestation `json:",omitempty"` // of a post; nil when read: see Reader.AttestationsAbout
	Migrations     *Migrations        `json:"-"`          // of a post; nil when read: see Reader.MigrationsOf
	PostedBy       string
	PostedAt       time.Time
}

// BuildArtifact is one image of a build.
type BuildArtifact struct {
	Repository string
	Digest     string
	Tags       []string
}

// Source is the commit a build was made from.
type Source struct {
	Repository, Commit, Ref string
	Authors                 []string `json:",omitempty"` // who wrote what it brings: names, logins or addresses; none: not known
}

// CIRun names the CI run that posted a build.
type CIRun struct {
	Provider, RunURL string
}

// Release is an immutable, numbered, complete set of an application's artifacts and charts.
type Release struct {
	ID            int64
	ApplicationID int64
	Application   string
	Number        int
	Version       string
	Line          string
	Origin        Origin
	BuildID       int64 // zero for an import
	RebuildOf     int64 // an earlier release of the same version with other digests
	Artifacts     []Artifact
	Charts        []ReleaseChart // that its environments pin by their version
	Aliases       []string       // other versions under which the same digests were posted
	CreatedAt     time.Time
	RejectedBy    string // who said that it may be promoted nowhere
	RejectedAt    time.Time
	Rejection     string // why
	RolledBack    []RollbackMark
}

// Origin says how a release came to be known.
type Origin string

// A release is posted by CI, or imported because it ran already: unproven.
const (
	FromBuild  Origin = "build"
	FromImport Origin = "import"
)

// Artifact is one image of a release. Its repository is its identity within the application.
type Artifact struct {
	Name        string // for people: as the manifests call it, or the repository's last part
	Repository  string
	Digest      string // empty for an import that runs under a tag
	Tag         string
	BuildID     int64
	CarriedFrom int64 // the release it was carried forward from
}

// Reference is what the cluster is asked to run.
func (a Artifact) Reference() string {
	if a.Digest == "" {
		return a.Repository + ":" + a.Tag
	}
	return a.Repository + "@" + a.Digest
}

// Promotion is a change on its way to one target. Decision, pull request and
// deployment are separate facts; State is derived from them.
type Promotion struct {
	ID             int64
	Target         Target
	Release        Release // artifacts included
	Kind           ChangeKind
	RequestedBy    string
	RequestedAt    time.Time
	Reason         string
	StartedByBuild int64
	Restore        Restoration // of the configuration; the zero value leaves it as main has it
	Adopt          Adoption    // of what was changed past Git; the zero value adopts nothing
	Behind         int64       // the promotion that it waits behind in the target's queue; zero when it has its turn
	Hotfix         bool        // goes past the environments before the target, which are owed the release afterwards
	With           []string    // further environments of the application that the same commit gives the release to, sorted

	Decision       Decision
	DecidedBy      string
	DecidedAt      time.Time
	DecisionReason string
	SupersededBy   int64
	MergeAskedBy   string
	MergeAskedAt   time.Time
	StandingMerge  StandingMerge

	PullRequest    PullRequestState
	Branch         string
	BaseSHA        string
	HeadSHA        string
	Number         int
	URL            string
	RenderedHash   string // of what the merge renders, as recorded when it was proposed
	ChangesPolicy  bool   // RenderedHash is over the policy too
	Diff           string
	Source         []SourceChange // commits behind the change, as read when it was proposed
	Lint           []string       // what lint finds in the change and not before it
	BodyHash       string
	StatusReported string
	MergeSHA       string
	MergedBy       string
	MergedAt       time.Time
	CleanedUp      bool

	SyncAskedBy   string
	SyncAskedAt   time.Time
	SyncStartedAt time.Time
	SyncedAt      time.Time
	LiveAt        time.Time
	VerifiedAt    time.Time
	OvertakenAt   time.Time
	RolledBackAt  time.Time
	Failure       string
	WaitsFor      string
}

// Ours tells whether Sluice writes the pull request. A person's own it only judges.
func (p Promotion) Ours() bool { return p.Kind != KindChange || len(p.Adopt.Fields) > 0 }

// ChangeKind is why a target changes.
type ChangeKind string

// The kinds of promotions.
const (
	KindRelease  ChangeKind = "release"
	KindRollback ChangeKind = "rollback"
	KindChange   ChangeKind = "change"
)

// Decision is what people or policy decided about a promotion.
type Decision string

// The decisions.
const (
	Requested  Decision = "requested"
	Cancelled  Decision = "cancelled"
	Rejected   Decision = "rejected"
	Superseded Decision = "superseded"
)

// Approval is a person's decision, bound to the rendered result they saw.
type Approval struct {
	ID           int64
	PromotionID  int64
	Actor        string
	Kind         ActorKind // empty when it was stored before kinds were
	Roles        []Role    // when they decided
	Decision     string    // approve or reject
	Comment      string
	RenderedHash string
	DecidedAt    time.Time
}

// Deployment is an Argo CD Application as last seen.
type Deployment struct {
	Observation
	ID          int64
	TargetID    int64
	Application string
	Environment string
	ReleaseID   int64 // what runs, zero when no release matches
	Version     string
	Number      int
	RolledBack  bool      // what runs is a release that was rolled back somewhere, and nobody has cleared that
	Since       time.Time // when sync, health, revision or images last changed
}

// TargetRevision is a commit that changed what a target renders.
type TargetRevision struct {
	ID           int64
	TargetID     int64
	FoundAt      time.Time
	Imported     bool // from before Sluice knew the target
	Commit       Commit
	RenderedHash string
	Images       []RenderedImage
	Charts       []Chart // pinned; nil when they were not read
	ReleaseID    int64
	PromotionID  int64
}

// AuditEvent is an append-only record of a decision or an action.
type AuditEvent struct {
	ID            int64
	At            time.Time
	Actor         Actor
	Action        string // noun.verb, such as promotion.merged
	Object        string // such as promotion/12
	Application   string
	Environment   string
	ReleaseID     int64
	PromotionID   int64
	Message       string
	Before, After any
	RequestID     string
	SourceAddress string
}
