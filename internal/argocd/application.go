package argocd

import (
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/types"
)

// Place is where something stands in a config repository. File is relative to
// the tree's root, Line counts from 1; both are zero for what a cluster reports.
type Place struct {
	File string
	Line int
}

// Application is an Argo CD Application: what it deploys, to where and how.
// Sources holds spec.sources, or spec.source as the only one.
type Application struct {
	Name, Namespace     string
	Labels, Annotations map[string]string
	Place
	From *Origin // the ApplicationSet that makes it; nil for one written by hand

	Project           string
	Destination       Destination
	Sources           []Source
	SyncPolicy        SyncPolicy
	IgnoreDifferences []IgnoreDifference

	node *yaml.Node // as it stands in File, to find the lines of its fields
}

// Origin is the ApplicationSet that an Application comes from.
type Origin struct {
	ApplicationSet string
	Place
}

// LineOf is the line of a field, such as LineOf("spec", "syncPolicy", "automated"),
// or of the innermost one around it that is there. A number picks the element of a list.
func (a Application) LineOf(field ...string) int { return lineOf(a.node, a.Line, field) }

// Destination is where an Application deploys to. Either Server or Name says
// the cluster.
type Destination struct {
	Server    string `json:"server"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// Source is one of the places that an Application takes manifests from. A nil
// part is one that the Application does not have.
type Source struct {
	RepoURL        string     `json:"repoURL"`
	Path           string     `json:"path"`
	TargetRevision string     `json:"targetRevision"` // empty means HEAD
	Ref            string     `json:"ref"`            // the name that value files of other sources use
	Chart          string     `json:"chart"`          // of a Helm repository, which is not in Git
	Helm           *Helm      `json:"helm"`
	Kustomize      *Kustomize `json:"kustomize"`
	Directory      *Directory `json:"directory"`
	Plugin         *Plugin    `json:"plugin"`
}

// Helm is what an Application adds to a chart.
type Helm struct {
	ReleaseName             string          `json:"releaseName"` // the Application's name if empty
	Namespace               string          `json:"namespace"`   // the destination's if empty
	ValueFiles              []string        `json:"valueFiles"`  // relative to the chart, or $ref/path
	IgnoreMissingValueFiles bool            `json:"ignoreMissingValueFiles"`
	Values                  string          `json:"values"`       // YAML
	ValuesObject            map[string]any  `json:"valuesObject"` // takes the place of Values
	Parameters              []Parameter     `json:"parameters"`
	FileParameters          []FileParameter `json:"fileParameters"`
	SkipCRDs                bool            `json:"skipCrds"`
	SkipTests               bool            `json:"skipTests"`
	KubeVersion             string          `json:"kubeVersion"`
	APIVersions             []string        `json:"apiVersions"`
}

// Parameter is one `helm template --set`, or --set-string with ForceString.
type Parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString"`
}

// FileParameter is one `helm template --set-file`.
type FileParameter struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Kustomize is what an Application adds to a kustomization.
type Kustomize struct {
	NamePrefix                string            `json:"namePrefix"`
	NameSuffix                string            `json:"nameSuffix"`
	Namespace                 string            `json:"namespace"`
	Images                    []string          `json:"images"` // [name=]repository[:tag][@digest]
	Replicas                  []Replicas        `json:"replicas"`
	CommonLabels              map[string]string `json:"commonLabels"`
	LabelWithoutSelector      bool              `json:"labelWithoutSelector"`
	LabelIncludeTemplates     bool              `json:"labelIncludeTemplates"`
	ForceCommonLabels         bool              `json:"forceCommonLabels"`
	CommonAnnotations         map[string]string `json:"commonAnnotations"`
	CommonAnnotationsEnvsubst bool              `json:"commonAnnotationsEnvsubst"`
	ForceCommonAnnotations    bool              `json:"forceCommonAnnotations"`
	Patches                   []types.Patch     `json:"patches"`
	Components                []string          `json:"components"`
	IgnoreMissingComponents   bool              `json:"ignoreMissingComponents"`
	Version                   string            `json:"version"`
	KubeVersion               string            `json:"kubeVersion"`
	APIVersions               []string          `json:"apiVersions"`
}

// Replicas sets the replicas of a workload.
type Replicas struct {
	Name  string             `json:"name"`
	Count intstr.IntOrString `json:"count"`
}

// Directory says which plain manifests of a folder are deployed.
type Directory struct {
	Recurse bool   `json:"recurse"`
	Include string `json:"include"`
	Exclude string `json:"exclude"`
}

// Plugin is a config management plugin, which renders in its own way.
type Plugin struct {
	Name string `json:"name"`
}

// SyncPolicy says when and how an Application is synced. Nil Automated means
// by hand.
type SyncPolicy struct {
	Automated   *Automated `json:"automated"`
	SyncOptions []string   `json:"syncOptions"`
	Retry       *Retry     `json:"retry"`
}

// Automated is the automated sync. Enabled is nil unless it is said, and then
// it is on.
type Automated struct {
	Prune      bool  `json:"prune"`
	SelfHeal   bool  `json:"selfHeal"`
	AllowEmpty bool  `json:"allowEmpty"`
	Enabled    *bool `json:"enabled"`
}

// Retry says how often a failed sync is tried again; negative is without end.
type Retry struct {
	Limit int64 `json:"limit"`
}

// IsAutomated tells whether Argo CD syncs without being asked.
func (p SyncPolicy) IsAutomated() bool {
	return p.Automated != nil && (p.Automated.Enabled == nil || *p.Automated.Enabled)
}

// HasOption tells whether a sync option such as "RespectIgnoreDifferences=true"
// is set.
func (p SyncPolicy) HasOption(option string) bool { return slices.Contains(p.SyncOptions, option) }

// IgnoreDifference hides fields of live objects from the comparison with Git.
// Group and Kind may be globs; an empty Name or Namespace is any.
type IgnoreDifference struct {
	Group                 string   `json:"group"`
	Kind                  string   `json:"kind"`
	Name                  string   `json:"name"`
	Namespace             string   `json:"namespace"`
	JSONPointers          []string `json:"jsonPointers"`
	JQPathExpressions     []string `json:"jqPathExpressions"`
	ManagedFieldsManagers []string `json:"managedFieldsManagers"`
	Line                  int      `json:"-"`
}
