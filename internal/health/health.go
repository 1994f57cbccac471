// Package health concludes from a cluster's objects what an Argo CD Application really does. Sync says
// whether live objects match Git, health whether they work; the two never mix. Pure functions.
//
// What Argo CD 3.5 does where its documentation is silent was taken from a recording of a live one (testdata): a
// comparison error leaves health at Healthy, history grows before an operation has succeeded, a sync may be Succeeded and
// Healthy while the old image still runs, and an operation's state is merged over that of the one before.
package health

import (
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluicehq/sluice/internal/promotion"
)

// Objects are an Application and what was found of its workloads.
type Objects struct {
	Application *unstructured.Unstructured
	Workloads   []*unstructured.Unstructured // Deployments, StatefulSets and DaemonSets that it lists as its resources
	Pods        []*unstructured.Unstructured // of these workloads
	Jobs        []*unstructured.Unstructured // that it lists as its resources, or has run as hooks
	Near        Near
	Logs        map[Crash]Log // of those crashes that were asked about
}

// Near is what lies in the namespaces that an Application deploys to, its own or not.
type Near struct {
	Read       map[string]bool // the kinds besides Pod that could be read: of others nothing is known
	Pods       []*unstructured.Unstructured
	Services   []*unstructured.Unstructured
	Ingresses  []*unstructured.Unstructured
	ConfigMaps []*unstructured.Unstructured // what they hold is not asked for, only the names of keys
	Secrets    []*unstructured.Unstructured // likewise
}

// Conclude says what is to be made of the objects. Key, Simulated and ObservedAt are the caller's to fill in.
func Conclude(o Objects) promotion.Observation {
	app := newApplication(o.Application.Object)
	operation, revision := app.operation()
	out := promotion.Observation{
		RepositoryURL:  text(app.source, "repoURL"),
		Path:           app.path(),
		TargetRevision: text(app.source, "targetRevision"),
		AutomatedSync:  app.automated(),
		Sync:           app.sync(),
		Health:         app.health(),
		Revision:       app.deployedRevision(),
		Operation:      operation,
		OperationRev:   revision,
		Images:         templateImages(o.Workloads),
		RunningImages:  runningImages(o.Pods, o.Logs),
	}
	if out.Sync == promotion.Synced {
		out.ComparedRevision = app.comparedRevision()
	}
	workloads := conclude(o.Workloads, o.Pods)
	out.Rollout = workloads.rollout
	out.Health = workloads.correct(out.Health)
	out.Message = diagnosis{app: app, objects: o, workloads: workloads, observed: out}.sentence()
	return out
}

// commitForm: a revision may also be a branch's name, as long as nothing was compared.
var commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func commit(revision string) string {
	if commitForm.MatchString(revision) {
		return revision
	}
	return ""
}

func text(m map[string]any, path ...string) string {
	s, _, _ := unstructured.NestedString(m, path...)
	return s
}

// list gives the maps of a list.
func list(m map[string]any, path ...string) []map[string]any {
	all, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	items, _ := all.([]any)
	maps := make([]map[string]any, 0, len(items))
	for _, i := range items {
		if item, ok := i.(map[string]any); ok {
			maps = append(maps, item)
		}
	}
	return maps
}

func number(m map[string]any, path ...string) int {
	v, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	switch n := v.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}
