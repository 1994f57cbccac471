package rollback

// State is the value of one fact. Which states a fact may have stands beside
// it in Facts; each may also be Unread, Missing or empty, which all say that
// nothing is known.
type State string

// The states of facts.
const (
	Unread      State = "unread"  // it was asked for and could not be read
	Missing     State = "missing" // nobody has recorded or attested it
	NotUsed     State = "not-used"
	NotRequired State = "not-required" // policy does not ask for it
	NotAsked    State = "not-asked"    // policy says nothing of whether it has to be

	Yes     State = "yes"
	No      State = "no"
	Unknown State = "unknown"

	Present      State = "present"
	Absent       State = "absent"
	ObjectAbsent State = "object-absent"
	KeyAbsent    State = "key-absent"

	Recorded    State = "recorded"
	Complete    State = "complete"
	Clean       State = "clean"
	HalfApplied State = "half-applied"

	Compatible    State = "compatible"
	Incompatible  State = "incompatible"
	Breaking      State = "breaking"
	None          State = "none"
	OldCanRead    State = "old-can-read"
	OldCannotRead State = "old-cannot-read"
	Recoverable   State = "recoverable"
	Irreversible  State = "irreversible"

	Running       State = "running"
	ScaledDown    State = "scaled-down"
	Deleted       State = "deleted"
	RollingUpdate State = "RollingUpdate"
	Recreate      State = "Recreate"
	BlueGreen     State = "BlueGreen"
	Canary        State = "Canary"
)

// Facts are everything the five predicates look at. A nil number, flag or list
// was not read; an empty list was read and is empty.
type Facts struct {
	Artifact    Artifact     `json:"artifact"`
	Config      Config       `json:"config"`
	Data        Data         `json:"data"`
	Traffic     Traffic      `json:"traffic"`
	Dependency  Dependency   `json:"dependency"`
	Acceptances []Acceptance `json:"acceptances"`
	// Unchecked names the predicates whose source was never connected. They are
	// not judged, and every verdict says so.
	Unchecked []string `json:"unchecked,omitempty"`
	// Modes are policy's, by the name of a predicate: off, report or enforce. One that is not named is enforced.
	Modes map[string]Mode `json:"modes,omitempty"`
}

// Artifact comes from the registry, the list of nodes and the chart repository.
type Artifact struct {
	ImageManifest   State    `json:"image_manifest"`   // of the old digest: present, absent
	MissingLayers   *int     `json:"missing_layers"`   // blobs of it that the registry lacks
	ImagePlatforms  []string `json:"image_platforms"`  // such as linux/amd64
	NeededPlatforms []string `json:"needed_platforms"` // of the nodes the workload may land on
	Chart           State    `json:"chart"`            // the old version: present, absent, not-used
}

// Config comes from the old manifests as recorded and the Kubernetes API.
type Config struct {
	OldManifests State `json:"old_manifests"` // recorded
	Refs         []Ref `json:"refs"`
	APIs         []API `json:"apis"`
}

// Ref is a Secret or ConfigMap, or one key of it, that the old manifests name.
type Ref struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Key      string `json:"key"` // empty for a whole object
	Optional bool   `json:"optional"`
	State    State  `json:"state"` // present, object-absent, key-absent
}

// API is an API version of the old manifests, such as apps/v1/Deployment.
type API struct {
	API    string `json:"api"`
	Served State  `json:"served"` // yes, no
}

// Data comes from git, the migration tool's table and CI.
type Data struct {
	MigrationList    State       `json:"migration_list"` // those between old and current: complete
	SchemaState      State       `json:"schema_state"`   // clean, half-applied
	RollbackRunsDown *bool       `json:"rollback_runs_down"`
	Migrations       []Migration `json:"migrations"`
	NewData          State       `json:"new_data"` // what current writes: none, old-can-read, old-cannot-read
}

// Migration is one of those between old and current.
type Migration struct {
	ID                 string `json:"id"`
	Verdict            State  `json:"verdict"`             // for old: compatible, breaking, unknown
	Reversible         State  `json:"reversible"`          // as classified: yes, no, unknown
	DeclaredReversible State  `json:"declared_reversible"` // by its author: yes, no
}

// Traffic comes from the Kubernetes API.
type Traffic struct {
	Strategy              State     `json:"strategy"`                // RollingUpdate, Recreate, BlueGreen, Canary
	OldStack              State     `json:"old_stack"`               // running, scaled-down, deleted, not-used
	SelectorUnchanged     State     `json:"selector_unchanged"`      // of the Deployment: yes, no
	ServiceSelectsOld     State     `json:"service_selects_old"`     // or the switch sets it back: yes, no
	ReadinessProbe        State     `json:"readiness_probe"`         // in the old pods: yes, no
	Replicas              *int      `json:"replicas"`                // wanted
	MaxUnavailable        *int      `json:"max_unavailable"`         // pods, of a rolling update
	SurgeRoom             State     `json:"surge_room"`              // for one more pod, or the whole old stack: yes, no
	SwitchEvictsPods      *bool     `json:"switch_evicts_pods"`      // a rollout deletes pods and evicts none
	PDBDisruptionsAllowed *int      `json:"pdb_disruptions_allowed"` // pods
	Rollouts              []Rollout `json:"rollouts,omitempty"`      // of Argo Rollouts, that were read; none where there is none
}

// Rollout is a canary or blue-green switch as it stood, its stacks of pods by their hashes. Whether it is held counts; the rest explains.
type Rollout struct {
	Cluster string `json:"cluster"`
	Name    string `json:"name"`
	Stable  string `json:"stable"`
	Current string `json:"current"`           // another than stable: it is not through
	Active  string `json:"active,omitempty"`  // blue-green
	Preview string `json:"preview,omitempty"` // blue-green
	Aborted bool   `json:"aborted"`
	Held    bool   `json:"held"` // paused by hand
}

// Dependency comes from External Secrets and Sealed Secrets objects and CI, and from what the application's policy declares.
type Dependency struct {
	ExternalSecrets []ExternalSecret `json:"external_secrets"`
	SealedSecrets   []SealedSecret   `json:"sealed_secrets"`
	Messages        State            `json:"messages"`          // queued ones: compatible, incompatible, not-used
	Cache           State            `json:"cache"`             // cached values: compatible, incompatible, not-used
	ExternalEffects State            `json:"external_effects"`  // since current went out: none, recoverable, irreversible
	Targets         []DependedTarget `json:"targets,omitempty"` // declared; none is when none is
	Metrics         []DependedMetric `json:"metrics,omitempty"` // declared; none is when none is
}

// DependedTarget is another target that the application needs to be healthy.
type DependedTarget struct {
	Target  string `json:"target"`  // application/environment
	Healthy State  `json:"healthy"` // yes, no
}

// DependedMetric is a metric that the application needs to keep to a limit.
type DependedMetric struct {
	Name   string `json:"name"`
	Query  string `json:"query"`  // PromQL
	Wanted string `json:"wanted"` // the limit and the time, in words
	Kept   State  `json:"kept"`   // yes, no
}

// ExternalSecret is an object of External Secrets.
type ExternalSecret struct {
	Name       string `json:"name"`
	StoreReady State  `json:"store_ready"` // yes, no
	RemoteKey  State  `json:"remote_key"`  // present, absent
}

// SealedSecret is an object of Sealed Secrets.
type SealedSecret struct {
	Name        string `json:"name"`
	Decryptable State  `json:"decryptable"` // yes, no
}

// Acceptance is a second person's word that one named unknown may stand.
type Acceptance struct {
	Unknown     string `json:"unknown"` // the reason in full, such as migration-unknown:0046_name_optional
	RequestedBy string `json:"requested_by"`
	AcceptedBy  string `json:"accepted_by"`
	Reason      string `json:"reason"`
}
