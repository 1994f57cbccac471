package promotion

// SyncStatus says whether live objects match the rendered desired ones.
type SyncStatus string

// HealthStatus says whether they work. Synced is not healthy.
type HealthStatus string

// PullRequestState is one of a promotion's three facts.
type PullRequestState string

// The values of the cluster's two dimensions and of a pull request.
const (
	Synced      SyncStatus = "Synced"
	OutOfSync   SyncStatus = "OutOfSync"
	SyncUnknown SyncStatus = "Unknown"

	Healthy       HealthStatus = "Healthy"
	Progressing   HealthStatus = "Progressing"
	Degraded      HealthStatus = "Degraded"
	Suspended     HealthStatus = "Suspended"
	Missing       HealthStatus = "Missing"
	HealthUnknown HealthStatus = "Unknown"

	PullRequestNone   PullRequestState = "none"
	PullRequestOpen   PullRequestState = "open"
	PullRequestClosed PullRequestState = "closed"
	PullRequestMerged PullRequestState = "merged"
)
