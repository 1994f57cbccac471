package promotion

import (
	"cmp"
	"context"
	"time"

	"github.com/sluicehq/sluice/internal/rollback"
)

// Patience is how long facts are waited for. What has not come by then is unread, and the verdict says so.
type Patience struct {
	Check  time.Duration // with all that other programs are asked in a whole check; zero: 12 seconds
	Source time.Duration // with one source, an image or a cluster; zero: 8 seconds
}

func (p Patience) check() time.Duration  { return cmp.Or(p.Check, 12*time.Second) }
func (p Patience) source() time.Duration { return cmp.Or(p.Source, 8*time.Second) }

// factsAtOnce is how many candidates are looked at together.
const factsAtOnce = 8

// ClusterReader says what a cluster has of what a target needs.
type ClusterReader interface {
	// Facts of the namespace that a deployment deploys to. It never fails as a whole: what could not be read is left out, and Unread
	// says why.
	Facts(ctx context.Context, d DeploymentKey, n Needs) ClusterFacts
}

// ClusterFacts are a cluster's answers. What a list lacks was not read.
type ClusterFacts struct {
	Platforms       []string // of the nodes that take pods, as os/architecture; nil when unread
	Refs            map[ObjectRef]rollback.State
	APIs            map[string]rollback.State
	Workloads       map[string]LiveWorkload // by Kind/name
	Evictions       map[string]Evictions    // by Kind/name, of those that are replaced by hand
	ExternalSecrets map[string]rollback.ExternalSecret
	SealedSecrets   map[string]rollback.SealedSecret
	Unread          []string // what could not be read and why, a sentence each
}

// LiveWorkload is a workload as the cluster has it.
type LiveWorkload struct {
	Present  bool
	Replicas *int
	Selector map[string]string
	Room     rollback.State // for one more pod of what is asked about: yes, no, unread
	Switches []Switch       // of a Rollout of Argo Rollouts: one for each cluster
}

// Evictions say how many pods of a workload may be evicted now.
type Evictions struct {
	Allowed *int   // nil: it could not be read
	Budget  string // the PodDisruptionBudget that limits it; empty without one
}

// Way is how a target goes back.
type Way string

// The earlier release's images with today's configuration, the configuration as it was too, or exactly one promotion's change undone.
const (
	ImagesOnly      Way = "images"
	ImagesAndConfig Way = "images-and-config"
	Revert          Way = "revert"
)

// gathered are the facts about one candidate, with what people should know of them.
type gathered struct {
	rollback.Facts
	Notes  []string  // what is no reason against it, and yet worth knowing
	Unread []string  // what could not be read and why
	until  time.Time // when the first attestation expires that it rests on; zero: never
}

// goingBack is one step from a release to another in one target, of which a verdict is asked.
type goingBack struct {
	target    Target
	way       Way
	current   Release    // that runs, or will
	candidate Release    // to go back to
	undone    string     // the commit of main whose change is undone, of a revert
	commit    string     // of main, where the candidate's configuration stands; empty when it is not known
	old       *Needs     // of the candidate's configuration as it was; nil when it is not known
	back      *Needs     // of what the target would render; nil when it cannot be rendered
	now       *Needs     // of what it renders before
	problem   string     // why one of them is not known
	data      *DataFacts // nil until they are looked for
	attested  attested
	askedBy   string   // who asked for the promotion that the step is of; empty without one
	declared  declared // what the policy says it depends on
}

func worst(order []rollback.State, states ...rollback.State) rollback.State {
	for _, s := range order {
		for _, have := range states {
			if have == s || s == rollback.Unread && have == "" {
				return s
			}
		}
	}
	return order[len(order)-1]
}
