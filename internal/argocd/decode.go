package argocd

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

const apiVersion = "argoproj.io/v1alpha1"

// wire has the shape that the objects are written in. What is not named here is
// ignored.
type wire[S any] struct {
	Metadata struct {
		Name        string            `json:"name"`
		Namespace   string            `json:"namespace"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec S `json:"spec"`
}

type applicationSpec struct {
	Project           string             `json:"project"`
	Destination       Destination        `json:"destination"`
	Source            *Source            `json:"source"`
	Sources           []Source           `json:"sources"`
	SyncPolicy        SyncPolicy         `json:"syncPolicy"`
	IgnoreDifferences []IgnoreDifference `json:"ignoreDifferences"`
}

type setSpec struct {
	GoTemplate        bool           `json:"goTemplate"`
	GoTemplateOptions []string       `json:"goTemplateOptions"`
	Generators        []Generator    `json:"generators"`
	Template          map[string]any `json:"template"`
	TemplatePatch     string         `json:"templatePatch"`
}

type projectSpec struct {
	SourceRepos  []string      `json:"sourceRepos"`
	Destinations []Destination `json:"destinations"`
	SyncWindows  []SyncWindow  `json:"syncWindows"`
}

// decode reads an object by way of JSON, as a cluster would take it.
func decode[S any](object map[string]any, kind string) (wire[S], error) {
	var w wire[S]
	if object == nil {
		return w, errors.New("there is no object")
	}
	if found, _ := object["kind"].(string); found != kind && found != "" {
		return w, fmt.Errorf("the object is a %s, not an %s", found, kind)
	}
	data, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		return w, fmt.Errorf("%s %q: %w", kind, w.Metadata.Name, brief(err))
	}
	return w, nil
}

// brief says where in the object a value of the wrong type stands.
func brief(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
	}
	return err
}

// ReadApplication reads an Application that a cluster reports, as decoded JSON.
func ReadApplication(object map[string]any) (Application, error) {
	return readApplication(object, Place{}, nil)
}

// ReadApplicationSet reads an ApplicationSet that a cluster reports.
func ReadApplicationSet(object map[string]any) (ApplicationSet, error) {
	return readSet(object, Place{}, nil)
}

// ReadProject reads an AppProject that a cluster reports.
func ReadProject(object map[string]any) (Project, error) {
	return readProject(object, Place{}, nil)
}

func readApplication(object map[string]any, at Place, node *yaml.Node) (Application, error) {
	w, err := decode[applicationSpec](object, "Application")
	if err != nil {
		return Application{}, err
	}
	a := Application{
		Name: w.Metadata.Name, Namespace: w.Metadata.Namespace,
		Labels: w.Metadata.Labels, Annotations: w.Metadata.Annotations, Place: at, node: node,
		Project: w.Spec.Project, Destination: w.Spec.Destination, Sources: w.Spec.Sources,
		SyncPolicy: w.Spec.SyncPolicy, IgnoreDifferences: w.Spec.IgnoreDifferences,
	}
	if len(a.Sources) == 0 && w.Spec.Source != nil {
		a.Sources = []Source{*w.Spec.Source}
	}
	for i := range a.IgnoreDifferences {
		a.IgnoreDifferences[i].Line = a.LineOf("spec", "ignoreDifferences", strconv.Itoa(i))
	}
	return a, nil
}

func readSet(object map[string]any, at Place, node *yaml.Node) (ApplicationSet, error) {
	w, err := decode[setSpec](object, "ApplicationSet")
	return ApplicationSet{
		Name: w.Metadata.Name, Namespace: w.Metadata.Namespace,
		Labels: w.Metadata.Labels, Annotations: w.Metadata.Annotations, Place: at, node: node,
		GoTemplate: w.Spec.GoTemplate, GoTemplateOptions: w.Spec.GoTemplateOptions,
		Generators: w.Spec.Generators, Template: w.Spec.Template, TemplatePatch: w.Spec.TemplatePatch,
	}, err
}

func readProject(object map[string]any, at Place, node *yaml.Node) (Project, error) {
	w, err := decode[projectSpec](object, "AppProject")
	p := Project{
		Name: w.Metadata.Name, Namespace: w.Metadata.Namespace,
		Labels: w.Metadata.Labels, Annotations: w.Metadata.Annotations, Place: at, node: node,
		SourceRepos: w.Spec.SourceRepos, Destinations: w.Spec.Destinations, SyncWindows: w.Spec.SyncWindows,
	}
	for i := range p.SyncWindows {
		p.SyncWindows[i].Line = p.LineOf("spec", "syncWindows", strconv.Itoa(i))
	}
	return p, err
}

// kindOf is the kind of an object of Argo CD; empty for any other.
func kindOf(object map[string]any) string {
	kind, _ := object["kind"].(string)
	if object["apiVersion"] != apiVersion {
		return ""
	}
	return kind
}
