package promotion

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// Errors that adapters return and the domain decides on. Wrapped errors are
// told apart with errors.Is.
var (
	// ErrConflict: a merge touches a place that changed on both sides.
	ErrConflict = errors.New("merge conflict")
	// ErrRefMoved: a ref was not at the expected commit; read again and redo.
	ErrRefMoved = errors.New("the ref has moved")
	// ErrHeadMoved: the pull request's head is not the expected commit.
	ErrHeadMoved = errors.New("the pull request's head has moved")
	// ErrNotMergeable: the host refuses the merge for now.
	ErrNotMergeable = errors.New("the host refuses the merge")
	// ErrOperationRunning: somebody else's sync operation runs; never replaced.
	ErrOperationRunning = errors.New("another sync operation is running")
	// ErrNotFound: what was asked for does not exist there.
	ErrNotFound = errors.New("not found")
	// ErrOutdated: what was observed is older than what is stored. Look again.
	ErrOutdated = errors.New("another server has seen it later")
)

// ConfigRepository is the mirror of one config repository. Every read is from
// the mirror as of the last Fetch, and no call needs a checkout.
type ConfigRepository interface {
	// Fetch brings the mirror up to date and returns the base branch's head
	// (40 hex digits; empty for a repository without commits).
	Fetch(ctx context.Context) (head string, err error)
	// Tree is a read-only view of a commit's files.
	Tree(ctx context.Context, commit string) (fs.FS, error)
	// Commits lists the first-parent history that ends at until, oldest
	// first, without after and what precedes it. An empty after lists at most limit
	// of the newest.
	Commits(ctx context.Context, after, until string, limit int) ([]Commit, error)
	// Touching reads the past of many targets in one walk over the first-parent history that ends at until. For each key of
	// places it lists the newest commits, at most perKey and oldest first, that changed anything at or below one of the
	// key's paths; only the newest depth commits are looked at. Changed is left empty.
	Touching(ctx context.Context, until string, places map[string][]string, perKey, depth int) (map[string][]Commit, error)
	// Commit is one commit by its hash; ErrNotFound.
	Commit(ctx context.Context, sha string) (Commit, error)
	// FetchRef brings one more ref of the remote into the mirror, such as a pull request's head, and returns the commit it is at;
	// empty when the remote does not have it.
	FetchRef(ctx context.Context, ref string) (commit string, err error)
	// ForgetRef lets go of a ref that FetchRef brought. One that is not there is no error.
	ForgetRef(ref string) error
	// Contains tells whether ancestor is descendant or one of its ancestors.
	Contains(ctx context.Context, descendant, ancestor string) (bool, error)
	// Merged is the tree that merging head into base would give, computed
	// file by file, and the paths of files in which it differs from base's; ErrConflict when one file changed on both sides.
	Merged(ctx context.Context, base, head string) (tree fs.FS, changed []string, err error)
	// Patched is a view of a commit's files with some written and some deleted. Nothing is stored.
	Patched(ctx context.Context, commit string, files map[string][]byte, deletes []string) (fs.FS, error)
	// Branch is the commit a branch is at on the remote as of the last
	// Fetch, empty when there is none.
	Branch(ctx context.Context, name string) (commit string, err error)
	// Propose writes one commit on top of Base and moves the branch to it on
	// the remote, pushing only the new objects. The same proposal gives the same commit, and
	// repeating it is no error. ErrRefMoved when the branch is elsewhere.
	Propose(ctx context.Context, p Proposal) (head string, err error)
	// DeleteBranch removes a branch on the remote if it is at the expected
	// commit. A branch that is gone already is no error.
	DeleteBranch(ctx context.Context, name, expected string) error
}

// Commit is one commit of the base branch's first-parent history.
type Commit struct {
	SHA     string
	Parent  string // first parent, empty for a root
	Author  string // name <email>
	Message string
	When    time.Time // committer time
	Changed []string  // paths of files that differ from the first parent
}

// Proposal is one commit to be written and pushed.
type Proposal struct {
	Branch   string
	Base     string            // the commit it is made on
	Expected string            // where the branch is now; empty: it must not exist
	Files    map[string][]byte // whole new contents by path; other bytes stay
	Deletes  []string          // files to remove
	Message  string
	Author   Signature
}

// Signature names the author and committer of a generated commit. The time is
// the promotion's own, so that a repeated proposal is the same commit.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Registry answers for images. An error means that it could not be asked:
// unknown, never absent.
type Registry interface {
	Image(ctx context.Context, reference string) (ImageFacts, error)
	// Held tells whether one of a few tags of its repository leads to an image.
	Held(ctx context.Context, reference string, tags []string) (bool, error)
}

// ImageFacts is what the registry holds of one repository@digest.
type ImageFacts struct {
	Present      bool
	MissingBlobs []string
	Manifests    []PlatformManifest // of an index; empty for a single manifest
	Platforms    []string           // that it can be pulled for, as os/architecture[/variant]
}

// PlatformManifest is one platform's manifest of an index.
type PlatformManifest struct {
	Digest   string
	Platform string // os/architecture[/variant]
}

// Manifests edits, renders and compares the files of a config repository.
type Manifests interface {
	// Discover finds the targets of a tree; directory reads only.
	Discover(tree fs.FS, layout Layout) ([]FoundTarget, error)
	// Render renders one target.
	Render(tree fs.FS, path string) (Rendering, error)
	// Images lists the target's images by the name they have before the
	// overlay changes them.
	Images(tree fs.FS, path string) ([]OverlayImage, error)
	// Set is the smallest edit after which the target pins exactly these versions of those of the charts that it pins, and every
	// container that used one of these images' repositories runs exactly its reference. A target that does so
	// already gives a Change without Files.
	Set(tree fs.FS, path string, w Wanted) (Change, error)
	// SetFields is the smallest edit of a target's own files after which exactly these fields are rendered otherwise, with these
	// values. A target that renders them so already gives a Change without Files.
	SetFields(tree fs.FS, path string, fields []AdoptedField) (Change, error)
	// Charts lists the charts that a target pins; never nil.
	Charts(tree fs.FS, path string) []Chart
	// Restore says what to write and delete so that a target's configuration is what it was.
	Restore(today, then fs.FS, path string, r Restoration) (Restored, error)
	// Revert says what to write and delete so that what a change made of the files before is undone in today's, line by line.
	// Where something else was changed there since it fails, with file and line.
	Revert(before, after, today fs.FS, files []string) (Restored, error)
	// Needs is what a target, as it is rendered, asks of its cluster.
	Needs(tree fs.FS, path string) (Needs, error)
	// Compare is what differs in one target between two trees.
	Compare(before, after fs.FS, path string) (Change, error)
}

// Restoration says what of a target's configuration goes back to what it was at a commit.
type Restoration struct {
	Commit  string
	Base    bool // also what the application's other overlays share
	Secrets bool // files with secrets too; otherwise today's stay
	Revert  bool // exactly what the commit changed is undone on today's main, instead; then neither Base nor Secrets
}

// Restored are the edits of a restoration, and what people must know before they want it.
type Restored struct {
	Files   map[string][]byte
	Deletes []string
	Notes   []string // about secrets, in words
}

// FoundTarget is an overlay found in the config repository.
type FoundTarget struct {
	Application, Environment string
	Rank                     int
	Path                     string
	Layout                   string // kustomize, helm or plain
}

// Wanted is what a target is to have of a release.
type Wanted struct {
	Images []WantedImage
	Charts []Chart
}

// WantedImage is an image that a target is to run.
type WantedImage struct {
	Reference string // repository@sha256:…, where the environment pulls it from
	Posted    string // the repository under which CI posts it: an overlay may name it so until now
}

// OverlayImage is an image of a target.
type OverlayImage struct {
	Name      string // as it reaches the overlay
	Reference string // as rendered
}

// Rendering is what one target renders to.
type Rendering struct {
	Hash   string // of the canonical objects, hex SHA-256
	Images []RenderedImage
	Charts []Chart // that it pins; never nil
}

// RenderedImage is one image of one rendered container.
type RenderedImage struct {
	Object    string // Kind/name
	Container string
	Name      string // reference without tag and digest
	Reference string
}

// Change is a target before and after.
type Change struct {
	Files            map[string][]byte // edited files, whole; nil for a comparison
	Deletes          []string          // files to remove
	Before, After    Rendering
	Diff             string // field by field, secrets masked
	Removed          []RemovedObject
	Added            []string // objects that appear, as Kind/namespace/name
	PlaintextSecrets []string // Secrets that appear in plain text
	Notes            []string // what people must know before they want it
}

// empty tells whether there is nothing to write.
func (c Change) empty() bool { return len(c.Files)+len(c.Deletes) == 0 }

// RemovedObject is an object that the change would delete from the cluster.
type RemovedObject struct {
	Object   string // Kind/namespace/name
	Stateful bool   // volumes, definitions, namespaces: data goes with it
}

// Engine reads what the GitOps engine's own objects say: documents of Observation.EngineObject.
type Engine interface {
	// Deploys lists the folders of a repository that an Application deploys from its base branch.
	Deploys(application []byte, repositoryURL, branch string) ([]string, error)
	// Desired is everything that an Application makes of a tree. The error says why it cannot be known.
	Desired(tree fs.FS, application []byte, repositoryURL, branch string) (Desired, error)
	// Prunes tells whether the engine by itself deletes what Git no longer has; one that cannot be read may.
	Prunes(application []byte) bool
	// SyncWindows are what an Application's project, one of these, lets sync when: a sync that was asked for, or one that the engine
	// starts by itself.
	SyncWindows(application []byte, projects [][]byte, manual bool) (ProjectWindows, error)
	// Overrides says in words what of an Application takes the place of these images in a folder: promoting them there
	// would change nothing.
	Overrides(tree fs.FS, path string, application []byte, repositoryURL, branch string, images []WantedImage) ([]string, error)
	// Faults says what of the engine's objects that stand in a tree cannot be read, or is not known to deploy what is merged.
	Faults(tree fs.FS, repositoryURL, branch string) ([]EngineFault, error)
}

// EngineFault is one place of the engine's own files, and what is not known or not right about it.
type EngineFault struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1; 0 when it is the whole file
	Message string `json:"message"`
}

// Linter finds what is unwise.
type Linter interface {
	// Introduced says in one sentence each what a change brings to a target that was not there before.
	Introduced(ctx context.Context, before, after fs.FS, t Target, policy Rules) ([]string, error)
}

// Cluster starts syncs, and pauses those that the engine starts by itself. What runs is reported the other way, as Observations.
type Cluster interface {
	// Sync asks the GitOps engine to apply a revision. An operation of this very promotion and
	// revision that runs or ran already is no error. ErrOperationRunning.
	Sync(ctx context.Context, d DeploymentKey, r SyncRequest) error
	// PauseSync keeps the engine from syncing a deployment by itself; ResumeSync gives it back the policy that it had. Neither
	// minds that it is so already. ErrNotFound when the Argo CD Application is gone.
	PauseSync(ctx context.Context, d DeploymentKey) error
	ResumeSync(ctx context.Context, d DeploymentKey) error
}

// DeploymentKey names an Argo CD Application in a cluster.
type DeploymentKey struct {
	Cluster, Namespace, Name string
}

// SyncRequest is one sync to be started.
type SyncRequest struct {
	PromotionID int64
	Revision    string
	InitiatedBy string
	// Restores: the revision is applied once more although it was applied before. It belongs to no promotion.
	Restores bool
}

// Observation is what was seen of one deployment at one moment. The two
// dimensions stay apart: Sync compares with Git, Health says whether it works.
type Observation struct {
	Key            DeploymentKey
	Simulated      bool
	EngineObject   []byte // the engine's own object without its status, as JSON; empty when it is gone
	RepositoryURL  string // as the Application names it
	Path           string
	TargetRevision string
	AutomatedSync  bool
	Sync           SyncStatus
	Health         HealthStatus
	Revision       string // what the last successful operation applied
	// ComparedRevision is what live objects were compared with, kept only while
	// Synced: a commit that changes nothing here is never applied.
	ComparedRevision string
	Operation        string   // Running, Succeeded, Failed, Error or empty
	OperationRev     string   // the revision the current or last operation applies
	Message          string   // one sentence of diagnosis, empty when all is well
	Images           []string // full references of the current pod templates
	RunningImages    []ContainerImage
	Rollout          Rollout
	ObservedAt       time.Time
}

// ContainerImage is a running container's image as asked for and as resolved.
type ContainerImage struct {
	Pod, Container string
	Image          string // of the pod's spec
	ImageID        string // repository@sha256:… from the container's status
	Ready          bool
	Ended          LastEnd `json:",omitzero"`
}

// LastEnd is how a container that crashes again and again ended last; zero for one that does not, or of which nothing was asked.
type LastEnd struct {
	ExitCode int
	Log      string // its last lines, with what shows a credential hidden; empty: it wrote none, or Unread says why it is not known
	Unread   string
}

// Rollout counts the pods of a deployment's workloads.
type Rollout struct {
	Desired, Updated, Ready, Available, Old int
}
