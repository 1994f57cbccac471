package health

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// application is an Argo CD Application's object, read for one of its sources.
type application struct {
	object map[string]any
	source map[string]any // the one whose path is followed
	index  int            // of that source, -1 for the only one
}

// newApplication follows the first source that is a path in a repository, not a chart.
func newApplication(object map[string]any) application {
	for i, source := range list(object, "spec", "sources") {
		if text(source, "path") != "" && text(source, "chart") == "" {
			return application{object, source, i}
		}
	}
	source, _, _ := unstructured.NestedMap(object, "spec", "source")
	return application{object, source, -1}
}

func (a application) path() string { return strings.Trim(text(a.source, "path"), "/") }

func (a application) automated() bool {
	policy, found, _ := unstructured.NestedMap(a.object, "spec", "syncPolicy", "automated")
	return found && policy["enabled"] != false
}

// revision is the followed source's commit where Argo CD writes revisions, empty if there is none.
func (a application) revision(m map[string]any, path ...string) string {
	at, _, _ := unstructured.NestedMap(m, path...)
	if a.index < 0 {
		return commit(text(at, "revision"))
	}
	revisions, _, _ := unstructured.NestedStringSlice(at, "revisions")
	if a.index >= len(revisions) {
		return ""
	}
	return commit(revisions[a.index])
}

func (a application) comparedRevision() string { return a.revision(a.object, "status", "sync") }

func (a application) sync() promotion.SyncStatus {
	if a.incomparable() != "" {
		return promotion.SyncUnknown
	}
	switch s := promotion.SyncStatus(text(a.object, "status", "sync", "status")); s {
	case promotion.Synced, promotion.OutOfSync:
		return s
	}
	return promotion.SyncUnknown
}

// health is the Application's own word. It is Healthy too when nothing could be compared.
func (a application) health() promotion.HealthStatus {
	if a.incomparable() != "" {
		return promotion.HealthUnknown
	}
	switch h := promotion.HealthStatus(text(a.object, "status", "health", "status")); h {
	case promotion.Healthy, promotion.Progressing, promotion.Degraded, promotion.Suspended, promotion.Missing:
		return h
	}
	return promotion.HealthUnknown
}

// incomparable is why Argo CD could not compare the Application with Git.
func (a application) incomparable() string {
	for _, c := range list(a.object, "status", "conditions") {
		switch text(c, "type") {
		case "ComparisonError", "InvalidSpecError", "UnknownError":
			return cmp.Or(text(c, "message"), text(c, "type"))
		}
	}
	return ""
}

// resources names what the Application deploys and has this status; any status if it is empty.
func (a application) resources(status string) []string {
	var names []string
	for _, r := range list(a.object, "status", "resources") {
		if status == "" || text(r, "status") == status {
			names = append(names, text(r, "kind")+" "+text(r, "name"))
		}
	}
	return names
}

// deploys tells whether Argo CD lists an object as the Application's.
func (a application) deploys(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(list(a.object, "status", "resources"), func(r map[string]any) bool {
		return text(r, "kind") == o.GetKind() && text(r, "name") == o.GetName() && text(r, "namespace") == o.GetNamespace()
	})
}

// FollowedSource is the index of the source whose path is followed, -1 for an Application of one source.
func FollowedSource(app *unstructured.Unstructured) int { return newApplication(app.Object).index }
