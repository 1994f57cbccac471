package promotion

import "context"

// Inspector reads a cluster's objects and asks it for dry runs. It changes nothing.
type Inspector interface {
	// Differences compares what a deployment should be with what is in the cluster. The error is about the whole: unknown,
	// never without differences. ErrNotFound when the Argo CD Application is gone.
	Differences(ctx context.Context, d DeploymentKey, want Desired) (Inspection, error)
	// DryRun asks the API server what applying the objects would do, as the engine would apply them. The error is about the
	// whole: unknown.
	DryRun(ctx context.Context, d DeploymentKey, want Desired) (DryRun, error)
}

// Desired is what a deployment should be, in the engine's own terms.
type Desired struct {
	Objects           []map[string]any // as rendered, with what the engine's Application adds
	Namespace         string           // of objects that name none
	CreatesNamespace  bool             // the sync makes the namespace
	SelfHeal          bool             // the engine undoes by itself what differs
	IgnoreDifferences []IgnoreRule
}

// IgnoreRule hides fields of live objects from the engine's comparison. Group and Kind may be globs.
type IgnoreRule struct {
	Group, Kind, Name, Namespace string
	JSONPointers                 []string
	JQPathExpressions            []string
	Managers                     []string
}

// Inspection is what was found of a deployment's objects.
type Inspection struct {
	Differences []Drift
	Unread      []string // objects that could not be read, as Kind namespace/name: what was known of them stays
	Unchecked   []string // what else was not compared, and why
}

// DryRun is what applying would do.
type DryRun struct {
	Passed    int
	Refused   []string // objects that the API server refuses, each with its words
	Unchecked []string // objects that a dry run cannot check, and why
}
