package argocd

import "go.yaml.in/yaml/v3"

// Project is an Argo CD AppProject: what its Applications may deploy, and when.
type Project struct {
	Name, Namespace     string
	Labels, Annotations map[string]string
	Place

	SourceRepos  []string
	Destinations []Destination
	SyncWindows  []SyncWindow

	node *yaml.Node
}

// LineOf is the line of a field, or of the innermost one around it that is there.
func (p Project) LineOf(field ...string) int { return lineOf(p.node, p.Line, field) }

// SyncWindow is a time in which Applications may sync (kind allow) or may not
// (kind deny).
type SyncWindow struct {
	Kind           string   `json:"kind"`
	Schedule       string   `json:"schedule"` // cron
	Duration       string   `json:"duration"` // as time.ParseDuration takes it
	TimeZone       string   `json:"timeZone"` // UTC if empty
	Applications   []string `json:"applications"`
	Namespaces     []string `json:"namespaces"`
	Clusters       []string `json:"clusters"`
	ManualSync     bool     `json:"manualSync"`
	UseAndOperator bool     `json:"andOperator"`
	Description    string   `json:"description"`
	Line           int      `json:"-"`
}
