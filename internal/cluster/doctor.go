package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// Doctor finds out what Sluice may do in a cluster. It stores nothing there.
type Doctor struct {
	Inspector
	Discovery discovery.DiscoveryInterface
}

// Report is what was found in a cluster.
type Report struct {
	Cluster string
	Problem string // why nothing else is known; empty when the cluster answered
	Server  string // its version
	Account string // whom Sluice is to the cluster; empty: the cluster does not say
	Engines []Engine
	Rights  []Right
	DryRun  Ability // of all that is deployed
	Guarded Ability // that what the account may write is limited to dry runs
}

// Healthy tells whether Sluice may do all that it does, and writes nothing that it should not.
func (r Report) Healthy() bool {
	if r.Problem != "" || r.Guarded.State != Yes && r.Guarded.State != Unused {
		return false
	}
	return !slices.ContainsFunc(r.Rights, func(w Right) bool { return w.State != Yes && (w.Needed || w.For != dryRuns && w.For != readsLogs) })
}

// Engine is something that deploys, and the versions of its API that the cluster serves; none when it is not installed.
type Engine struct {
	Name, Group string
	Versions    []string
}

// Right is something that Sluice does in the cluster, and whether it may.
type Right struct {
	Verb, Group, Resource string
	For                   string // what Sluice does with it
	Needed                bool   // Sluice is of no use without it
	Ability
}

// Answer is what is known of something that Sluice would do.
type Answer string

// The answers. Unknown: it could not be asked. Unused: it does not matter, as nothing needs it.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
	Unused  Answer = "unused"
)

// Ability is an answer with what to do when it is not yes.
type Ability struct {
	State Answer
	Why   string
	Next  string
}

// engines are looked for by the groups of their APIs.
var engines = []Engine{{Name: "Argo CD", Group: "argoproj.io"}, {Name: "Argo Rollouts", Group: "argoproj.io"},
	{Name: "Flux", Group: "kustomize.toolkit.fluxcd.io"}, {Name: "Flux Helm", Group: "helm.toolkit.fluxcd.io"}}

// kindOf tells Argo CD and Argo Rollouts apart, whose kinds share a group.
var kindOf = map[string]string{"Argo CD": "applications", "Argo Rollouts": "rollouts", "Flux": "kustomizations", "Flux Helm": "helmreleases"}

// Look asks the cluster.
func (d Doctor) Look(ctx context.Context) Report {
	r := Report{Cluster: d.Name, DryRun: Ability{State: Unknown}, Guarded: Ability{State: Unknown}}
	version, err := d.Discovery.ServerVersion()
	if err != nil {
		r.Problem = reasonOf(err)
		return r
	}
	r.Server = version.GitVersion
	groups, err := d.Discovery.ServerGroups()
	if err != nil {
		r.Problem = reasonOf(err)
		return r
	}
	served := map[string][]string{}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			served[g.Name] = append(served[g.Name], v.Version)
		}
	}
	r.Engines = d.engines(served)
	r.Account = d.account(ctx)
	deployed, namespaces := d.deployed(ctx)
	for _, w := range wants(served, deployed, namespaces) {
		r.Rights = append(r.Rights, d.right(ctx, w))
	}
	r.DryRun = dryRunOf(r.Rights)
	r.Guarded = d.guarded(ctx, r.Account, r.DryRun)
	return r
}

// engines finds the versions in which what deploys is served.
func (d Doctor) engines(served map[string][]string) []Engine {
	found := slices.Clone(engines)
	for i, e := range found {
		for _, version := range served[e.Group] {
			list, err := d.Discovery.ServerResourcesForGroupVersion(e.Group + "/" + version)
			if err == nil && slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool { return a.Name == kindOf[e.Name] }) {
				found[i].Versions = append(found[i].Versions, version)
			}
		}
	}
	return found
}

// account asks the cluster who is asking; an old one cannot say.
func (d Doctor) account(ctx context.Context) string {
	at := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	answer, err := d.Client.Resource(at).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	name, _, _ := unstructured.NestedString(answer.Object, "status", "userInfo", "username")
	return name
}

// deployed lists what the cluster's Applications deploy, each kind with the namespaces in which it is, and the namespaces of the
// Applications themselves. Nothing when Sluice may not list Applications.
func (d Doctor) deployed(ctx context.Context) (kinds map[schema.GroupResource][]string, applications []string) {
	kinds = map[schema.GroupResource][]string{}
	list, err := d.Client.Resource(Applications).List(ctx, metav1.ListOptions{})
	if err != nil {
		return kinds, nil
	}
	for i := range list.Items {
		applications = append(applications, list.Items[i].GetNamespace())
		for _, r := range resourcesOf(&list.Items[i]) {
			mapping, err := d.mapping(schema.GroupVersionKind{Group: r.group, Version: r.version, Kind: r.kind})
			if err != nil {
				continue // nobody can read what is not served
			}
			kind := mapping.Resource.GroupResource()
			kinds[kind] = append(kinds[kind], r.namespace)
		}
	}
	for kind, in := range kinds {
		slices.Sort(in)
		kinds[kind] = slices.Compact(in)
	}
	slices.Sort(applications)
	return kinds, slices.Compact(applications)
}

// right asks whether Sluice has one: everywhere, or else in each namespace where it is needed.
func (d Doctor) right(ctx context.Context, w want) Right {
	r := Right{Verb: w.verb, Group: w.group, Resource: w.resource, For: w.purpose, Needed: w.needed}
	may, err := mayWe(ctx, d.Client, w.access)
	var lacking []string
	for _, namespace := range w.in {
		if may || err != nil || namespace == "" {
			break
		}
		there := w.access
		there.namespace = namespace
		var allowed bool
		if allowed, err = mayWe(ctx, d.Client, there); !allowed {
			lacking = append(lacking, namespace)
		}
	}
	switch everywhere := len(w.in) == 0 || slices.Contains(w.in, ""); {
	case err != nil:
		r.State, r.Why, r.Next = Unknown, firstLine(err), "Let Sluice's account create selfsubjectaccessreviews, as system:basic-user does."
	case may || !everywhere && len(lacking) == 0:
		r.State = Yes
	default:
		r.State, r.Next = No, w.next
		if len(lacking) > 0 {
			r.Why = "not in " + strings.Join(lacking, ", ")
		}
	}
	return r
}

// dryRunOf is yes when every right that dry runs need is there.
func dryRunOf(rights []Right) Ability {
	var lacking []string
	for _, r := range rights {
		if r.For != dryRuns {
			continue
		}
		if r.State == Unknown {
			return Ability{Unknown, r.Why, r.Next}
		}
		if r.State == No && r.Group != accountReviews.Group {
			lacking = append(lacking, fmt.Sprintf("%s %s", r.Verb, r.Resource))
		}
	}
	if len(lacking) > 0 {
		return Ability{No, "Sluice may not " + strings.Join(lacking, ", "), "Apply deploy/kubernetes/dry-run.yaml, or leave it: server-dry-run then says that it is unchecked."}
	}
	return Ability{State: Yes}
}
